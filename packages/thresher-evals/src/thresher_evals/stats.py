"""Statistics: intervals of one recipe, and differences between two on the same questions.

Everything is deterministic for a seed and independent of the order of questions. Bounds agree with scipy's bootstrap
and permutation tests; drawing the count of each distinct value, instead of single values, is much faster.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from thresher.errors import MissingExtra

try:
    from scipy import stats  # type: ignore[import-untyped, unused-ignore]
except ModuleNotFoundError as error:
    if error.name != "scipy":
        raise
    raise MissingExtra("scipy", distribution="thresher-evals") from error

BINS = 10  # of equal width, as in the definition (Naeini et al. 2015, section 3)
RESAMPLES = 10_000  # Efron and Tibshirani 1993, section 13.3, ask for at least 1,000 for percentile intervals
LEVEL = 0.95
ALPHA = 0.05  # two-sided significance level: the customary one (Fisher 1925)
TAILS = (1 - LEVEL) / 2, (1 + LEVEL) / 2
PART = 1000  # resamples at a time: with a thousand distinct values they take 8 MB

Drawn = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Interval:
    """A value with its 95 % interval; all None if undefined (often because n is 0)."""

    value: float | None
    low: float | None
    high: float | None
    n: int

    def to_dict(self) -> dict[str, Any]:
        """JSON form of the API."""
        return asdict(self)


NOTHING_MEASURED = Interval(None, None, None, 0)


class Forecast(NamedTuple):
    """A probability (0..1) and its outcome: 1 if the event occurred, else 0."""

    probability: float
    outcome: float


class Counts(NamedTuple):
    """Of one question: relevant ones among the first hits, and gold passages that they meet."""

    relevant: int
    hits: int
    met: int
    gold: int


@dataclass(frozen=True, slots=True)
class Comparison:
    """Second minus first over the same `n` questions; `p` is two-sided, for no difference."""

    difference: float | None = None
    low: float | None = None
    high: float | None = None
    p: float | None = None
    p_holm: float | None = None
    """p, corrected for the other recipes compared with the same one."""
    test: str = "permutation"
    better: int = 0
    """Questions with a higher value of the second."""
    worse: int = 0
    n: int = 0
    tests: Mapping[str, float] = field(default_factory=dict)
    """Uncorrected p of every applicable test, by name. See `paired_tests`."""

    @property
    def p_of_several(self) -> float | None:
        """p, corrected if it is one of several."""
        return self.p if self.p_holm is None else self.p_holm

    @property
    def direction(self) -> int:
        """1 if the second is significantly higher, -1 if lower, 0 otherwise."""
        p = self.p_of_several
        if p is None or p >= ALPHA or not self.difference:
            return 0
        return 1 if self.difference > 0 else -1

    def to_dict(self) -> dict[str, Any]:
        """JSON form, an entry of `against`."""
        return asdict(self)


# --- one recipe -------------------------------------------------------------------------------------------------------


def mean_interval(values: Sequence[float], *, seed: int = 0, resamples: int = RESAMPLES) -> Interval:
    """Mean and its bootstrap percentile interval (Efron 1979)."""
    if not len(values):
        return NOTHING_MEASURED
    value = math.fsum(values) / len(values)
    low, high = mean_bounds(tuple(sorted(values)), seed, resamples)
    # For equal values the two sums may differ in the last bit.
    return Interval(value, min(value, low), max(value, high), len(values))


def proportion_interval(values: Sequence[float], *, seed: int = 0, resamples: int = RESAMPLES) -> Interval:
    """As `mean_interval` for zeros and ones; Wilson's interval if all are equal, where no resample differs."""
    if set(values) in ({0.0}, {1.0}):
        return wilson_interval(round(math.fsum(values)), len(values))
    return mean_interval(values, seed=seed, resamples=resamples)


def wilson_interval(successes: int, n: int) -> Interval:
    """A proportion and its score interval (Wilson 1927)."""
    if not n:
        return NOTHING_MEASURED
    low, high = stats.binomtest(successes, n).proportion_ci(LEVEL, method="wilson")
    return Interval(successes / n, float(low), float(high), n)


def quantile_interval(values: Sequence[float], quantile: float, *, seed: int = 0) -> Interval:
    """Quantile (interpolated) and the percentile interval of its exact bootstrap distribution.

    Independent of `seed`, a parameter of all intervals. A resampled order statistic is at most the j-th value if at
    least that many of n draws are, so its distribution is binomial (Efron 1979, section 3, for the median).
    """
    n = len(values)
    if not n:
        return NOTHING_MEASURED
    ordered = np.sort(np.asarray(values, dtype=np.float64))
    rank = max(1, math.ceil(quantile * n))
    at_most = stats.binom.sf(rank - 1, n, np.arange(1, n + 1) / n)
    low, high = (ordered[min(n - 1, int(np.searchsorted(at_most, tail)))] for tail in TAILS)
    return Interval(float(np.quantile(ordered, quantile)), float(low), float(high), n)


# --- how good probabilities are ---------------------------------------------------------------------------------------


def auroc_interval(forecasts: Sequence[Forecast], *, seed: int = 0, resamples: int = RESAMPLES) -> Interval:
    """Probability that a forecast of a true event exceeds one of a false event; ties count half (Hanley and McNeil
    1982).

    None if all outcomes are equal. The bootstrap interval is over resamples with both outcomes.
    """
    distinct, counts = distinct_rows(forecasts)
    if {outcome for _, outcome in distinct.tolist()} != {0.0, 1.0}:
        return Interval(None, None, None, len(forecasts))
    place, so = columns(distinct[:, 0]), distinct[:, 1:]

    def auroc(drawn: Drawn) -> Drawn:
        hits, misses = drawn @ (place * so), drawn @ (place * (1 - so))
        above = (hits * (np.cumsum(misses, axis=1) - misses / 2)).sum(axis=1)
        pairs = hits.sum(axis=1) * misses.sum(axis=1)
        chances: Drawn = above[pairs > 0] / pairs[pairs > 0]
        return chances

    return drawn_interval(auroc, counts, seed=seed, resamples=resamples)


def ece_interval(forecasts: Sequence[Forecast], *, seed: int = 0, resamples: int = RESAMPLES) -> Interval:
    """Expected calibration error (Naeini et al. 2015): mean over the forecasts of |frequency - probability| of its bin.

    Noise within bins increases it, more in resamples than in the sample, so the interval is biased upwards.
    """
    if not forecasts:
        return NOTHING_MEASURED
    distinct, counts = distinct_rows(forecasts)
    bins = np.clip((distinct[:, 0] * BINS).astype(int), 0, BINS - 1)
    surplus = np.eye(BINS)[bins] * (distinct[:, 1] - distinct[:, 0])[:, None]

    def ece(drawn: Drawn) -> Drawn:
        errors: Drawn = np.abs(drawn @ surplus).sum(axis=1) / len(forecasts)
        return errors

    return drawn_interval(ece, counts, seed=seed, resamples=resamples)


def aurc_interval(forecasts: Sequence[Forecast], *, seed: int = 0, resamples: int = RESAMPLES) -> Interval:
    """Area under the risk-coverage curve (Geifman and El-Yaniv 2017); the outcome of a forecast is a wrong answer.

    The mean, over the answers, of the share of wrong ones among those with at least the same confidence: 0 if nothing
    is wrong, the share of wrong answers if confidence is uninformative. Ties in confidence are taken together.
    """
    if not forecasts:
        return NOTHING_MEASURED
    distinct, counts = distinct_rows(forecasts)
    place, wrong = columns(-distinct[:, 0]), distinct[:, 1:]

    def aurc(drawn: Drawn) -> Drawn:
        answered = drawn @ place
        so_far = np.cumsum(answered, axis=1)
        risk = np.cumsum(drawn @ (place * wrong), axis=1) / np.maximum(so_far, 1)
        area: Drawn = (answered * risk).sum(axis=1) / len(forecasts)
        return area

    return drawn_interval(aurc, counts, seed=seed, resamples=resamples)


def columns(values: Drawn) -> Drawn:
    """(rows, distinct values) 1 if a row has the value; the values ascend."""
    column = np.unique(values, return_inverse=True)[1].ravel()
    return np.eye(column.max() + 1)[column]


# --- counts of all questions together ---------------------------------------------------------------------------------


def pooled_interval(counts: Sequence[Counts], share: str, *, seed: int = 0, resamples: int = RESAMPLES) -> Interval:
    """`P`, `R` or `F1` of the summed counts (micro average), with its bootstrap interval over the questions."""
    if not counts:
        return NOTHING_MEASURED
    distinct, times = distinct_rows(counts)

    def pooled(drawn: Drawn) -> Drawn:
        relevant, hits, met, gold = (drawn @ distinct).T
        precision, recall = relevant / np.maximum(hits, 1), met / np.maximum(gold, 1)
        both = precision + recall
        f1 = np.divide(2 * precision * recall, both, out=np.zeros_like(both), where=both > 0)
        shares: Mapping[str, Drawn] = {"P": precision, "R": recall, "F1": f1}
        return shares[share]

    return drawn_interval(pooled, times, seed=seed, resamples=resamples)


# --- the bootstrap ----------------------------------------------------------------------------------------------------


def drawn_interval(measure: Callable[[Drawn], Drawn], counts: Drawn, *, seed: int, resamples: int) -> Interval:
    """A statistic with its bootstrap interval; `measure` maps (resamples, distinct rows) counts to (resamples,)."""
    value = float(measure(counts[None, :])[0])
    low, high = drawn_bounds(measure, counts, seed=seed, resamples=resamples)
    return Interval(value, min(value, low), max(value, high), int(counts.sum()))


def drawn_bounds(measure: Callable[[Drawn], Drawn], counts: Drawn, *, seed: int, resamples: int) -> tuple[float, float]:
    """The 95 % percentile interval of a statistic over samples drawn with replacement.

    The counts of distinct rows are multinomial: the same distribution as drawing single questions, less work if rows
    repeat (most are 0 or 1), and independent of their order.
    """
    n, source = int(counts.sum()), np.random.default_rng(seed)
    parts = [min(PART, resamples - start) for start in range(0, resamples, PART)]
    drawn = [measure(source.multinomial(n, counts / n, size=size).astype(np.float64)) for size in parts]
    low, high = np.quantile(np.concatenate(drawn), TAILS)
    return float(low), float(high)


@lru_cache(maxsize=10_000)  # a report repeats the same numbers
def mean_bounds(values: tuple[float, ...], seed: int, resamples: int) -> tuple[float, float]:
    """The same for means."""
    distinct, counts = np.unique(np.asarray(values, dtype=np.float64), return_counts=True)
    times = counts.astype(np.float64)
    return drawn_bounds(lambda drawn: drawn @ distinct / len(values), times, seed=seed, resamples=resamples)


def distinct_rows(rows: Sequence[Forecast] | Sequence[Counts]) -> tuple[Drawn, Drawn]:
    """(d, fields) distinct rows in ascending order, and (d,) how often each occurs."""
    distinct, counts = np.unique(np.asarray(rows, dtype=np.float64), axis=0, return_counts=True)
    return distinct, counts.astype(np.float64)


# --- two recipes on the same questions --------------------------------------------------------------------------------


def paired_difference(
    first: Sequence[float], second: Sequence[float], *, seed: int = 0, resamples: int = RESAMPLES
) -> Comparison:
    """Mean difference, second minus first, its paired bootstrap interval (Efron and Tibshirani 1993, 16), and p.

    p is the permutation test's: with few pairs of the same sign the bootstrap's would be far too small.
    """
    differences = subtract(first, second)
    if not differences:
        return Comparison()
    low, high = mean_bounds(tuple(sorted(differences)), seed, resamples)
    better, worse = signs(differences)
    tests = paired_tests(first, second, seed=seed, resamples=resamples)
    return Comparison(
        math.fsum(differences) / len(differences),
        low,
        high,
        tests["permutation"],
        better=better,
        worse=worse,
        n=len(differences),
        tests=tests,
    )


def shared_difference(first: Mapping[str, float], second: Mapping[str, float], *, seed: int = 0) -> Comparison:
    """The same for numbers by question id, on shared questions."""
    shared = [id for id in first if id in second]
    return paired_difference([first[id] for id in shared], [second[id] for id in shared], seed=seed)


def paired_tests(
    first: Sequence[float], second: Sequence[float], *, seed: int = 0, resamples: int = RESAMPLES
) -> dict[str, float]:
    """Two-sided p of each applicable test: t only if differences vary."""
    found = {
        "paired t": paired_t(first, second),
        "permutation": permutation_test(first, second, seed=seed, resamples=resamples),
        "sign": sign_test(first, second),
    }
    return {name: p for name, p in found.items() if p is not None}


def paired_t(first: Sequence[float], second: Sequence[float]) -> float | None:
    """Two-sided p of Student's paired t test; None if all differences are equal, or for one question."""
    differences = np.sort(np.asarray(subtract(first, second), dtype=np.float64))
    n = len(differences)
    error = differences.std(ddof=1) / math.sqrt(n) if n > 1 else 0.0
    # Equal differences may differ in the last bits.
    if error <= 1e-12 * abs(differences).max(initial=0.0):
        return None
    return float(2 * stats.t.sf(abs(differences.mean() / error), n - 1))


def permutation_test(
    first: Sequence[float], second: Sequence[float], *, seed: int = 0, resamples: int = RESAMPLES
) -> float:
    """Two-sided p of the mean difference under random exchange within pairs (Fisher 1935, 21).

    Exact for at most `resamples` exchanges; otherwise over that many random ones, with the sample itself counted as
    one.
    """
    return turned_round(tuple(sorted(one for one in subtract(first, second) if one)), seed, resamples)


@lru_cache(maxsize=10_000)  # as above
def turned_round(unequal: tuple[float, ...], seed: int, resamples: int) -> float:
    """The p of the permutation test for non-zero differences."""
    differences = np.asarray(unequal, dtype=np.float64)
    sizes, times = np.unique(np.abs(differences), return_counts=True)
    # Sums of the same numbers in another order may differ in the last bits.
    observed = abs(math.fsum(differences)) - 1e-9 * math.fsum(np.abs(differences))
    if 2 ** len(differences) <= resamples:
        ways = np.arange(2 ** len(differences))[:, None] >> np.arange(len(differences)) & 1
        return float((np.abs((2 * ways - 1) @ np.abs(differences)) >= observed).mean())
    source = np.random.default_rng(seed)
    beyond = 0
    for start in range(0, resamples, PART):
        # How many pairs of one size keep their order is binomial.
        kept = source.binomial(times, 0.5, size=(min(PART, resamples - start), len(sizes)))
        beyond += int((np.abs((2 * kept - times) @ sizes) >= observed).sum())
    return (1 + beyond) / (resamples + 1)


def sign_test(first: Sequence[float], second: Sequence[float]) -> float:
    """Two-sided exact p that the second is as often higher as lower; ties are ignored. McNemar's of zeros and ones."""
    better, worse = signs(subtract(first, second))
    return float(stats.binomtest(better, better + worse).pvalue) if better + worse else 1.0


def holm(ps: Sequence[float]) -> list[float]:
    """Each p corrected for multiple tests, in the given order (Holm 1979)."""
    corrected = [0.0] * len(ps)
    largest = 0.0
    for step, position in enumerate(sorted(range(len(ps)), key=lambda position: ps[position])):
        largest = max(largest, min(1.0, (len(ps) - step) * ps[position]))
        corrected[position] = largest
    return corrected


def corrected(comparisons: Sequence[Comparison]) -> list[Comparison]:
    """The comparisons with corrected p values; those without a p do not count."""
    ps = iter(holm([comparison.p for comparison in comparisons if comparison.p is not None]))
    return [comparison if comparison.p is None else replace(comparison, p_holm=next(ps)) for comparison in comparisons]


def signs(differences: Sequence[float]) -> tuple[int, int]:
    """Numbers of positive and negative differences."""
    return sum(value > 0 for value in differences), sum(value < 0 for value in differences)


def subtract(first: Sequence[float], second: Sequence[float]) -> list[float]:
    """Second minus first, question by question."""
    return [later - earlier for earlier, later in zip(first, second, strict=True)]
