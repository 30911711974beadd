"""Two things beside each other: the passage on both, or one for each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from thresher.generation.candidates import Candidate, Signs, quoting
from thresher.generation.citations import abstention, in_turn
from thresher.generation.material import Material, names, naming
from thresher.generation.passage import Passage, passage_of
from thresher.questions.kinds import Kind
from thresher.types import NO_NOTES, Generation, Query


@dataclass(frozen=True, slots=True)
class _Side:
    passage: Passage
    signs: Signs

    @property
    def quoted(self) -> Generation:
        return Generation(f"{self.passage.shown} [1]", (self.passage.citation,), exact=True)


@dataclass(frozen=True, slots=True)
class ComparisonAnswerer:
    """Proposes a line for each of two things that are compared."""

    name: ClassVar[str] = "comparison"

    def __call__(self, query: Query, material: Material) -> Sequence[Candidate]:
        """The passage that speaks of both, else one for each thing behind its name."""
        things = query.intent.things
        if query.intent.kind is not Kind.COMPARISON or len(things) != 2:
            return ()
        one, two = things
        if both := _best(query.question, material, lambda text: names(text, one) and names(text, two)):
            return [Candidate(both.quoted, self.name, both.signs, is_passage=True)]
        searches = query.intent.searches[1:]
        sides = [
            _best(search, material, partial(_is_of, thing=thing, other=other))
            for search, thing, other in zip(searches, things, (two, one), strict=True)
        ]
        found = [side for side in sides if side is not None]
        if not found:
            return ()
        answers = []
        for thing, side in zip(things, sides, strict=True):
            named = [] if side is not None else naming(thing, material.text)
            missing = quoting(named, NO_NOTES) if named else abstention("")
            answers.append((f"{thing}:", missing if side is None else side.quoted))
        # as certain as its weaker side that is there
        weaker = min(found, key=lambda side: side.signs.relevance or 0.0)
        return [Candidate(in_turn(answers), self.name, weaker.signs, is_passage=True)]


def _best(question: str, material: Material, fits: Callable[[str], bool]) -> _Side | None:
    """The most relevant passage that fits, title included."""
    pieces = [piece for piece in material.text if fits(f"{piece.hit.chunk.title} {piece.text}")]
    for place in sorted(material.find(question, pieces).found, key=lambda place: -(place.signs.relevance or 0.0)):
        passage = passage_of(place.piece, place.start, place.end, material)
        if passage is not None and fits(passage.known):
            return _Side(passage, place.signs)
    return None


def _is_of(text: str, thing: str, other: str) -> bool:
    """Whether a text is about a thing and not about the other."""
    return names(text, thing) and not names(text, other)
