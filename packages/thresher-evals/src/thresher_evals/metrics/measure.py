"""A measure: a value that prints as its name, gives each row a number, and summarises numbers.

Below it, results from the numbers of several recipes, for `eval score` and the report.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from functools import partial
from typing import Any, Literal

from thresher_evals.dataset import Task
from thresher_evals.rows import Row
from thresher_evals.stats import (
    Comparison,
    Counts,
    Forecast,
    Interval,
    mean_interval,
    proportion_interval,
    quantile_interval,
    shared_difference,
)

Value = float | Forecast | Counts
"""A measure of one question: a number, a probability with its outcome, or counts to be summed."""

Values = Sequence[Value | None]
"""One per row; None if the measure does not apply to the question."""

MEAN, PROPORTION = mean_interval, proportion_interval
"""Summaries with intervals; the mean of zeros and ones is a proportion."""

MEDIAN, P95, LARGEST = (partial(quantile_interval, quantile=quantile) for quantile in (0.5, 0.95, 1.0))


class Family(StrEnum):
    """Subject of a measure. The report has a table for each, in this order."""

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
    """Definition, one-line meaning and source of a measure."""

    name: str
    meaning: str = field(compare=False)
    source: str = field(compare=False)
    values: Callable[[Sequence[Row]], Values] = field(compare=False)
    family: Family = field(kw_only=True, compare=False)
    better: Literal["higher", "lower"] | None = field(default=None, kw_only=True, compare=False)
    """None if neither is better, as for a cost."""
    summary: Callable[..., Interval] = field(default=PROPORTION, kw_only=True, compare=False)
    paired: bool = field(default=True, kw_only=True, compare=False)
    """Whether recipes can be compared per question: it has a mean, over questions that no answer selects."""
    tasks: tuple[Task, ...] = field(default=("ask",), kw_only=True, compare=False)
    """Tasks that score it by default; none for variants of a default measure."""
    bounds: str = field(default="0 to 1", kw_only=True, compare=False)
    """Range of the number, with its unit."""
    questions: str = field(default="all", kw_only=True, compare=False)
    """The questions it applies to, in words."""

    def __str__(self) -> str:
        """The name, from which `parse` returns the measure."""
        return self.name

    @property
    def sign(self) -> int:
        """1 if higher is better, -1 if lower is, 0 if neither is."""
        return {"higher": 1, "lower": -1, None: 0}[self.better]

    def summarise(self, rows: Sequence[Row], *, seed: int = 0) -> Interval:
        """The number and its interval, over the questions that the measure applies to."""
        return self.summarise_values(self.values(rows), seed=seed)

    def summarise_values(self, values: Values, *, seed: int = 0) -> Interval:
        """The same from the values of the rows."""
        return self.summary([value for value in values if value is not None], seed=seed)


def each(value: Callable[[Row], Value | None]) -> Callable[[Sequence[Row]], Values]:
    """A measure of one row, applied to many."""
    return lambda rows: [value(row) for row in rows]


# --- the numbers of recipes, of their categories, and against each other ----------------------------------------------

Valued = Mapping[Measure, Values]
"""Each measure's values for the rows of one recipe."""

ALWAYS = frozenset(
    {
        *("P@5", "R@5", "F1@5", "nDCG@10", "MRR", "match", "match_norm", "em", "f1", "words_median", "abstained"),
        *("verdict_accuracy", "auroc", "ece", "refusal_precision", "refusal_recall"),
        *("seconds_p50", "seconds_p95", "llm_calls", "unreadable", "timed_out"),
    }
)
"""Measures that the JSON has for every dataset of their task, even if they apply to no question."""


def applying(values: Mapping[str, Valued]) -> dict[str, Valued]:
    """The same without measures that have no number for any recipe; those of `ALWAYS` stay."""
    known = {
        measure
        for of_recipe in values.values()
        for measure, numbers in of_recipe.items()
        if str(measure) in ALWAYS or any(number is not None for number in numbers)
    }
    return {
        recipe: {measure: numbers for measure, numbers in of_recipe.items() if measure in known}
        for recipe, of_recipe in values.items()
    }


def summaries(values: Valued, *, seed: int) -> dict[str, Any]:
    """Name of each measure to its value, interval and number of questions."""
    return {str(measure): asdict(measure.summarise_values(numbers, seed=seed)) for measure, numbers in values.items()}


def within(values: Valued, rows: Sequence[Row], category: str) -> Valued:
    """The values of rows in one category."""
    return {
        measure: [one for one, row in zip(numbers, rows, strict=True) if row.question.category == category]
        for measure, numbers in values.items()
    }


def by_question(rows: Sequence[Row], numbers: Values) -> dict[str, float]:
    """Question id to number, if the measure applies."""
    pairs = zip(rows, numbers, strict=True)
    return {row.question.id: one for row, one in pairs if one is not None and not isinstance(one, Forecast | Counts)}


def compared(measure: Measure, first: Mapping[str, float], second: Mapping[str, float], *, seed: int) -> Comparison:
    """The difference on shared questions; p is McNemar's for zeros and ones."""
    comparison = shared_difference(first, second, seed=seed)
    if measure.summary is PROPORTION and comparison.n and {*first.values(), *second.values()} <= {0, 1}:
        comparison = replace(comparison, p=comparison.tests["sign"], test="McNemar exact")
    return comparison
