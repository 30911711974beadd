"""Sentences of the evidence, and how well each one supports an answer to the question."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import log

from thresher.protocols import Encoder
from thresher.text.sentences import line_spans, sentence_spans
from thresher.text.terms import term_set
from thresher.types import Evidence, Scale, Score

SUPPORT = Scale("support", 0.0, 1.0)

SENTENCE_CHARACTERS = (20, 600)
"""Shorter pieces are headings and table cells, longer ones run-on tables: neither answers a question when quoted."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence of a piece of evidence; `start` and `end` are offsets in the document."""

    evidence: Evidence
    start: int
    end: int
    text: str
    support: Score

    @classmethod
    def whole(cls, piece: Evidence, score: Score) -> Sentence:
        """All of a piece."""
        return cls(piece, piece.start, piece.end, piece.text, score)


@dataclass(frozen=True, slots=True)
class SupportJudge:
    """Support of a sentence = cosine_weight * cosine + (1 - cosine_weight) * weighted share of the question's terms.

    The weights are those of ECRAG's confidence (0.7 and 0.3, docs/methods.md, X8); the lexical part is the share of the
    question's terms, weighted by their rarity, that the sentence or the title above it holds.
    """

    encoder: Encoder
    rarity: Callable[[str], Mapping[str, float]]
    """Weight of each term of a question; see `rarity_from`."""
    cosine_weight: float = 0.7

    def __call__(self, question: str, evidence: Sequence[Evidence]) -> list[Sentence]:
        """All sentences of the evidence, best supported first; ties keep the order of the evidence."""
        places = [place for piece in evidence for place in self._sentences(piece)]
        if not places:
            return []
        wanted = self.encoder.encode_query(question)
        vectors = self.encoder.encode([text for _, _, _, text in places])
        weights = self.rarity(question)
        sentences = []
        for (piece, start, end, text), vector in zip(places, vectors, strict=True):
            cosine = max(0.0, float(vector @ wanted))
            shared = self._shared(weights, f"{piece.hit.chunk.title} {text}")
            value = min(1.0, self.cosine_weight * cosine + (1 - self.cosine_weight) * shared)
            sentences.append(Sentence(piece, start, end, text, Score(value, SUPPORT)))
        return sorted(sentences, key=lambda sentence: -sentence.support.value)

    def _sentences(self, piece: Evidence) -> list[tuple[Evidence, int, int, str]]:
        """A table is quoted by its rows, running text by its sentences."""
        spans = _quotable(piece)
        low, high = SENTENCE_CHARACTERS
        fitting = [(start, end) for start, end in spans if low <= end - start <= high]
        if not fitting and len(piece.text) <= high:
            fitting = [(0, len(piece.text))]
        return [(piece, piece.start + start, piece.start + end, piece.text[start:end]) for start, end in fitting]

    def _shared(self, weights: Mapping[str, float], text: str) -> float:
        present = term_set(text)
        total = sum(weights.values())
        return sum(weight for term, weight in weights.items() if term in present) / total if total else 0.0


def _quotable(piece: Evidence) -> list[tuple[int, int]]:
    """The rows of a table, the sentences of text."""
    return line_spans(piece.text) if piece.hit.chunk.kind == "table" else sentence_spans(piece.text)


def sentence_around(piece: Evidence, start: int, end: int, score: Score) -> Sentence:
    """The sentences, or rows of a table, that a place of a piece lies in; the whole piece where it lies in none.

    `start` and `end` are offsets in the piece; an empty place lies in the sentence it stands at.
    """
    last = max(end, start + 1)
    touched = [span for span in _quotable(piece) if span[0] < last and span[1] > start]
    if not touched:
        return Sentence.whole(piece, score)
    first, behind = touched[0][0], touched[-1][1]
    return Sentence(piece, piece.start + first, piece.start + behind, piece.text[first:behind], score)


def rarity_from(frequencies: Mapping[str, int], documents: int) -> dict[str, float]:
    """BM25's idf of each term, ln(1 + (N - n + .5) / (n + .5)) (Robertson and Zaragoza 2009)."""
    return {term: log(1 + (documents - n + 0.5) / (n + 0.5)) for term, n in frequencies.items()}
