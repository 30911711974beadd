"""An enumeration within a line: who was present, what a kit holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from thresher.generation.candidates import Candidate
from thresher.generation.citations import cite, in_turn
from thresher.generation.material import Material
from thresher.generation.sentence_support import Sentence
from thresher.structure.enumerations import enumerated
from thresher.text.injection import is_command
from thresher.types import Generation, Query

MOST_DOCUMENTS = 4
"""That are told one below the other, each behind its title; of more none is told, as of tables."""


@dataclass(frozen=True, slots=True)
class EnumerationAnswerer:
    """Proposes the items of an enumeration that a question asks for; of each document the first that fits."""

    name: ClassVar[str] = "enumerations"

    def __call__(self, query: Query, material: Material) -> Sequence[Candidate]:
        """The items as they stand, with a citation of their line."""
        found: dict[str, tuple[str, Generation]] = {}
        for piece in material.text:
            chunk = piece.hit.chunk
            for one in enumerated(piece.text, query.question, chunk.title):
                line = piece.text[one.start : one.end]
                if chunk.document_id in found or is_command(line):
                    continue
                sentence = Sentence(piece, piece.start + one.start, piece.start + one.end, line, piece.hit.score)
                items = " ".join(piece.text[one.low : one.high].split())
                answer = Generation(f"{items} [1]", (cite(1, sentence),), exact=True)
                found[chunk.document_id] = (f"{chunk.title or chunk.source}:", answer)
        if query.intent.choice is not None or not 1 <= len(found) <= MOST_DOCUMENTS:
            return ()
        answers = list(found.values())
        return [Candidate(answers[0][1] if len(answers) == 1 else in_turn(answers), self.name)]
