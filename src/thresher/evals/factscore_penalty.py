"""FActScore of one answer, from how many of its facts are supported."""

from __future__ import annotations

import math

GAMMA = 10  # facts below which an answer is short; the value of the published numbers (Min et al. 2023, released code)


def factscore(supported: int, facts: int, gamma: float = GAMMA) -> float:
    """Share of the facts that are supported, times exp(1 - gamma / facts) for fewer facts than gamma; 0..1.

    Without facts it is 0. ValueError where more are supported than there are.
    """
    if not 0 <= supported <= facts:
        raise ValueError(f"{supported} of {facts} facts cannot be supported")
    if not facts:
        return 0.0
    penalty = 1.0 if facts > gamma else math.exp(1 - gamma / facts)
    return supported / facts * penalty
