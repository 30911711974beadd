"""The texts that facts are checked against, and FActScore from how many facts they support.

FActScore (Min et al. 2023, section 4.1) retrieves five passages of the topic's own page with GTR; here BM25 does, which
needs no further model.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import cached_property

from thresher.judging.kdm import Statistics, bm25, retrieved_statistics
from thresher.text.sentences import sentence_spans
from thresher.text.terms import index_terms

PASSAGE_WORDS = 190
"""FActScore's passages have 256 tokens; four tokens are about three English words."""

SHOWN = 5
"""Passages shown for a fact; FActScore's k."""

GAMMA = 10  # facts below which an answer is short; the value of the published numbers (Min et al. 2023, released code)


class Knowledge:
    """The passages of some texts, in their order; a passage never crosses from one text to the next."""

    def __init__(self, texts: Sequence[str], *, words: int = PASSAGE_WORDS) -> None:
        self.passages = tuple(passage for text in texts for passage in packed(sentences(text), words))

    def nearest(self, query: str, *, limit: int = SHOWN) -> list[str]:
        """The passages with the highest BM25, best first; ties keep the order of the texts."""
        wanted, counted = index_terms(query), self._statistics
        scores = [
            bm25(
                wanted, terms,
                frequencies=counted.frequencies, total=counted.total, average_length=counted.average_length,
            )
            for terms in self._terms
        ]  # fmt: skip
        best = sorted(range(len(scores)), key=lambda at: -scores[at])[:limit]
        return [self.passages[at] for at in best]

    @cached_property
    def _terms(self) -> list[list[str]]:
        return [index_terms(passage) for passage in self.passages]

    @cached_property
    def _statistics(self) -> Statistics:
        return retrieved_statistics(self._terms)


def sentences(text: str) -> list[str]:
    """The sentences of a text that hold a letter or a digit; a line break ends one."""
    pieces = (line[start:end] for line in text.splitlines() for start, end in sentence_spans(line))
    return [piece for piece in pieces if any(map(str.isalnum, piece))]


def packed(pieces: Sequence[str], words: int) -> Iterator[str]:
    """Sentences put together until the next one would make more than `words` words."""
    held: list[str] = []
    for piece in pieces:
        if held and sum(len(one.split()) for one in (*held, piece)) > words:
            yield " ".join(held)
            held = []
        held.append(piece)
    if held:
        yield " ".join(held)


def factscore(supported: int, facts: int, gamma: float = GAMMA) -> float:
    """Share of the facts that are supported, times exp(1 - gamma / facts) for fewer facts than gamma; 0..1.

    Without facts it is 0. ValueError where more are supported than there are.
    """
    if not 0 <= supported <= facts:
        raise ValueError(f"{supported} of {facts} facts cannot be supported")
    if not facts:
        return 0.0
    return supported / facts * (1.0 if facts > gamma else math.exp(1 - gamma / facts))
