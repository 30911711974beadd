"""Tables judged as sentences: a model that reads text is given "caption. header: cell; header: cell"."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from thresher.protocols import Scorer, about
from thresher.text.tables import grid_of
from thresher.text.terms import term_set
from thresher.types import Document, Hit, Query, Scale, Scores

ROWS = 3
"""Rows of a piece of a table that are judged, together, those that share most words with the question. On 25 questions
to 6 office files the logit of three is above that of the best one for 21, and above that of the bare table for 24."""


@dataclass(frozen=True, slots=True)
class TableScorer:
    """Another scorer, which reads of a piece of a table its best rows in words."""

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
        """One score per hit."""
        tables = sorted({hit.chunk.document_id for hit in hits if hit.chunk.kind == "table"})
        documents = self.documents(tables) if tables else {}
        return self.scorer(query, [_in_words(hit, documents.get(hit.chunk.document_id), query) for hit in hits])


def _in_words(hit: Hit, document: Document | None, query: Query) -> Hit:
    """The hit with rows in words for its text; as it is where it is no table that can be read."""
    chunk = hit.chunk
    if document is None or chunk.kind != "table":
        return hit
    for table in document.tables:
        if table.start < chunk.end and chunk.start < table.end and (grid := grid_of(document, table)) is not None:
            within = [grid.row_form(at) for at, row in enumerate(grid.rows) if chunk.start <= row[0].start < chunk.end]
            asked = term_set(query.question)
            best = sorted(within, key=lambda form: -len(asked & term_set(form)))[:ROWS]
            text = " ".join([*map(_stopped, (cell.text for cell in grid.around)), *map(_stopped, best)])
            # The vector of the bare table says nothing of this text: it has to be encoded.
            return replace(hit, chunk=replace(chunk, text=text), scores={}) if best else hit
    return hit


def _stopped(text: str) -> str:
    return text if text.endswith((".", ":", "!", "?")) else f"{text}."
