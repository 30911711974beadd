"""Bounds for `corrective` from stored rows: what would have come of a question with other ones.

The decide step of a row holds the best probability, the generate step the relevance of the best passage. Where nothing
was withheld (`OPEN`: all bounds at their ends) every other choice of bounds is a selection from the same rows, and
none has to be asked again. What is chosen on one half of the questions is then asked for real on the other.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from thresher.evals.compare.outcomes import outcome, value
from thresher.evals.labels import Question
from thresher.evals.rows import Row
from thresher.evals.splits import sha1_number

TUNED = "corrective"
"""The recipe whose bounds do nothing but decide; those of the published ones also choose chunks and sentences."""

INSIDE, BOTH, ELSEWHERE = "inside", "both", "outside"

OPEN: Mapping[str, str] = {
    INSIDE: f"{TUNED}[lower=0,upper=0.000001,sure=0,answer.min_relevance=0]",
    BOTH: f"{TUNED}[lower=0,upper=1,answer.min_relevance=0]",
    ELSEWHERE: f"{TUNED}[lower=0.999999,upper=1,answer.min_relevance=0]",
}
"""The recipe so that its verdict is always correct, always ambiguous, always incorrect, and it always answers."""

STEP = 0.05
"""Between two bounds that are tried: finer ones follow single questions."""

LEAST_HALF = 20
"""Questions in each half, below which no bounds are chosen: one question then moves the mean by 5 points or more."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """Where `corrective` decides; `upper` is None where nothing outside was looked at, so that it decides nothing."""

    lower: float
    upper: float | None
    min_relevance: float

    @property
    def settings(self) -> dict[str, float]:
        """As settings of the recipe."""
        upper = {} if self.upper is None else {"upper": self.upper}
        return {"lower": self.lower, **upper, "answer.min_relevance": self.min_relevance}


def halves(questions: Iterable[Question]) -> tuple[list[Question], list[Question]]:
    """The half to choose on and the half to check on: by sha1 of `compare:` and the question's group or id."""
    parts: tuple[list[Question], list[Question]] = ([], [])
    for question in questions:
        parts[sha1_number(f"compare:{question.group or question.id}") % 2].append(question)
    return parts


def choose(opened: Mapping[str, Sequence[Row]], usual: Bounds, *, wrong_costs: float) -> tuple[Bounds, float]:
    """The bounds of the highest mean value, and how much that is above the one with the `usual` bounds.

    `opened` are the rows of `INSIDE` and, where there is an outside, of `BOTH` and `ELSEWHERE`, on the same questions.
    Of bounds that are equally good the nearest to the usual ones are taken.
    """
    replay = Replay(opened, wrong_costs)
    grid = [round(STEP * step, 2) for step in range(round(1 / STEP))]
    uppers: list[float | None] = [None] if usual.upper is None else [*grid[1:], 1.0]
    tried = [
        Bounds(lower, upper, least)
        for lower, upper, least in product(grid, uppers, grid)
        if upper is None or lower <= upper
    ]
    before = replay.mean(usual)
    best = max((usual, *tried), key=lambda bounds: (round(replay.mean(bounds), 9), -distance(bounds, usual)))
    return best, replay.mean(best) - before


def distance(one: Bounds, other: Bounds) -> float:
    """How far apart two choices are: the sum over the bounds."""
    return sum(abs(mine - other.settings[name]) for name, mine in one.settings.items())


class Replay:
    """What the stored rows say of any bounds; arrays are (n,), one entry a question."""

    def __init__(self, opened: Mapping[str, Sequence[Row]], wrong_costs: float) -> None:
        rows = {part: {row.question.id: row for row in found} for part, found in opened.items()}
        shared = [id for id in rows[INSIDE] if all(id in found for found in rows.values())]
        self._best = np.array([told(rows[INSIDE][id], "decide", "best", 0.0) for id in shared])
        self._values = {
            part: np.array([value(outcome(found[id]), wrong_costs) for id in shared]) for part, found in rows.items()
        }
        # Where no reader told a relevance there is none to fall short of.
        self._relevance = {
            part: np.array([told(found[id], "generate", "relevance", 1.0) for id in shared])
            for part, found in rows.items()
        }

    def mean(self, bounds: Bounds) -> float:
        """Mean value with these bounds; what would have been withheld counts 0."""
        gated = {part: self._gated(part, bounds.min_relevance) for part in self._values}
        low = self._best < bounds.lower
        if bounds.upper is None:
            return float(np.where(low, 0.0, gated[INSIDE]).mean())
        high = self._best >= bounds.upper
        return float(np.where(low, gated[ELSEWHERE], np.where(high, gated[INSIDE], gated[BOTH])).mean())

    def _gated(self, part: str, least: float) -> NDArray[np.float64]:
        return np.where(self._relevance[part] >= least, self._values[part], 0.0)


def told(row: Row, step: str, name: str, otherwise: float) -> float:
    """A number that a step of the answer tells, or what stands for it where it tells none."""
    steps = () if row.reply is None else row.reply.answer.get("steps", ())
    found = next((one["detail"].get(name) for one in steps if one["name"] == step), None)
    return otherwise if found is None else float(found)


def usual_bounds(rows: Sequence[Row], *, outside: bool) -> Bounds | None:
    """The bounds that stored rows of the recipe as it is were decided with; None where no row tells them."""
    for row in rows:
        lower, upper = told(row, "decide", "lower", -1.0), told(row, "decide", "upper", -1.0)
        least = told(row, "generate", "min_relevance", -1.0)
        if min(lower, upper, least) >= 0:
            return Bounds(lower, upper if outside else None, least)
    return None


def variant(bounds: Bounds) -> str:
    """The recipe with these bounds, as one word."""
    given = ",".join(f"{name}={number:g}" for name, number in bounds.settings.items())
    return f"{TUNED}[{given}]"
