"""Fits and compares trained judges.

Measured is the judge's task: does the best retrieved passage answer the question? Each labelled question counts twice,
with and without the passages that answer it, as in a calibration.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from thresher.judging.fitting import RESAMPLES, auroc, calibration_error, fit, logistic_weights
from thresher.judging.scorers import LogOdds, TunedJudge
from thresher.types import Public

Numbers = NDArray[np.float64]

Interval = tuple[float, float]
"""Lower and upper end."""

PRIOR_SHARE = 0.5
"""Prior standard deviation as a share of the shipped weights: 20 questions cannot reverse them, 100 can change them."""


@dataclass(frozen=True, slots=True)
class Measured(Public):
    """One measure of both judges on the same questions, with 95 % intervals (bootstrap over questions)."""

    name: str
    before: float
    before_interval: Interval
    after: float
    after_interval: Interval
    difference: float
    difference_interval: Interval

    def __str__(self) -> str:
        both = [
            f"{value:.3f} [{low:.3f}, {high:.3f}] {when}"
            for when, value, (low, high) in (
                ("before", self.before, self.before_interval),
                ("after", self.after, self.after_interval),
            )
        ]
        low, high = self.difference_interval
        return f"{self.name}: {', '.join(both)}, difference {self.difference:+.3f} [{low:+.3f}, {high:+.3f}]"


@dataclass(frozen=True, slots=True)
class Comparison(Public):
    """Two judges on questions that neither was trained on; `better` says whether the second may take the place."""

    questions: int
    measured: tuple[Measured, ...]
    better: bool


@dataclass(frozen=True, slots=True)
class Case:
    """A question with the logits of relevant passages and of others."""

    relevant: tuple[float, ...]
    irrelevant: tuple[float, ...]


Judging = Callable[[float], float]
"""Logit to the probability that the passage suffices, 0 to 1."""


# --- fitting ----------------------------------------------------------------------------------------------------------


def fitted_odds(cases: Sequence[Case], usual: LogOdds) -> LogOdds:
    """The likeliest weights on labelled passages; relevant and irrelevant ones of a question have equal weight.

    A logistic regression with a normal prior at the `usual` weights.
    """
    rows: list[list[float]] = []
    labels: list[float] = []
    shares: list[float] = []
    for case in cases:
        for label, logits in ((1.0, case.relevant), (0.0, case.irrelevant)):
            rows += [[logit, 1.0] for logit in logits]
            labels += [label] * len(logits)
            shares += [1 / len(logits) for _ in logits]
    prior = np.array([usual.logit, usual.intercept])
    found = logistic_weights(
        np.array(rows), np.array(labels), precision=(PRIOR_SHARE * prior) ** -2.0, prior=prior, share=np.array(shares)
    )
    logit, intercept = found.tolist()
    return LogOdds(logit, intercept)


def fitted_judge(cases: Sequence[Case], usual: LogOdds, *, name: str, encoder: str, seed: int) -> TunedJudge:
    """Weights and calibration fitted on the cases. Raises UsageError for too few."""
    odds = fitted_odds(cases, usual)
    best = _best(cases, odds)
    suffices = [value for pair in best if (value := pair[0]) is not None]
    lacks = [value for pair in best if (value := pair[1]) is not None]
    return TunedJudge(odds, fit(suffices, lacks, judge=name, encoder=encoder, source="labels", seed=seed))


# --- comparing --------------------------------------------------------------------------------------------------------

AREA = "AUROC, does it suffice"


def compared(
    before: tuple[Sequence[Case], TunedJudge], after: tuple[Sequence[Case], TunedJudge], *, seed: int
) -> Comparison:
    """Compare two judges on the same questions; better if the 95 % interval of the AUROC difference is above 0."""
    first, second = _best_probabilities(*before), _best_probabilities(*after)
    uppers = (before[1].calibration.upper, after[1].calibration.upper)
    source = np.random.default_rng(seed)
    n = len(first)
    drawn = [source.integers(n, size=n) for _ in range(RESAMPLES)]
    everything = np.arange(n)
    measures: Mapping[str, Callable[[Numbers, float, NDArray[np.int64]], float]] = {
        AREA: lambda best, _, rows: auroc(*_labelled(best[rows])),
        "accuracy at UPPER": lambda best, upper, rows: _accuracy(*_labelled(best[rows]), upper),
        "expected calibration error": lambda best, _, rows: calibration_error(*_labelled(best[rows])),
    }
    found = []
    for name, measure in measures.items():
        values = [measure(best, upper, everything) for best, upper in zip((first, second), uppers, strict=True)]
        resampled = np.array(
            [
                [measure(best, upper, rows) for best, upper in zip((first, second), uppers, strict=True)]
                for rows in drawn
            ]
        )
        differences = resampled[:, 1] - resampled[:, 0]
        found.append(
            Measured(
                name,
                values[0],
                _interval(resampled[:, 0]),
                values[1],
                _interval(resampled[:, 1]),
                values[1] - values[0],
                _interval(differences),
            )
        )
    return Comparison(n, tuple(found), found[0].difference_interval[0] > 0)


def _best_probabilities(cases: Sequence[Case], judge: TunedJudge) -> Numbers:
    """(questions, 2) best probability with and without relevant passages; NaN without a passage."""

    def judging(logit: float) -> float:
        return judge.calibration.probability(judge.odds(logit))

    return np.array([[np.nan if value is None else value for value in pair] for pair in _best(cases, judging)])


def _best(cases: Sequence[Case], judging: Judging) -> list[tuple[float | None, float | None]]:
    """Best value of each question with and without relevant passages; None without a passage."""
    found: list[tuple[float | None, float | None]] = []
    for case in cases:
        others = [judging(logit) for logit in case.irrelevant]
        answering = [judging(logit) for logit in case.relevant]
        found.append((max([*answering, *others]) if answering else None, max(others, default=None)))
    return found


def _labelled(best: Numbers) -> tuple[Numbers, NDArray[np.bool_]]:
    values, answerable = best.T.ravel(), np.arange(2 * len(best)) < len(best)
    known = ~np.isnan(values)
    return values[known], answerable[known]


def _accuracy(probabilities: Numbers, answerable: NDArray[np.bool_], upper: float) -> float:
    return float(((probabilities >= upper) == answerable).mean())


def _interval(values: Numbers) -> Interval:
    low, high = np.quantile(values, (0.025, 0.975))
    return float(low), float(high)
