"""How often answers are wrong, bounded by questions that a person labelled: from labels to a threshold. Pure: no I/O.

Two statements, each with its own method, which must not be taken for each other:

- P(wrong | answered) <= level, with a confidence: learn-then-test with fixed-sequence testing (Angelopoulos et al.,
  "Learn then Test", 2021, section 3) and the exact binomial bound (Clopper and Pearson 1934).
- E[wrong and answered] <= level, on average over labels and question: conformal risk control (Angelopoulos et al.,
  "Conformal Risk Control", 2022, theorem 1).

Both assume that labelled and later questions are exchangeable; `shift` tests that on their certainties.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil, exp, log, log1p

import numpy as np
from numpy.typing import NDArray

THRESHOLDS = tuple(hundredths / 100 for hundredths in range(99, -1, -1))
"""Tested from strict to loose. They are fixed beforehand: at a threshold that no data chose, the errors among the
answered labels are binomial."""

START_SHARE, START_ERRORS = 0.5, 2
"""At the first threshold stands this share of the answered labels, and so many that this many errors pass where there
are that many: one unlucky label fails a test of fewer (`benchmarks/certified.py starts`)."""

SHIFT_LEVEL = 0.01
"""Chance that one test for a shift warns of questions that are like the labelled ones."""

RESAMPLES = 999


@dataclass(frozen=True, slots=True)
class Labelled:
    """A question whose answer a person called right or wrong."""

    certainty: float | None
    """Of the answer; None where nothing was asserted, whatever the threshold."""
    right: bool


@dataclass(frozen=True, slots=True)
class Passed:
    """The loosest threshold of which the statement holds, and the labels at or above it."""

    threshold: float
    answered: int
    errors: int
    bound: float
    """Upper bound of P(wrong | answered) at the confidence; of the other statement its estimate."""


@dataclass(frozen=True, slots=True)
class Failed:
    """No threshold passes: the labels that spoke against it, and how many it takes."""

    answered: int
    errors: int
    needed: int
    """Answered labels at which so many errors would pass."""
    tested: bool
    """Whether there were enough labels to test anything."""


# --- the exact binomial bound -----------------------------------------------------------------------------------------


def at_most(errors: int, number: int, rate: float) -> float:
    """P(X <= errors) of a binomial X of so many trials.

    >>> round(at_most(1, 46, 0.1), 4)
    0.048
    """
    if errors >= number or rate <= 0:
        return 1.0
    if rate >= 1:
        return 0.0
    term = number * log1p(-rate)  # logarithms: (1 - rate) ** number may be too small for a float
    total = exp(term)
    for k in range(1, errors + 1):
        term += log((number - k + 1) / k) + log(rate) - log1p(-rate)
        total += exp(term)
    return min(total, 1.0)


def upper_bound(errors: int, number: int, confidence: float) -> float:
    """The exact upper bound of a rate (Clopper and Pearson 1934): the rate at which so few errors are too improbable.

    >>> round(upper_bound(0, 29, 0.95), 4)
    0.0981
    """
    low, high = errors / number if number else 0.0, 1.0
    if errors >= number:
        return 1.0
    for _ in range(60):  # halves an interval of 1 below the rounding of a float
        middle = (low + high) / 2
        low, high = (middle, high) if at_most(errors, number, middle) > 1 - confidence else (low, middle)
    return high


def passes(errors: int, number: int, level: float, confidence: float) -> bool:
    """Whether the upper bound is at or below the level."""
    return number > 0 and at_most(errors, number, level) <= 1 - confidence


def needed(errors: int, level: float, confidence: float) -> int:
    """The fewest answered labels that pass with so many errors.

    >>> [needed(errors, 0.1, 0.95) for errors in (0, 1, 2)]
    [29, 46, 61]
    """
    low, high = errors, 1
    while not passes(errors, high, level, confidence):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if passes(errors, middle, level, confidence) else (middle, high)
    return high


# --- P(wrong | answered) <= level -------------------------------------------------------------------------------------


def at_most_wrong(
    labels: Sequence[Labelled], level: float, confidence: float, *, least: float = 0.0, share: float = START_SHARE
) -> Passed | Failed:
    """The loosest threshold, not below `least`, that fixed-sequence testing reaches.

    The first one tested is the strictest with enough answered labels, which their scores decide and their labels do
    not; the first that fails ends it. The probability that P(wrong | answered) of the result passes the level is at
    most 1 - confidence wherever the share of wrong answers does not fall as the certainty falls: how many labels stand
    above the strictest thresholds then says nothing in favour of a looser one.
    """
    answered = _answered(labels)
    enough = _enough(len(answered), level, confidence, share)
    passed: Passed | None = None
    for threshold, number, errors in _counts(answered, least):
        if number < enough:
            continue
        if not passes(errors, number, level, confidence):
            return passed or Failed(number, errors, needed(errors, level, confidence), tested=True)
        passed = Passed(threshold, number, errors, upper_bound(errors, number, confidence))
    errors = sum(not one.right for one in answered)
    return passed or Failed(len(answered), errors, needed(errors, level, confidence), tested=False)


def _enough(answered: int, level: float, confidence: float, share: float) -> int:
    """Answered labels at the first threshold that is tested."""
    least, wanted = needed(0, level, confidence), needed(START_ERRORS, level, confidence)
    return max(least, min(wanted, answered), ceil(share * answered))


# --- E[wrong and answered] <= level -----------------------------------------------------------------------------------


def risk(labels: Sequence[Labelled], level: float, *, least: float = 0.0) -> Passed | Failed:
    """The loosest threshold, not below `least`, at which (errors + 1) / (labels + 1) is at most the level.

    An error is a wrong answer at or above the threshold; refusals count among the labels. On average over labels and
    question at most this share of all questions is then answered wrongly; it says nothing of one set of labels.
    """
    answered, passed = _answered(labels), None
    for threshold, number, errors in _counts(answered, least):
        if number and (errors + 1) / (len(labels) + 1) <= level:
            passed = Passed(threshold, number, errors, (errors + 1) / (len(labels) + 1))
    errors = sum(not one.right for one in answered)
    tested = 1 / (len(labels) + 1) <= level
    return passed or Failed(len(labels), errors, ceil((errors + 1) / level - 1 - 1e-9), tested)


# --- whether later questions are like the labelled ones ---------------------------------------------------------------


def shift(labelled: Sequence[float], recent: Sequence[float]) -> float:
    """The p-value that two samples of certainties are of one distribution.

    A permutation test of the largest distance between their distribution functions (Kolmogorov and Smirnov), which is
    exact with ties: refusals are all 0.
    """
    values = np.array([*labelled, *recent], np.float64)
    order = np.argsort(values, kind="stable")
    ends = np.append(np.diff(values[order]) > 0, True)  # where a distribution function may be read: not within a tie
    first = (np.arange(len(values)) < len(labelled))[order]
    drawn = np.random.default_rng(0).permuted(np.tile(first, (RESAMPLES, 1)), axis=1)
    seen = _distance(first[None, :], ends)[0]
    return float((1 + (_distance(drawn, ends) >= seen - 1e-12).sum()) / (RESAMPLES + 1))


def _distance(first: NDArray[np.bool_], ends: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Of each row the largest distance of the distribution functions of both samples, in the order of their values."""
    one, other = np.cumsum(first, axis=1), np.cumsum(~first, axis=1)
    apart = np.abs(one / one[:, -1:] - other / other[:, -1:])
    distances: NDArray[np.float64] = apart[:, ends].max(axis=1)
    return distances


def _answered(labels: Sequence[Labelled]) -> list[Labelled]:
    return [one for one in labels if one.certainty is not None]


def _counts(answered: Sequence[Labelled], least: float) -> Iterator[tuple[float, int, int]]:
    """Each threshold from strict to loose, the answered labels at or above it, and the wrong ones among them."""
    for threshold in THRESHOLDS:
        if threshold < least:
            return
        above = [one.right for one in answered if (one.certainty or 0.0) >= threshold]
        yield threshold, len(above), above.count(False)
