"""BM25 as the stores score it (Robertson and Zaragoza 2009, with the idf of Lucene): k1 1.2, b 0.75."""

from __future__ import annotations

from math import exp

K1 = 1.2
B = 0.75


def term_weight(frequency: int, length: int, average_length: float) -> float:
    """What a term's idf is multiplied by in a chunk of so many terms that holds it so often."""
    return frequency * (K1 + 1) / (frequency + K1 * (1 - B + B * length / average_length))


def holding(idf: float, chunks: int) -> int:
    """In how many of all chunks a term of this idf occurs: ln(1 + (N - n + .5) / (n + .5)) solved for n, rounded."""
    return round((chunks + 1) * exp(-idf) - 0.5)
