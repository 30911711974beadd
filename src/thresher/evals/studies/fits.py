"""How a quantity grows with a number: four curves by least squares, compared by Akaike's criterion.

Akaike 1974; for least squares n ln(RSS / n) + 2k with k parameters, the variance among them (Burnham and Anderson 2002,
section 2.2). Differences below 2 are no evidence for either (section 2.6).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

CURVES: Mapping[str, Callable[[float], float]] = {
    "a": lambda n: 0.0,
    "a + b log n": math.log,
    "a + b n": float,
    "a + b n log n": lambda n: n * math.log(n),
}

ALIKE = 2.0
"""AIC difference below which two curves are not told apart."""

EXACT = 1e-12
"""Of the sum of squares around nothing: what rounding leaves of a perfect fit, whose logarithm means nothing."""


@dataclass(frozen=True, slots=True)
class Fit:
    """One curve: a + b f(n)."""

    curve: str
    a: float
    b: float
    r_squared: float | None
    """Share of the variance it explains; None where there is none."""
    aic: float
    delta: float
    """AIC above the best curve's."""


def fits(numbers: Sequence[float], values: Sequence[float]) -> list[Fit]:
    """Every curve fitted to the points, the best first; nothing for fewer than two different numbers.

    Repeated measurements at one number are points of their own: their spread is the noise that curves are held against.
    """
    if len(set(numbers)) < 2:
        return []
    y = np.asarray(values, dtype=np.float64)
    around_mean = float(((y - y.mean()) ** 2).sum())
    least = EXACT * max(float((y**2).sum()), 1e-300)
    made = []
    for curve, shape in CURVES.items():
        constant = curve == "a"
        x = np.array([shape(number) for number in numbers])
        table = np.ones((len(y), 1)) if constant else np.column_stack([np.ones(len(y)), x])
        found = np.linalg.lstsq(table, y, rcond=None)[0]
        rest = float(((y - table @ found) ** 2).sum())
        aic = len(y) * math.log(max(rest, least) / len(y)) + 2 * (len(found) + 1)
        explained = None if around_mean <= least else max(0.0, 1 - rest / around_mean)
        made.append((aic, curve, float(found[0]), 0.0 if constant else float(found[1]), explained))
    best = min(aic for aic, *_ in made)
    ordered = sorted(made, key=lambda one: one[0])
    return [Fit(curve, a, b, explained, aic, aic - best) for aic, curve, a, b, explained in ordered]


def verdict(made: Sequence[Fit]) -> str:
    """Which curve wins, and which others the noise allows, in words."""
    if not made:
        return "too few sizes to fit anything"
    best, *others = made
    allowed = [one.curve for one in others if one.delta < ALIKE]
    falling = ", falling" if best.b < 0 else ""
    if not allowed:
        nearest = f"; the next is {others[0].delta:.1f} behind" if others else ""
        return f"{best.curve}{falling}{nearest}"
    return f"{best.curve}{falling}, not told apart from {', '.join(allowed)} (AIC within {ALIKE:g})"
