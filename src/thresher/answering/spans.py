"""The spans of the kept text that may be the answer: the best one of each window, read by the trained model."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import log

from thresher.answering.confidence import Row, Signs
from thresher.answering.sentence_support import Sentence, sentence_around
from thresher.answering.windows import Window, windows_of
from thresher.protocols import PairReader
from thresher.text.entities import lacking
from thresher.text.sentences import sentence_spans
from thresher.text.terms import term_set
from thresher.types import PROBABILITY, Evidence, Reading, Score
from thresher.verification.rivals import AnswerInSentence

WORD = re.compile(r"\w+")

MAX_WINDOWS = 8
"""Windows of about 90 words that are read, best chunks first: what reading them takes grows with their number."""

LEAST = 1e-4
"""A probability below it is taken for it, so that its logarithm is bounded."""


@dataclass(frozen=True, slots=True)
class Place:
    """A span of the evidence with the window it was read in; offsets are in the document."""

    window: Window
    piece: Evidence
    start: int
    end: int
    signs: Signs
    certainty: float
    """Probability that the span is the answer."""

    @property
    def document_id(self) -> str:
        """Of its document."""
        return self.piece.hit.chunk.document_id

    @property
    def words(self) -> str:
        """The span on one line."""
        return " ".join(self.piece.text[self.start - self.piece.start : self.end - self.piece.start].split())

    @property
    def sentence(self) -> Sentence:
        """The sentence, or row of a table, that it stands in."""
        first, last = self.start - self.piece.start, self.end - self.piece.start
        return sentence_around(self.piece, first, last, Score(self.certainty, PROBABILITY))

    @property
    def in_sentence(self) -> AnswerInSentence:
        """The span in its sentence, for the comparison with another one."""
        sentence = self.sentence
        start = self.start - sentence.start
        known = f"{self.window.above}. {self.window.text}"
        return AnswerInSentence(sentence.text, start, start + self.end - self.start, self.piece.hit.chunk.title, known)


@dataclass(frozen=True, slots=True)
class SpanFinder:
    """Reads the evidence window by window together with the question, the best pieces first."""

    reader: PairReader
    rarity: Callable[[str], Mapping[str, float]]
    """Weight of each term of a question."""
    row: Row
    """How probable it is that a span is the answer."""

    def __call__(self, question: str, evidence: Sequence[Evidence]) -> list[Place]:
        """The best span of each window, that of the most relevant window first."""
        windows = windows_of(evidence)[:MAX_WINDOWS]
        readings = self.reader.read(question, [one.text for one in windows], [one.above for one in windows])
        rarity = self.rarity(question)
        places = [self._place(question, rarity, *each) for each in zip(windows, readings, strict=True)]
        return sorted(places, key=lambda place: -(place.signs.relevance or 0.0))

    def _place(self, question: str, rarity: Mapping[str, float], window: Window, reading: Reading) -> Place:
        start, end = window.answer(reading)
        touched = [span for span in sentence_spans(window.text) if span[0] < max(end, start + 1) and span[1] > start]
        sentence = window.text[touched[0][0] : touched[-1][1]] if touched else window.text
        signs = Signs(
            relevance=reading.relevance,
            place=log(max(reading.certainty, LEAST)),
            terms=share_of_terms(rarity, question, f"{window.above} {window.text}"),
            sentence=share_of_terms(rarity, question, f"{window.above} {sentence}"),
            uncovered=uncovered(question, f"{window.above}. {window.text}"),
        )
        piece, first, last = window.piece_at(start, end)
        return Place(window, piece, piece.start + first, piece.start + last, signs, self.row.probability(signs))


def share_of_terms(rarity: Mapping[str, float], question: str, text: str) -> float:
    """Of the question's terms those that the text has, also where it runs two of them together: BERTBASE."""
    present, total = term_set(text), sum(rarity.values())
    held = set(rarity) & present
    for one, other in pairwise(WORD.findall(question)):
        if not term_set(one + other).isdisjoint(present):
            held |= term_set(f"{one} {other}") & set(rarity)
    return sum(rarity[term] for term in held) / total if total else 0.0


def uncovered(question: str, text: str) -> float:
    """Names and numbers of the question that a text lacks, 3 at most."""
    return float(min(3, len(lacking(question, text))))
