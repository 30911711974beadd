"""A measure: a declared value that prints as its name, gives every row a number, and says how numbers become one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial
from typing import Literal

from thresher_evals.dataset import Task
from thresher_evals.rows import Row
from thresher_evals.stats import Counts, Forecast, Interval, mean_interval, proportion_interval, quantile_interval

Value = float | Forecast | Counts
"""What a measure says of one question: a number, a probability and what came of it, or what is to be summed."""

Values = Sequence[Value | None]
"""One for each row, None where the measure does not apply to the question."""

MEAN, PROPORTION = mean_interval, proportion_interval
"""How numbers become one with its interval; of zeros and ones the mean is a proportion."""

MEDIAN, P95, LARGEST = (partial(quantile_interval, quantile=quantile) for quantile in (0.5, 0.95, 1.0))


class Family(StrEnum):
    """What a measure is about. The report has a table for each, in this order."""

    DOCUMENTS = "Retrieval, documents"
    SPANS = "Retrieval, gold spans"
    PAGES = "Retrieval, gold pages"
    ANSWERS = "Answers"
    FACTS = "Facts (FActScore)"
    CITATIONS = "Citations and support"
    QUALITY = "Response quality, by a judge"
    VERDICTS = "Refusals and verdicts"
    COST = "Cost"


@dataclass(frozen=True, slots=True)
class Measure:
    """What is measured, what it means in a line, and who defined it."""

    name: str
    meaning: str = field(compare=False)
    source: str = field(compare=False)
    values: Callable[[Sequence[Row]], Values] = field(compare=False)
    family: Family = field(kw_only=True, compare=False)
    better: Literal["higher", "lower"] | None = field(default=None, kw_only=True, compare=False)
    """None where neither is, as for a cost, which is weighed against what it buys."""
    summary: Callable[..., Interval] = field(default=PROPORTION, kw_only=True, compare=False)
    paired: bool = field(default=True, kw_only=True, compare=False)
    """Whether two recipes can be compared question by question: it has a mean, over questions that no answer chose."""
    tasks: tuple[Task, ...] = field(default=("ask",), kw_only=True, compare=False)
    """Where it is scored when no measures are named; nowhere for variants of a measure that is."""
    bounds: str = field(default="0 to 1", kw_only=True, compare=False)
    """What the number can be, with its unit."""
    questions: str = field(default="all", kw_only=True, compare=False)
    """The questions it applies to, in words."""

    def __str__(self) -> str:
        """The name, from which `parse` gives the measure again."""
        return self.name

    @property
    def sign(self) -> int:
        """1 where higher is better, -1 where lower is, 0 where neither is."""
        return {"higher": 1, "lower": -1, None: 0}[self.better]

    def summarise(self, rows: Sequence[Row], *, seed: int = 0) -> Interval:
        """One number and its interval, over the questions to which the measure applies."""
        return self.summarise_values(self.values(rows), seed=seed)

    def summarise_values(self, values: Values, *, seed: int = 0) -> Interval:
        """The same from the values of the rows."""
        return self.summary([value for value in values if value is not None], seed=seed)


def each(value: Callable[[Row], Value | None]) -> Callable[[Sequence[Row]], Values]:
    """A measure of one row, for many."""
    return lambda rows: [value(row) for row in rows]
