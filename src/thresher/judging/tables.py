"""Tables judged as sentences: a model that reads text is given "caption. header: cell; header: cell".

Where a rule finds the row or fields asked for, the judge reads them in words as another window of the chunk; a chunk
has the score of its best window.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import TypeVar

from thresher.judging.scorers import WrappedScorer
from thresher.judging.thresholds import value_of
from thresher.structure.answers import answered, form_near, grids_near
from thresher.structure.forms import Form, to_pay_in_words
from thresher.structure.grid import Cell, Grid
from thresher.structure.lookup import look
from thresher.text.terms import term_set
from thresher.types import Document, Hit, Query, Scores

Part = TypeVar("Part", bound=Grid | Form)

ROWS = 3
"""Rows of a piece of a table that are judged, together, those that share most words with the question. On 25 questions
to 6 office files the logit of three is above that of the best one for 21, and above that of the bare table for 24."""


@dataclass(frozen=True, slots=True)
class TableScorer(WrappedScorer):
    """Another scorer, which reads the rows of a table in words, and cells that fit the question in further windows."""

    documents: Callable[[Sequence[str]], Mapping[str, Document]]
    """Header and caption may stand in another chunk."""

    def __call__(self, query: Query, hits: Sequence[Hit]) -> Scores:
        """One score per hit, that of its best window."""
        documents = self.documents(sorted({hit.chunk.document_id for hit in hits}))
        tables: dict[str, list[Grid]] = {}
        parts: dict[str, list[Grid | Form]] = {}
        for id_, document in documents.items():
            own = [hit.chunk for hit in hits if hit.chunk.document_id == document.id]
            start, end = min(chunk.start for chunk in own), max(chunk.end for chunk in own)
            tables[id_], form = list(grids_near(document, start, end)), form_near(document, start, end)
            parts[id_] = [*tables[id_], *([] if form is None else [form])]
        windows = [_in_words(hit, _touched(tables, hit), query.question) for hit in hits]
        of_hit = list(range(len(hits)))
        for at, hit in enumerate(hits):
            found = (text for part in _touched(parts, hit) for text in _found_in_words(part, query.question))
            for text in dict.fromkeys(found):
                windows.append(_worded(hit, text))
                of_hit.append(at)
        return _best_of_each(self.scorer(query, windows), of_hit, len(hits))


def _best_of_each(scored: Scores, of_hit: Sequence[int], count: int) -> Scores:
    """The score of each hit's best window, with its parts."""
    windows: list[list[int]] = [[] for _ in range(count)]
    for window, at in enumerate(of_hit):
        windows[at].append(window)
    best = [max(own, key=lambda window: value_of(scored.scores[window])) for own in windows]
    return replace(
        scored,
        scores=tuple(scored.scores[window] for window in best),
        others=tuple(scored.others[window] for window in best) if scored.others else (),
        failed=scored.failed and tuple(at for at, window in enumerate(best) if window in scored.failed),
    )


def _touched(tables: Mapping[str, Sequence[Part]], hit: Hit) -> list[Part]:
    """The tables and forms, given by document, that reach into a hit."""
    start, end = hit.chunk.start, hit.chunk.end
    return [grid for grid in tables.get(hit.chunk.document_id, ()) if grid.start < end and start < grid.end]


def _in_words(hit: Hit, grids: Sequence[Grid], question: str) -> Hit:
    """The hit with the text around its table, and the rows that share most words with the question."""
    if hit.chunk.kind != "table" or not grids:
        return hit
    grid, start, end = grids[0], hit.chunk.start, hit.chunk.end
    rows = [grid.row_form(at) for at, row in enumerate(grid.rows) if start <= row[0].start < end]
    if not rows:
        return hit
    asked = term_set(question)
    best = sorted(rows, key=lambda form: -len(asked & term_set(form)))[:ROWS]
    return _worded(hit, " ".join(map(_stopped, (*(cell.text for cell in grid.around), *best))))


def _worded(hit: Hit, text: str) -> Hit:
    """The hit with other text; the scores of the old text, that of its vector above all, do not hold for it."""
    return replace(hit, chunk=replace(hit.chunk, text=text), scores={})


def _found_in_words(part: Grid | Form, question: str) -> Iterator[str]:
    """The cells of a table or form that a question asks for, with the names of their rows and columns."""
    found = answered(part, question)
    if found is None:
        return
    asked = set(map(_place, found.cells))
    if isinstance(part, Form):
        fields = [f"{label.text}: {value.text}" for label, value in part.fields if _place(value) in asked]
        whole = _stopped("; ".join([*fields, *(row for grid in part.items for row in _rows(grid, asked))]))
        yield whole
        if owed := to_pay_in_words(part, found.cells):
            yield f"{whole} {owed}"
        return
    naming = look(part, question).named
    answering = [row for row in part.rows if not asked.isdisjoint(map(_place, row))]
    asked |= {_place(row[match.column]) for row in answering for match in naming}
    around = [cell.text for cell in part.around]
    rows = "; ".join(_rows(part, asked))
    yield " ".join(map(_stopped, (*around, rows)))
    # As one sentence too: an encoder is given one at a time.
    yield _stopped("; ".join([*(cell.rstrip(".:") for cell in around[-1:]), rows]))
    if len(answering) == 1:
        (row,) = answering
        at = part.rows.index(row)
        columns = [column for column, cell in enumerate(row) if column and _place(cell) in asked]
        yield " ".join(part.cell_sentence(at, column) for column in columns)


def _place(cell: Cell) -> tuple[int, int]:
    return cell.start, cell.end


def _rows(grid: Grid, asked: Set[tuple[int, int]]) -> Iterator[str]:
    """The name and the cells asked for of each row that has some."""
    for row in grid.rows:
        if not asked.isdisjoint(map(_place, row)):
            pairs = [(head, cell) for at, (head, cell) in enumerate(zip(grid.header, row, strict=True))
                     if at == 0 or _place(cell) in asked]  # fmt: skip
            yield ", ".join(f"{head.text}: {cell.text}" if head.text else cell.text for head, cell in pairs)


def _stopped(text: str) -> str:
    return text if text.endswith((".", ":", "!", "?")) else f"{text}."
