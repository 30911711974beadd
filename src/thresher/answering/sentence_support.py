"""Sentences of the evidence, and how well each one supports an answer to the question."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import log

from thresher.text.sentences import line_spans, sentence_spans
from thresher.types import Evidence, Scale, Score

SUPPORT = Scale("support", 0.0, 1.0)


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


def sentence_around(piece: Evidence, start: int, end: int, score: Score) -> Sentence:
    """The sentences, or rows of a table, that overlap a place of a piece, in its offsets; the whole piece for none.

    An empty place lies in the sentence it stands at.
    """
    last = max(end, start + 1)
    spans = line_spans(piece.text) if piece.hit.chunk.kind == "table" else sentence_spans(piece.text)
    touched = [span for span in spans if span[0] < last and span[1] > start]
    if not touched:
        return Sentence.whole(piece, score)
    first, behind = touched[0][0], touched[-1][1]
    return Sentence(piece, piece.start + first, piece.start + behind, piece.text[first:behind], score)


def rarity_from(frequencies: Mapping[str, int], documents: int) -> dict[str, float]:
    """BM25's idf of each term, ln(1 + (N - n + .5) / (n + .5)) (Robertson and Zaragoza 2009)."""
    return {term: log(1 + (documents - n + 0.5) / (n + 0.5)) for term, n in frequencies.items()}
