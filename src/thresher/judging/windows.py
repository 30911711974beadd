"""What a judge reads of a chunk: the entry that is asked for, rows of a table and fields of a form in words.

Where a question names an identifier, a hit is judged by the entry that stands under it, and by no other entry. A model
that reads text is given a table as "caption. header: cell; header: cell". Where a rule finds the row or fields asked
for, the judge reads them in words as another window of the chunk; a chunk has the score of its best window.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace

from thresher.judging.judge import parts_of, value_of
from thresher.judging.scorers import WrappedScorer
from thresher.structure.answers import answered, form_near, grids_near
from thresher.structure.entries import Named, as_written, entry_probability, named_in
from thresher.structure.forms import Form, to_pay_in_words
from thresher.structure.grid import Cell, Grid
from thresher.structure.lookup import look
from thresher.text.entities import heads_in
from thresher.text.sentences import Span, joined
from thresher.text.terms import term_set
from thresher.types import NO_NOTES, UNIT, Document, Hit, Query, Score, Scores

Known = tuple[Score | None, Mapping[str, Score]]
"""A score and its parts."""

BETWEEN = 10_000
"""Characters between two hits of a document of which the tables are read too."""

ROWS = 3
"""Rows of a piece of a table that are judged, together, those that share most words with the question. On 25 questions
to 6 office files the logit of three is above that of the best one for 21, and above that of the bare table for 24."""


@dataclass(frozen=True, slots=True)
class EntryScorer(WrappedScorer):
    """Another scorer, 0 to 1, which reads the entry that is asked for; a hit under other identifiers alone scores 0."""

    documents: Callable[[Sequence[str]], Mapping[str, Document]]

    def __call__(self, query: Query, hits: Sequence[Hit]) -> Scores:
        """One score per hit; a hit that reaches into entries asked for has the score of the best of them."""
        if not any(heads_in(query.question)):
            return self.scorer(query, hits)
        documents = self.documents(sorted({hit.chunk.document_id for hit in hits}))
        named = {id_: named_in(document, query.question, _spans(id_, hits)) for id_, document in documents.items()}
        entries = {hit.chunk.id: _entries(hit, documents, named) for hit in hits}
        distinct = {(one.chunk.document_id, one.chunk.start): one for each in entries.values() for one in each}
        rest = [hit for hit in hits if not entries[hit.chunk.id] and not _is_other(hit, named)]
        question = query.question
        for id_, known in named.items():
            for entry in known.exact:
                question = as_written(question, documents[id_], entry)
        plain, found = self.scorer(query, rest), self.scorer(replace(query, question=question), [*distinct.values()])
        scored = dict(zip(distinct, _known(query, found, lifted=True), strict=True))
        unnamed = dict(zip((hit.chunk.id for hit in rest), _known(query, plain), strict=True))

        def of(hit: Hit) -> Known:
            own = [scored[one.chunk.document_id, one.chunk.start] for one in entries[hit.chunk.id]]
            if not own:
                return unnamed.get(hit.chunk.id, (Score(0.0, UNIT), {}))
            return max(own, key=lambda known: value_of(known[0]))

        each = [of(hit) for hit in hits]
        notes = (plain if rest else found).notes if hits else NO_NOTES
        return Scores(tuple(score for score, _ in each), notes, tuple(others for _, others in each))


def _entries(hit: Hit, documents: Mapping[str, Document], named: Mapping[str, Named]) -> list[Hit]:
    """The entries asked for that a hit reaches into, each as a hit without scores."""
    chunk = hit.chunk
    if chunk.document_id not in documents:
        return []
    text = documents[chunk.document_id].text
    return [
        replace(hit, chunk=replace(chunk, start=one.start, end=one.end, text=text[one.start : one.end]), scores={})
        for one in named[chunk.document_id].of(chunk.start, chunk.end)
    ]


def _is_other(hit: Hit, named: Mapping[str, Named]) -> bool:
    known = named.get(hit.chunk.document_id)
    return known is not None and known.is_other(hit.chunk.start, hit.chunk.end)


def _known(query: Query, scores: Scores, *, lifted: bool = False) -> list[Known]:
    """Each score with its parts; `lifted`, an entry scores at least what the trained judge's `answers` is worth."""
    return [
        (Score(max(score.value, entry_probability(query.question, made["answers"].value)), UNIT), made)
        if lifted and score is not None and "answers" in made
        else (score, made)
        for score, made in zip(scores.scores, parts_of(scores), strict=True)
    ]


# --- tables and forms -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class TableScorer(WrappedScorer):
    """Another scorer, which reads the rows of a table in words, and cells that fit the question in further windows."""

    documents: Callable[[Sequence[str]], Mapping[str, Document]]
    """Header and caption may stand in another chunk."""

    def __call__(self, query: Query, hits: Sequence[Hit]) -> Scores:
        """One score per hit, that of its best window."""
        documents = self.documents(sorted({hit.chunk.document_id for hit in hits}))
        parts = {id_: _parts_near(document, hits) for id_, document in documents.items()}
        touched = [
            [part for part in parts.get(chunk.document_id, ()) if part.start < chunk.end and chunk.start < part.end]
            for chunk in (hit.chunk for hit in hits)
        ]
        windows = [_in_words(hit, near, query.question) for hit, near in zip(hits, touched, strict=True)]
        of_hit = list(range(len(hits)))
        for at, hit in enumerate(hits):
            found = (text for part in touched[at] for text in _found_in_words(part, query.question))
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


def _parts_near(document: Document, hits: Sequence[Hit]) -> list[Grid | Form]:
    """The tables at the hits of a document and between those that are near each other, and the form that it is."""
    spans = joined(_spans(document.id, hits), BETWEEN)
    grids = (grid for span in spans for grid in grids_near(document, *span))
    form = form_near(document, spans[0][0], spans[-1][1])
    return [*{(grid.start, grid.end): grid for grid in grids}.values(), *([] if form is None else [form])]


def _spans(document_id: str, hits: Sequence[Hit]) -> list[Span]:
    """Where the hits of a document stand."""
    return [(hit.chunk.start, hit.chunk.end) for hit in hits if hit.chunk.document_id == document_id]


def _in_words(hit: Hit, parts: Sequence[Grid | Form], question: str) -> Hit:
    """The hit with the text around its table, and the rows that share most words with the question."""
    grid = next((part for part in parts if isinstance(part, Grid)), None)
    if hit.chunk.kind != "table" or grid is None:
        return hit
    start, end = hit.chunk.start, hit.chunk.end
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
