"""The passage that the answer stands in, whole: a paragraph, an entry with its name, steps, code as it stands."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from thresher.generation.candidates import Candidate
from thresher.generation.material import Material
from thresher.generation.passage import Passage, passage_of
from thresher.generation.places import Place, share_of_terms
from thresher.protocols import PairReader
from thresher.text.boilerplate import asks_for_references
from thresher.text.document_names import is_asked_for
from thresher.text.entities import lacking
from thresher.text.sentences import sentence_spans
from thresher.types import Evidence, Generation, Query, Reading

MARKED_FROM = 0.35
"""Certainty of a place from which it is in bold: a wrong one misleads more than the passage helps. An answer is given
from as little on (`answer.withhold_below`)."""

MOST = 3
"""Passages that are proposed."""


@dataclass(frozen=True, slots=True)
class PassageAnswerer:
    """Proposes the passages around the places that answer most likely, each read once more as it would be shown."""

    reader: PairReader
    rarity: Callable[[str], Mapping[str, float]]
    """Weight of each term of a question."""
    name: ClassVar[str] = "passages"

    def __call__(self, query: Query, material: Material) -> Sequence[Candidate]:
        """The passages, each once, those of the most relevant windows."""
        found: dict[tuple[str, int], tuple[Place, Passage]] = {}
        places = () if query.intent.choice is not None else material.places.found
        for place in sorted(places, key=lambda place: -(place.signs.relevance or 0.0)):
            sure, asked = place.certainty >= MARKED_FROM, asks_for_references(query.question)
            for piece, start, end in self._anchors(query.question, place):
                passage = passage_of(piece, start, end, material, marked=sure, references=asked)
                if passage is not None:
                    found.setdefault((passage.citation.document_id, passage.citation.start), (place, passage))
            if len(found) >= MOST:
                break
        texts = [passage.citation.quote for _, passage in found.values()]
        readings = self.reader.read(query.question, texts, [passage.citation.title for _, passage in found.values()])
        return [
            self._candidate(query.question, place, passage, reading)
            for (place, passage), reading in zip(found.values(), readings, strict=True)
        ]

    def _anchors(self, question: str, place: Place) -> Iterator[tuple[Evidence, int, int]]:
        """The place, and the sentence of its window that has most of the question's terms."""
        yield place.piece, place.start, place.end
        window, rarity = place.window, self.rarity(question)
        spans = sentence_spans(window.text)
        if spans:
            start, end = max(spans, key=lambda span: share_of_terms(rarity, question, window.text[slice(*span)]))
            yield window.piece_at(start, end)

    def _candidate(self, question: str, place: Place, passage: Passage, reading: Reading) -> Candidate:
        signs = replace(
            place.signs,
            whole=reading.relevance,
            terms=share_of_terms(self.rarity(question), question, passage.known),
            uncovered=float(min(3, len(lacking(question, passage.known)))),
        )
        title = passage.citation.title
        of_document = f"{title}: " if is_asked_for(question, title) else ""
        answer = Generation(f"{of_document}{passage.shown} [1]", (passage.citation,), exact=True)
        objection = f"What is nearest to the question is {place.other}." if place.other else ""
        return Candidate(answer, self.name, signs, is_passage=True, objection=objection)
