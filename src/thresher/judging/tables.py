"""Tables judged as sentences: a model that reads text is given "caption. header: cell; header: cell"."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from thresher.protocols import Scorer, about
from thresher.text.forms import Form
from thresher.text.lists import asks_for_list, fits, lists_of
from thresher.text.table_answers import RIGHT, answered, form_near, grids_near
from thresher.text.tables import Grid
from thresher.text.terms import term_set
from thresher.types import Document, Hit, Query, Scale, Score, Scores

Part = TypeVar("Part", Grid, Grid | Form)

ROWS = 3
"""Rows of a piece of a table that are judged, together, those that share most words with the question. On 25 questions
to 6 office files the logit of three is above that of the best one for 21, and above that of the bare table for 24."""


@dataclass(frozen=True, slots=True)
class TableScorer:
    """Another scorer, from 0 to 1, which reads the rows of a table in words; a table or list that fits counts more."""

    scorer: Scorer
    documents: Callable[[Sequence[str]], Mapping[str, Document]]
    """Header and caption may stand in another chunk."""

    @property
    def name(self) -> str:
        """The other scorer's: calibrations go by it."""
        return self.scorer.name

    @property
    def scale(self) -> Scale:
        """The other scorer's."""
        return self.scorer.scale

    @property
    def about(self) -> str:
        """For people, in a few words."""
        return about(self.scorer)

    def __call__(self, query: Query, hits: Sequence[Hit]) -> Scores:
        """One score per hit, not below `RIGHT` where a table or list says what is asked for."""
        documents = self.documents(sorted({hit.chunk.document_id for hit in hits}))
        tables = {id_: _near(document, hits) for id_, document in documents.items()}
        forms = {id_: [_form(document, hits)] for id_, document in documents.items()}
        answering = {
            id_: [one for one in (*tables[id_], *forms[id_]) if one is not None and answered(one, query.question)]
            for id_ in documents
        }
        scored = self.scorer(query, [_in_words(hit, _touched(tables, hit), query.question) for hit in hits])
        scores = []
        for hit, score in zip(hits, scored.scores, strict=True):
            listed = _listed(documents.get(hit.chunk.document_id), hit, query.question)
            low = (listed or _touched(answering, hit)) and (score is None or score.value < RIGHT)
            scores.append(Score(RIGHT, self.scale) if low else score)
        return replace(scored, scores=tuple(scores))


def _near(document: Document, hits: Sequence[Hit]) -> list[Grid]:
    """The tables of a document that may reach into one of the hits, each read once."""
    return list(grids_near(document, *_stretch(document, hits)))


def _form(document: Document, hits: Sequence[Hit]) -> Form | None:
    return form_near(document, *_stretch(document, hits))


def _stretch(document: Document, hits: Sequence[Hit]) -> tuple[int, int]:
    own = [hit.chunk for hit in hits if hit.chunk.document_id == document.id]
    return min(chunk.start for chunk in own), max(chunk.end for chunk in own)


def _touched(tables: Mapping[str, Sequence[Part]], hit: Hit) -> list[Part]:
    """Those of the tables, by document, that reach into a hit."""
    start, end = hit.chunk.start, hit.chunk.end
    return [grid for grid in tables.get(hit.chunk.document_id, ()) if grid.start < end and start < grid.end]


def _in_words(hit: Hit, grids: Sequence[Grid], question: str) -> Hit:
    """The hit with words for its text: what stands around the table, and the rows that share most with the question."""
    if hit.chunk.kind != "table" or not grids:
        return hit
    grid, start, end = grids[0], hit.chunk.start, hit.chunk.end
    rows = [grid.row_form(at) for at, row in enumerate(grid.rows) if start <= row[0].start < end]
    if not rows:
        return hit
    asked = term_set(question)
    best = sorted(rows, key=lambda form: -len(asked & term_set(form)))[:ROWS]
    text = " ".join([*map(_stopped, (cell.text for cell in grid.around)), *map(_stopped, best)])
    # What is known of the bare table, its vector above all, says nothing of this text.
    return replace(hit, chunk=replace(hit.chunk, text=text), scores={})


def _listed(document: Document | None, hit: Hit, question: str) -> bool:
    """Whether a hit holds a part of a list that is what the question asks for."""
    return (
        document is not None
        and asks_for_list(question)
        and any(
            listing.start < hit.chunk.end and hit.chunk.start < listing.end and fits(question, document, listing)
            for listing in lists_of(document)
        )
    )


def _stopped(text: str) -> str:
    return text if text.endswith((".", ":", "!", "?")) else f"{text}."
