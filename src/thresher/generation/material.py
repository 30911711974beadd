"""What the evidence of a question is made of: documents, tables, places. Each is made at its first use, for all."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from thresher.generation.places import PlaceFinder, Places
from thresher.generation.sentence_support import Sentence
from thresher.structure.answers import grids_near
from thresher.structure.grid import Grid
from thresher.structure.lookup import lacking
from thresher.text.injection import is_command
from thresher.text.sentences import sentence_spans
from thresher.text.terms import term_set
from thresher.types import Document, Evidence, Query

Documents = Callable[[Sequence[str]], Mapping[str, Document]]
"""The documents of some ids."""

NEAR = 400
"""Characters between a piece of evidence and a table that it leads to."""


@dataclass
class Material:
    """What all answerers read for one question."""

    query: Query
    evidence: Sequence[Evidence]
    """As it was handed over."""
    whole: Documents
    find: PlaceFinder

    @cached_property
    def documents(self) -> Mapping[str, Document]:
        """The documents of the evidence by id; a page of the web is none."""
        return self.whole(list(dict.fromkeys(piece.hit.chunk.document_id for piece in self.evidence)))

    def document(self, piece: Evidence) -> Document | None:
        """The document that a piece is from; None for a page of the web."""
        return self.documents.get(piece.hit.chunk.document_id)

    @cached_property
    def tables(self) -> Sequence[tuple[Evidence, Document, Grid]]:
        """Each table that evidence stands in or near, once, with the best piece of evidence for it."""
        found: dict[tuple[str, int], tuple[Evidence, Document, Grid]] = {}
        for piece in self.evidence:
            if (document := self.document(piece)) is not None:
                for grid in grids_near(document, piece.start - NEAR, piece.end + NEAR):
                    found.setdefault((document.id, grid.start), (piece, document, grid))
        return list(found.values())

    @cached_property
    def unfit(self) -> Sequence[tuple[Document, Grid, str]]:
        """Tables without the row or column that is asked for, each with the word that it lacks."""
        lacks = (
            (document, grid, lacking(grid, self.query.question, document.text)) for _, document, grid in self.tables
        )
        return [(document, grid, word) for document, grid, word in lacks if word]

    @cached_property
    def text(self) -> Sequence[Evidence]:
        """The evidence without what is a part of an unfit table and nothing else."""
        return [
            piece
            for piece in self.evidence
            if not any(_within(piece, document, grid) for document, grid, _ in self.unfit)
        ]

    @cached_property
    def places(self) -> Places:
        """Where an answer may stand in the text."""
        return self.find(self.query.question, self.text)

    @property
    def lacks(self) -> str:
        """Why there may be nothing that answers; empty where there is no evidence at all."""
        if self.unfit and not self.text:
            return f"The table that is nearest to the question has nothing on {self.unfit[0][2]}."
        return f"No document that was found names {self.places.unnamed}." if self.places.unnamed else ""


def _within(piece: Evidence, document: Document, grid: Grid) -> bool:
    """Whether a piece of evidence is a part of a table and nothing else."""
    same = piece.hit.chunk.document_id == document.id and piece.hit.chunk.kind == "table"
    return same and grid.start < piece.end and piece.start < grid.end


def naming(thing: str, evidence: Sequence[Evidence]) -> list[Sentence]:
    """The first sentence of the evidence that names a thing, if one does: such a thing is never "not stated"."""
    for piece in evidence:
        for start, end in sentence_spans(piece.text):
            text = piece.text[start:end]
            if thing and names(text, thing) and not is_command(text):
                return [Sentence(piece, piece.start + start, piece.start + end, text, piece.hit.score)]
    return []


def names(text: str, thing: str) -> bool:
    """Whether a text has the words of a thing, those with a digit as they are: R1-Zero is not R1."""
    variants = [r"[-\s]?".join(map(re.escape, word.split("-"))) for word in thing.split() if re.search(r"\d", word)]
    whole = all(re.search(rf"(?<![\w-]){variant}(?![\w-])", text, re.IGNORECASE) for variant in variants)
    return whole and term_set(thing) <= term_set(text)
