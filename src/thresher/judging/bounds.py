"""Two thresholds that sort a retrieval into correct, ambiguous and incorrect (CRAG, section 4.3).

The guide, the paper and its code compare differently (Z1 in docs/methods.md). On a score that equals a bound:

            score = upper    score = lower
    blog    ambiguous        incorrect
    paper   ambiguous        ambiguous
    code    correct          ambiguous

Published lower and upper bounds (Z2); the evaluator's scores are from -1 to 1:

    the guide, from 0 to 1                        0.3 and 0.7
    the paper's appendix                          PopQA -0.99 and 0.59, PubHealth and ARC -0.91 and 0.5
                                                  biographies -0.91 and 0.95
    the run scripts                               PopQA -0.995 and 0.592, PubHealth and ARC -0.915 and 0.5
    ECRAG                                         only a cut of 0.5; 0.3 for the lower one is the guide's (X10)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from thresher.errors import UsageError
from thresher.judging.thresholds import Fixed
from thresher.types import UNIT, Scale, Score, Verdict

Operators = Literal["blog", "paper", "code"]


@dataclass(frozen=True, slots=True)
class Bounds:
    """A lower and an upper bound on a scale, and how a score is compared with them."""

    lower: float
    upper: float
    operators: Operators = "blog"
    scale: Scale = UNIT

    def __post_init__(self) -> None:
        if not self.scale.low <= self.lower < self.upper <= self.scale.high:
            raise UsageError(
                f"are not in order on the scale {self.scale}",
                subject=f"bounds lower {self.lower:g} and upper {self.upper:g}",
                next_step="give a lower bound below the upper one, both on the scale",
            )

    def verdict(self, scores: Sequence[Score]) -> Verdict:
        """Correct when one score is above the upper bound, incorrect when all are below the lower one or there is none.

        One score above the lower bound is enough for ambiguous (Z3), an empty retrieval is incorrect (Z6).
        """
        if any(self.reaches(score) for score in scores):
            return Verdict.CORRECT
        if any(self.keeps(score) for score in scores):
            return Verdict.AMBIGUOUS
        return Verdict.INCORRECT

    def reaches(self, score: Score) -> bool:
        """Whether a score is above the upper bound (`code`: or equals it)."""
        value = self._value(score)
        return value >= self.upper if self.operators == "code" else value > self.upper

    def keeps(self, score: Score) -> bool:
        """Whether a chunk is good enough to be used: above the lower bound (`paper`, `code`: or equal to it)."""
        value = self._value(score)
        return value > self.lower if self.operators == "blog" else value >= self.lower

    @property
    def threshold(self) -> Fixed:
        """The same as `keeps`, for a judge."""
        return Fixed(self.lower, inclusive=self.operators != "blog")

    def _value(self, score: Score) -> float:
        if (score.scale.low, score.scale.high) != (self.scale.low, self.scale.high):
            raise UsageError(
                f"are on the scale {self.scale}, and the score is on {score.scale}",
                subject=f"bounds lower {self.lower:g} and upper {self.upper:g}",
                next_step="give bounds on the scale of the judge",
            )
        return score.value
