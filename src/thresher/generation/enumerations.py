"""Questions that an enumeration within a line answers: who was present, what a kit holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from thresher.generation.citations import cite, in_turn
from thresher.generation.lists import RIGHT
from thresher.generation.sentence_support import Sentence
from thresher.protocols import Generator, about
from thresher.text.enumerations import enumerated
from thresher.text.injection import is_command
from thresher.types import Evidence, Generation, Notes, Query

MOST_DOCUMENTS = 4
"""That are told one below the other, each behind its title; of more none is told, as of tables."""


@dataclass(frozen=True, slots=True)
class EnumerationReader:
    """Answers with the items of an enumeration that a question asks for; hands on otherwise."""

    otherwise: Generator

    @property
    def about(self) -> str:
        """For people, in a few words."""
        return f"enumerations, {about(self.otherwise)}"

    def __call__(self, query: Query, evidence: Sequence[Evidence]) -> Generation:
        """The items as they stand, with a citation of their line; of each document the first that fits."""
        found: dict[str, tuple[str, Generation]] = {}
        for piece in evidence:
            chunk = piece.hit.chunk
            for one in enumerated(piece.text, query.question, chunk.title):
                line = piece.text[one.start : one.end]
                if chunk.document_id in found or is_command(line):
                    continue
                sentence = Sentence(piece, piece.start + one.start, piece.start + one.end, line, piece.hit.score)
                items = " ".join(piece.text[one.low : one.high].split())
                notes = Notes(facts={"reader": "enumeration"})
                told = Generation(f"{items} [1]", (cite(1, sentence),), certainty=RIGHT, notes=notes, exact=True)
                found[chunk.document_id] = (f"{chunk.title or chunk.source}:", told)
        if not 1 <= len(found) <= MOST_DOCUMENTS:
            return self.otherwise(query, evidence)
        told_of = list(found.values())
        return told_of[0][1] if len(told_of) == 1 else in_turn(told_of)
