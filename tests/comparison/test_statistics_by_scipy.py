"""Intervals and paired tests against scipy's own, and risk-coverage by a loop."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats  # type: ignore[import-untyped, unused-ignore]

from thresher_evals.stats import (
    Counts,
    Forecast,
    aurc_interval,
    mean_interval,
    paired_t,
    permutation_test,
    pooled_interval,
    sign_test,
    wilson_interval,
)


def pairs(n: int, seed: int, *, digits: int) -> tuple[list[float], list[float]]:
    """Two recipes' numbers on the same questions; few digits make ties."""
    source = np.random.default_rng(seed)
    first = source.random(n)
    second = np.clip(first + source.normal(0.05, 0.2, size=n), 0, 1)
    return list(np.round(first, digits)), list(np.round(second, digits))


@pytest.mark.parametrize("seed", range(5))
def test_the_bootstrap_interval_of_a_mean(seed: int) -> None:
    values = np.random.default_rng(seed).random(60) ** 2
    ours = mean_interval(list(values))
    theirs = stats.bootstrap((values,), np.mean, n_resamples=10_000, method="percentile", rng=7).confidence_interval
    assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high), abs=0.006)


@pytest.mark.parametrize(("successes", "n"), [(0, 20), (1, 3), (17, 40), (50, 50), (1, 1000)])
def test_wilson(successes: int, n: int) -> None:
    ours = wilson_interval(successes, n)
    theirs = stats.binomtest(successes, n).proportion_ci(method="wilson")
    assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high))
    z = stats.norm.ppf(0.975)
    middle, half = successes / n + z**2 / (2 * n), z * np.sqrt(successes * (n - successes) / n**3 + z**2 / (4 * n**2))
    by_hand = (middle - half) / (1 + z**2 / n), (middle + half) / (1 + z**2 / n)
    assert (ours.low, ours.high) == pytest.approx(by_hand, abs=1e-12)


@pytest.mark.parametrize(("lost", "won"), [(0, 0), (6, 1), (10, 10), (3, 30)])
def test_the_sign_test_which_is_mcnemars_of_zeros_and_ones(lost: int, won: int) -> None:
    first, second = [1.0] * lost + [0.0] * won + [1.0] * 5, [0.0] * lost + [1.0] * won + [1.0] * 5
    theirs = stats.binomtest(won, won + lost, 0.5).pvalue if won + lost else 1
    assert sign_test(first, second) == pytest.approx(theirs)


@pytest.mark.parametrize("seed", range(5))
def test_the_paired_t_test(seed: int) -> None:
    first, second = pairs(40, seed, digits=6)
    assert paired_t(first, second) == pytest.approx(stats.ttest_rel(second, first).pvalue)


def their_permutation_test(first: list[float], second: list[float]) -> float:
    """scipy's, which draws pairs to turn round one by one."""

    def mean_difference(one: np.ndarray, other: np.ndarray, axis: int) -> np.ndarray:
        return np.asarray(np.mean(other - one, axis=axis))

    done = stats.permutation_test(
        (first, second), mean_difference, permutation_type="samples", n_resamples=10_000, vectorized=True, rng=7
    )
    return float(done.pvalue)


@pytest.mark.parametrize("digits", [1, 6])
def test_the_exact_permutation_test(digits: int) -> None:
    for seed in range(5):
        first, second = pairs(9, seed, digits=digits)
        assert permutation_test(first, second) == pytest.approx(their_permutation_test(first, second))


@pytest.mark.parametrize("digits", [1, 6])
def test_the_permutation_test_of_many_pairs(digits: int) -> None:
    first, second = pairs(60, 3, digits=digits)
    assert permutation_test(first, second) == pytest.approx(their_permutation_test(first, second), abs=0.015)


@pytest.mark.parametrize("digits", [1, 12])
def test_the_area_under_the_risk_coverage_curve(digits: int) -> None:
    source = np.random.default_rng(5)
    forecasts = [Forecast(round(float(p), digits), float(source.random() > p)) for p in source.random(200)]
    risks = []
    for forecast in forecasts:
        kept = [other.outcome for other in forecasts if other.probability >= forecast.probability]
        risks.append(sum(kept) / len(kept))
    ours = aurc_interval(forecasts)
    assert ours.value == pytest.approx(np.mean(risks))
    assert ours.low is not None
    assert ours.high is not None
    assert ours.low < np.mean(risks) < ours.high


def test_the_interval_of_a_micro_average() -> None:
    source = np.random.default_rng(6)
    counts = [Counts(int(source.integers(0, 6)), 5, 0, int(source.integers(1, 4))) for _ in range(80)]
    relevant, hits = np.array([one.relevant for one in counts]), np.array([one.hits for one in counts])

    def pooled(found: np.ndarray, asked: np.ndarray, axis: int) -> np.ndarray:
        return np.asarray(found.sum(axis=axis) / asked.sum(axis=axis))

    theirs = stats.bootstrap(
        (relevant, hits), pooled, paired=True, n_resamples=10_000, method="percentile", rng=7
    ).confidence_interval
    ours = pooled_interval(counts, "P")
    assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high), abs=0.006)
