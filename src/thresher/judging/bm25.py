"""BM25 of a text by hand, its highest possible value, and the two ways to count how rare a term is.

Robertson and Zaragoza 2009, as ECRAG (section 4.2) prints it. Which texts the counts come from is the caller's: the
whole collection, or only what was retrieved (X11 in docs/methods.md).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log
from typing import Literal

K1 = 1.2
"""Saturation of repeated terms; ECRAG, section 4.2: "typically"."""

B = 0.75
"""Normalisation by length; ECRAG, section 4.2."""

Rarity = Literal["robertson", "okapi"]


@dataclass(frozen=True, slots=True)
class Statistics:
    """In how many texts each term occurs, how many texts there are, and their mean number of terms."""

    frequencies: Mapping[str, int]
    total: int
    average_length: float


def retrieved_statistics(texts_terms: Sequence[Sequence[str]]) -> Statistics:
    """Counts over a handful of texts (ECRAG, Fig. 6, fits BM25 to the retrieved subchunks)."""
    frequencies = Counter(term for terms in texts_terms for term in dict.fromkeys(terms))
    total = len(texts_terms)
    return Statistics(frequencies, total, sum(map(len, texts_terms)) / total if total else 0.0)


def idf(n: int, total: int, kind: Rarity = "robertson") -> float:
    """How rare a term is that occurs in `n` of `total` texts.

    `robertson` is ln(1 + (N-n+.5)/(n+.5)) and always above 0; `okapi` is ln((N-n+.5)/(n+.5)): 0 for a term that half
    of the texts hold and negative above.
    """
    odds = (total - n + 0.5) / (n + 0.5)
    return log(1 + odds) if kind == "robertson" else log(odds)


def bm25(
    query_terms: Sequence[str],
    text_terms: Sequence[str],
    *,
    frequencies: Mapping[str, int],
    total: int,
    average_length: float,
    k1: float = K1,
    b: float = B,
    kind: Rarity = "robertson",
) -> float:
    """Sum over the query's terms of idf x f (k1 + 1) / (f + k1 (1 - b + b length / average_length))."""
    counts = Counter(text_terms)
    relative = len(text_terms) / average_length if average_length else 1.0
    damping = k1 * (1 - b + b * relative)
    return sum(
        idf(frequencies.get(term, 0), total, kind) * counts[term] * (k1 + 1) / (counts[term] + damping)
        for term in query_terms
        if counts[term]
    )


def ceiling(
    query_terms: Sequence[str],
    *,
    frequencies: Mapping[str, int],
    total: int,
    k1: float = K1,
    kind: Rarity = "robertson",
) -> float:
    """What no text reaches: sum of idf (k1 + 1) over the query's terms (X10 in docs/methods.md)."""
    return sum(max(0.0, idf(frequencies.get(term, 0), total, kind)) for term in query_terms) * (k1 + 1)
