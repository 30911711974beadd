"""Which scores are enough: a fixed cut, none, or one from the scores' own distribution; `llm_scorers` has a model's.

Hits without a score are never kept here: what becomes of them is the judge's policy.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean, pstdev, pvariance
from typing import ClassVar

from thresher.types import NO_NOTES, Notes, Query, Score, Scores

EPSILON = 0.01
"""Variance below which scores count as close together. Not published; the value of the one public implementation."""

DIGITS = 12
"""What is computed from scores is rounded to this many before it is compared: the variance of 0.4 and 0.6 is 0.01, and
the mean of three times 0.7 is 0.7, not the binary number just below."""


@dataclass(frozen=True, slots=True)
class ThresholdResult:
    """Which hits stay, and the value that decided; None where nothing was compared."""

    value: float | None
    keep: tuple[bool, ...]
    notes: Notes = NO_NOTES
    inclusive: bool = True
    """Whether a score that equals the value stays."""

    def compared(self, keep: bool) -> str:
        """How a score compares with the value, for people; empty where nothing was compared."""
        sign = (">=" if keep else "<") if self.inclusive else (">" if keep else "<=")
        return "" if self.value is None else f" {sign} {self.value:.3g}"


Threshold = Callable[[Query, Sequence[Score | None]], ThresholdResult]
"""Which of the scores are enough; None never is."""


@dataclass(frozen=True, slots=True)
class KeepAll:
    """Every score is enough."""

    about: ClassVar[str] = "none"

    def __call__(self, query: Query, scored: Sequence[Score | None]) -> ThresholdResult:
        """All that have a score."""
        return ThresholdResult(None, tuple(score is not None for score in scored))


@dataclass(frozen=True, slots=True)
class Fixed:
    """The same value for every query; `inclusive=False` keeps what is strictly above."""

    value: float
    inclusive: bool = True

    @property
    def about(self) -> str:
        """For people, in a few words."""
        return f"{self.value:g}" if self.inclusive else f"above {self.value:g}"

    def __call__(self, query: Query, scored: Sequence[Score | None]) -> ThresholdResult:
        """All that reach the value."""
        return cut(scored, self.value, inclusive=self.inclusive)


@dataclass(frozen=True, slots=True)
class Statistical:
    """The mean of the scores; mean plus standard deviation where they are close together (ChunkRAG, Algorithm 1).

    As printed (lines 19 to 22) this keeps nothing when more than half of the scores, but not all, tie at the top, so
    at least the `min_keep` best stay, with all ties; 0 is as printed. It also keeps half of an irrelevant retrieval:
    below `floor` nothing is kept, 0 is as published (Y13 in docs/methods.md). Standard deviation and variance are those
    of the whole population.
    """

    min_keep: int = 1
    floor: float = 0.0

    @property
    def about(self) -> str:
        """For people, in a few words."""
        floor = f", never below {self.floor:g}" if self.floor else ""
        return f"mean of the scores, at least {self.min_keep}{floor}"

    def __call__(self, query: Query, scored: Sequence[Score | None]) -> ThresholdResult:
        """All that reach the threshold."""
        scored = [None if score is None else replace(score, value=round(score.value, DIGITS)) for score in scored]
        values = sorted((score.value for score in scored if score is not None), reverse=True)
        if not values:
            return ThresholdResult(None, (False,) * len(scored))
        mean, variance = round(fmean(values), DIGITS), round(pvariance(values), DIGITS)
        threshold = round(mean + pstdev(values), DIGITS) if variance < EPSILON else mean
        if self.min_keep:
            threshold = min(threshold, values[min(self.min_keep, len(values)) - 1])
        threshold = max(threshold, self.floor)
        return cut(scored, threshold, notes=Notes(facts={"mean": mean, "variance": variance}))


def cut(
    scored: Sequence[Score | None], value: float, *, inclusive: bool = True, notes: Notes = NO_NOTES
) -> ThresholdResult:
    """All scores that reach a value, or are above it."""
    keep = tuple(
        score is not None and (score.value > value or (inclusive and score.value == value)) for score in scored
    )
    return ThresholdResult(value, keep, notes, inclusive)


def value_of(score: Score | None) -> float:
    """The value of a score, to order by; no score is below every other."""
    return float("-inf") if score is None else score.value


def parts_of(scored: Scores) -> Sequence[Mapping[str, Score]]:
    """What each score is made of; nothing where the scorer does not say."""
    return scored.others or ({},) * len(scored.scores)
