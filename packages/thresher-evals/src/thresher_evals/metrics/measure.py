"""A measure: a declared value that prints as its name, gives every row a number, and says how numbers become one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from thresher_evals.dataset import Task
from thresher_evals.rows import Row
from thresher_evals.stats import (
    Counts,
    Forecast,
    Interval,
    aurc_interval,
    auroc_interval,
    ece_interval,
    mean_interval,
    pooled_interval,
    proportion_interval,
    quantile_interval,
)

Value = float | Forecast | Counts
"""What a measure says of one question: a number, a probability and what came of it, or what is to be summed."""

Values = Sequence[Value | None]


class Summary(StrEnum):
    """How the numbers of the questions become one."""

    MEAN = "mean"
    PROPORTION = "proportion"
    """The mean of zeros and ones."""
    MEDIAN = "median"
    P95 = "95th percentile"
    MOST = "largest"
    AUROC = "area under the ROC curve"
    """Of forecasts."""
    ECE = "expected calibration error"
    """Of forecasts."""
    AURC = "area under the risk-coverage curve"
    """Of forecasts of being wrong."""
    MICRO_P = "precision of all questions together"
    """Of counts."""
    MICRO_R = "recall of all questions together"
    """Of counts."""
    MICRO_F1 = "F1 of all questions together"
    """Of counts."""


@dataclass(frozen=True, slots=True)
class Measure:
    """What is measured, what it means in a line, and who defined it."""

    name: str
    meaning: str = field(compare=False)
    source: str = field(compare=False)
    values: Callable[[Sequence[Row]], Values] = field(compare=False)
    summary: Summary = field(default=Summary.MEAN, compare=False)
    tasks: tuple[Task, ...] = field(default=("ask",), compare=False)
    """Where it is scored when no measures are named; nowhere for variants of a measure that is."""
    paired: bool = field(default=True, compare=False)
    """Whether two recipes can be compared question by question."""
    bounds: str = field(default="0 to 1", compare=False)
    """What the number can be, with its unit."""
    questions: str = field(default="all", compare=False)
    """The questions it applies to, in words."""

    def __str__(self) -> str:
        """The name, from which `parse` gives the measure again."""
        return self.name

    def summarise(self, rows: Sequence[Row], *, seed: int = 0) -> Interval:
        """One number and its interval, over the questions to which the measure applies."""
        return summarised(self.summary, [value for value in self.values(rows) if value is not None], seed=seed)


def summarised(summary: Summary, values: Sequence[Value], *, seed: int = 0) -> Interval:
    """The numbers, forecasts or counts of the questions as one number, with its 95 % interval."""
    forecasts = [value for value in values if isinstance(value, Forecast)]
    counts = [value for value in values if isinstance(value, Counts)]
    numbers = [value for value in values if not isinstance(value, Forecast | Counts)]
    match summary:
        case Summary.MEAN:
            return mean_interval(numbers, seed=seed)
        case Summary.PROPORTION:
            return proportion_interval(numbers, seed=seed)
        case Summary.MEDIAN:
            return quantile_interval(numbers, 0.5)
        case Summary.P95:
            return quantile_interval(numbers, 0.95)
        case Summary.MOST:
            return quantile_interval(numbers, 1.0)
        case Summary.AUROC:
            return auroc_interval(forecasts, seed=seed)
        case Summary.ECE:
            return ece_interval(forecasts, seed=seed)
        case Summary.AURC:
            return aurc_interval(forecasts, seed=seed)
        case Summary.MICRO_P:
            return pooled_interval(counts, "P", seed=seed)
        case Summary.MICRO_R:
            return pooled_interval(counts, "R", seed=seed)
        case Summary.MICRO_F1:
            return pooled_interval(counts, "F1", seed=seed)


def each(value: Callable[[Row], Value | None]) -> Callable[[Sequence[Row]], Values]:
    """A measure of one row, for many."""
    return lambda rows: [value(row) for row in rows]
