"""BM25 as the stores score it (Robertson and Zaragoza 2009, with the idf of Lucene): k1 1.2, b 0.75."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from math import exp, log
from typing import cast

K1 = 1.2
B = 0.75


def term_weight(frequency: int, length: int, average_length: float) -> float:
    """What a term's idf is multiplied by in a chunk of so many terms that holds it so often."""
    return frequency * (K1 + 1) / (frequency + K1 * (1 - B + B * length / average_length))


@cache
def _logarithm() -> Callable[[float], float]:
    """float32 `logf` of the C library, as Lance calls it; without it scores may differ in the last bit."""
    import ctypes

    try:
        found = ctypes.CDLL(None).logf
    except (OSError, TypeError, AttributeError):  # Windows
        return log
    found.restype, found.argtypes = ctypes.c_float, [ctypes.c_float]
    return cast("Callable[[float], float]", found)


def idf(holding: int, chunks: int) -> float:
    """ln(1+(N-n+.5)/(n+.5)) in float32, each step rounded."""
    import numpy as np

    some, all_, half = np.float32(holding), np.float32(chunks), np.float32(0.5)
    return float(_logarithm()(float((all_ - some + half) / (some + half) + np.float32(1))))


def holding(weight: float, chunks: int) -> int:
    """In how many of all chunks a term occurs whose `idf` is this weight: solved for n, rounded."""
    return round((chunks + 1) * exp(-weight) - 0.5)
