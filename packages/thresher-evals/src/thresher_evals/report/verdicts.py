"""Results of other bounds, question by question.

The map of bounds (CRAG, LOWER x UPPER) repeats the verdict of every question from its best score. Staying inside is
right if the collection answers, going outside if it does not. The verdict correct stays, any other goes. If only
decided questions count, ambiguous (which uses both) is never right; only then does the lower bound matter.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from thresher.types import Verdict
from thresher_evals.metrics.registry import SUFFICES, verdict_of
from thresher_evals.rows import Row

STEPS = 20
"""Steps of the scale; in a finer grid a step has fewer questions than the sets have."""

Operators = Literal["blog", "paper", "code"]
"""How a score is compared with the bounds; see `thresher.parts.judging.Bounds`."""

Booleans = NDArray[np.bool_]
Bound = float | NDArray[np.float64]
"""One for all questions, or one each."""


@dataclass(frozen=True)
class BoundsMap:
    """The questions of a recipe with bounds, if it is known whether the collection answers them."""

    best: NDArray[np.float64]
    """(n,) best score of each question; nan if nothing was scored: then no bound changes the verdict."""
    suffices: Booleans
    """(n,) whether the collection answers."""
    verdicts: Sequence[Verdict]
    """As recorded; `unsure` acts as ambiguous."""
    bounds: NDArray[np.float64]
    """(n, 2) lower and upper bound of each question; nan if nothing was scored."""
    operators: Operators

    @cached_property
    def used(self) -> tuple[float, float]:
        """The most frequent bounds."""
        known = Counter((lower, upper) for lower, upper in self.bounds.tolist() if lower == lower)
        return known.most_common(1)[0][0]

    @cached_property
    def grid(self) -> list[float]:
        """The bounds tried: from 0 to 1, or from -1 to 1 if a score or bound is negative."""
        low = -1.0 if min(np.nanmin(self.best), np.nanmin(self.bounds)) < 0 else 0.0
        return [round(low + (1 - low) * step / STEPS, 6) for step in range(STEPS + 1)]

    def stays(self, upper: Bound) -> Booleans:
        """(n,) whether the verdict is correct, compared as in `thresher.judging.verdicts.Bounds`."""
        above = self.best >= upper if self.operators == "code" else self.best > upper
        return np.where(np.isnan(self.best), [one is Verdict.CORRECT for one in self.verdicts], above)

    def goes(self, lower: Bound) -> Booleans:
        """(n,) whether the verdict is incorrect."""
        below = self.best <= lower if self.operators == "blog" else self.best < lower
        return np.where(np.isnan(self.best), [one is Verdict.INCORRECT for one in self.verdicts], below)

    def right(self, upper: float) -> Booleans:
        """(n,) whether staying or going was right."""
        return np.equal(self.stays(upper), self.suffices)

    def decided(self, lower: float, upper: float) -> Booleans:
        """(n,) whether the verdict decided, and was right."""
        return np.where(self.suffices, self.stays(upper), self.goes(lower))

    @cached_property
    def shares(self) -> Mapping[tuple[float, float], tuple[float, float]]:
        """(lower, upper) to the shares of questions that are right, and decided and right."""
        return {
            (lower, upper): (float(self.right(upper).mean()), float(self.decided(lower, upper).mean()))
            for upper in self.grid
            for lower in self.grid
            if lower <= upper
        }

    @property
    def not_as_recorded(self) -> int:
        """Verdicts that differ from those in the rows."""
        stays, goes = self.stays(self.bounds[:, 1]), self.goes(self.bounds[:, 0])
        again = np.where(stays, Verdict.CORRECT, np.where(goes, Verdict.INCORRECT, Verdict.AMBIGUOUS))
        recorded = [Verdict.AMBIGUOUS if one is Verdict.UNSURE else one for one in self.verdicts]
        return sum(str(one) != other for one, other in zip(again, recorded, strict=True))


def bounds_map(rows: Sequence[Row], settings: Mapping[str, Any]) -> BoundsMap | None:
    """The map of a recipe with its settings; None without bounds. A calibrated recipe compares as CRAG's code."""
    known: list[tuple[float, ...]] = []
    suffices, verdicts = [], []
    for row in rows:
        answers, verdict = SUFFICES.get(row.question.category), verdict_of(row)
        if answers is not None and verdict is not None and row.reply is not None:
            numbers = [row.reply.told("decide", name) for name in ("best", "lower", "upper")]
            scored = all(isinstance(number, int | float) for number in numbers)
            known.append(tuple(numbers) if scored else (np.nan,) * 3)
            suffices.append(answers)
            verdicts.append(verdict)
    table = np.array(known, dtype=np.float64).reshape(-1, 3)
    if np.isnan(table).all():
        return None
    bounds = settings.get("bounds")
    operators: Operators = bounds if bounds in ("blog", "paper") else "code"
    return BoundsMap(table[:, 0], np.array(suffices), verdicts, table[:, 1:], operators)
