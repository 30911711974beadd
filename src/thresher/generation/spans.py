"""The reader that needs no chat model: it answers with the words that answer, and shows the sentence they stand in.

Every piece of evidence is read together with the question. Places that say the same in other pieces are counted
together (Karpukhin et al. 2020 take the best passage's best span alone; adding up what agrees was better on the
questions for choosing, benchmarks/reader.py).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import exp

from thresher.generation.commands import is_command
from thresher.generation.extractive import NO_EVIDENCE, abstention, cite
from thresher.generation.support import Spans, sentence_around
from thresher.protocols import Generator, PairReader
from thresher.types import PROBABILITY, Draft, Evidence, Query, Reading, Score

EDGES = " \t\n.,;:!?\"'“”‘’()[]"
"""Around an answer; inside one they belong to it."""

WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Place:
    """Where an answer stands in a piece of evidence; offsets are in the piece."""

    piece: Evidence
    start: int
    end: int
    relevance: float
    """Probability that the piece answers the question."""
    certainty: float
    """Of this place among all places of the piece."""

    @property
    def text(self) -> str:
        """The answer, on one line."""
        return " ".join(self.piece.text[self.start : self.end].split())

    @property
    def worth(self) -> float:
        """Both together."""
        return self.relevance * self.certainty


@dataclass(frozen=True, slots=True)
class SpanReader:
    """Answers with the best place of the evidence; abstains when nothing answers the question.

    Where the best place is uncertain, which is what questions look like whose answer is no name, number or phrase, the
    answer is what `quote` makes of the pieces that answer.
    """

    reader: PairReader
    spans: Spans
    min_relevance: float
    """Probability that the best piece must have."""
    min_certainty: float
    """Of the best place, below which sentences are quoted instead."""
    quote: Generator

    def __call__(self, query: Query, evidence: Sequence[Evidence]) -> Draft:
        """The answer with a citation of the sentence it stands in."""
        stating = [piece for piece in evidence if not is_command(piece.text)]
        if not stating:
            return abstention(NO_EVIDENCE, {"reader": "spans", "model": self.reader.name})
        places = self._places(query.question, stating)
        best = max(place.relevance for place in places)
        detail = {"reader": "spans", "model": self.reader.name, "relevance": best, "min_relevance": self.min_relevance}
        if best < self.min_relevance:
            return abstention(
                f"The best passage answers the question with a probability of {best:.2f}, "
                f"and {self.min_relevance:.2f} is asked for.",
                detail,
            )
        chosen = self._chosen(query.question, places)
        if chosen is None or chosen.certainty < self.min_certainty:
            answering = [place.piece for place in places if place.relevance >= self.min_relevance]
            quoted = self.quote(query, answering)
            return Draft(quoted.text, quoted.citations, quoted.abstained, quoted.reason, {**detail, **quoted.detail})
        score = Score(chosen.relevance, PROBABILITY)
        sentence = sentence_around(chosen.piece, chosen.start, chosen.end, self.spans, score)
        return Draft(f"{chosen.text} [1]", (cite(1, sentence),), detail={**detail, "certainty": chosen.certainty})

    def _places(self, question: str, evidence: Sequence[Evidence]) -> list[Place]:
        titles = [piece.hit.chunk.title for piece in evidence]
        readings = self.reader.read(question, [piece.text for piece in evidence], titles)
        return [_place(piece, reading) for piece, reading in zip(evidence, readings, strict=True)]

    def _chosen(self, question: str, places: Sequence[Place]) -> Place | None:
        """The best place of the answer that the pieces agree on most; None where nothing but the question is said."""
        asked = set(_words(question))
        sums: dict[str, float] = {}
        for place in places:
            if not asked.issuperset(_words(place.text)):
                key = " ".join(_words(place.text))
                sums[key] = sums.get(key, 0.0) + place.worth
        if not sums:
            return None
        answer = max(sums, key=lambda key: sums[key])
        return max((place for place in places if " ".join(_words(place.text)) == answer), key=lambda one: one.worth)


def _place(piece: Evidence, reading: Reading) -> Place:
    """The reading's place without what surrounds an answer and is not part of it."""
    text = piece.text[reading.start : reading.end]
    start = reading.start + len(text) - len(text.lstrip(EDGES))
    end = max(start, reading.end - (len(text) - len(text.rstrip(EDGES))))
    return Place(piece, start, end, 1 / (1 + exp(-reading.relevance)), reading.certainty)


def _words(text: str) -> list[str]:
    return WORD.findall(text.casefold())
