"""What is counted of checked claims."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.claims.sets import FALSE, TRUE, Claim
from thresher.judging import fitting

STATES = ("quoted", "supported", "unverified", "contradicted")
HOLDS = STATES[:2]


@dataclass(frozen=True)
class Checked:
    """A claim with what was found of it."""

    claim: Claim
    state: str
    support: float
    """Probability that it is supported, 0 to 1."""


def supports(rows: Sequence[Checked], label: str) -> list[float]:
    """Those of the claims of a label, in their order."""
    return [row.support for row in rows if row.claim.label == label]


def states(rows: Sequence[Checked], label: str) -> tuple[int, ...]:
    """How many claims of a label came to each of `STATES`."""
    counts = Counter(row.state for row in rows if row.claim.label == label)
    return tuple(counts[state] for state in STATES)


def auroc(true: Sequence[float], false: Sequence[float]) -> float:
    """Probability that a true claim has more support than a false one; a tie is half."""
    return fitting.auroc(np.array([*true, *false]), np.array([True] * len(true) + [False] * len(false)))


def true_above_false(rows: Sequence[Checked]) -> float:
    """Share of the pairs whose true sentence has more support than its false one; a tie is half."""
    true, false = ({row.claim.id: row.support for row in rows if row.claim.label == label} for label in (TRUE, FALSE))
    return sum(higher(true[pair], false[pair]) for pair in true) / len(true)


def higher(one: float, other: float) -> float:
    """1 where one is higher, half where they tie."""
    return (one > other) + (one == other) / 2
