"""Intervals and tests against scipy, closed forms and a published example."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats  # type: ignore[import-untyped, unused-ignore]
from sklearn.metrics import roc_auc_score  # type: ignore[import-untyped, unused-ignore]

from thresher_evals.stats import (
    Comparison,
    Counts,
    Forecast,
    aurc_interval,
    auroc_interval,
    corrected,
    ece_interval,
    holm,
    mean_interval,
    paired_difference,
    paired_t,
    paired_tests,
    permutation_test,
    pooled_interval,
    quantile_interval,
    shared_difference,
    sign_test,
)

VALUES = st.lists(st.floats(0, 1), min_size=1, max_size=40)


def test_1399_questions_are_known_to_about_2_6_points() -> None:
    interval = mean_interval([1.0] * 769 + [0.0] * 630)
    assert interval.low is not None
    assert interval.high is not None
    assert (interval.high - interval.low) / 2 == pytest.approx(0.026, abs=0.001)


def test_the_interval_of_a_quantile_agrees_with_scipy() -> None:
    values = np.random.default_rng(2).exponential(size=201)
    for quantile in (0.5, 0.95):
        ours = quantile_interval(list(values), quantile)

        def nearest(sample: np.ndarray, axis: int, quantile: float = quantile) -> np.ndarray:
            return np.asarray(np.quantile(sample, quantile, axis=axis, method="inverted_cdf"))

        theirs = stats.bootstrap((values,), nearest, n_resamples=10_000, method="percentile", rng=7).confidence_interval
        ordered = np.sort(values)
        assert ours.low is not None
        assert ours.high is not None
        for mine, other in ((ours.low, theirs.low), (ours.high, theirs.high)):
            assert abs(np.searchsorted(ordered, mine) - np.searchsorted(ordered, other)) <= 1
        assert ours.value == pytest.approx(np.quantile(values, quantile))


def test_the_sign_test_gives_the_published_p_for_10_gains_3_losses_and_8_ties() -> None:
    second = [1.0] * 10 + [-1.0] * 3 + [0.0] * 8
    assert sign_test([0.0] * 21, second) == pytest.approx(0.092, abs=0.0005)


def test_no_difference_has_p_one_and_a_clear_one_a_small_p() -> None:
    same = paired_difference([0.5] * 10, [0.5] * 10)
    assert (same.difference, same.low, same.high, same.p) == (0, 0, 0, 1)
    clear = paired_difference([0.0] * 30, [1.0] * 30)
    assert clear.p == pytest.approx(
        1 / 10_001
    )  # of as many random ways to turn the pairs round, only the sample itself
    assert paired_difference([], []).difference is None


@given(VALUES, st.integers(0, 3))
def test_an_interval_holds_its_value_and_stays_within_the_data(values: list[float], seed: int) -> None:
    for interval in (
        mean_interval(values, seed=seed, resamples=200),
        *(quantile_interval(values, q) for q in (0.5, 0.95)),
    ):
        assert interval.value is not None
        assert interval.low is not None
        assert interval.high is not None
        assert min(values) - 1e-9 <= interval.low <= interval.value + 1e-9
        assert interval.value - 1e-9 <= interval.high <= max(values) + 1e-9


# --- forecasts --------------------------------------------------------------------------------------------------------

FORECASTS = st.lists(
    st.builds(Forecast, st.one_of(st.floats(0, 1), st.sampled_from([0.0, 0.5, 1.0])), st.sampled_from([0.0, 1.0])),
    min_size=1,
    max_size=40,
)


def random_forecasts(n: int, *, seed: int, digits: int) -> list[Forecast]:
    """Forecasts that are somewhat right; few digits make ties."""
    source = np.random.default_rng(seed)
    probabilities = np.round(source.random(n), digits)
    return [Forecast(float(p), float(source.random() < 0.2 + 0.6 * p)) for p in probabilities]


@pytest.mark.parametrize("digits", [1, 2, 12])
def test_auroc_agrees_with_scikit_learn(digits: int) -> None:
    forecasts = random_forecasts(300, seed=digits, digits=digits)
    outcomes, probabilities = [one.outcome for one in forecasts], [one.probability for one in forecasts]
    assert auroc_interval(forecasts).value == pytest.approx(roc_auc_score(outcomes, probabilities))


def test_forecasts_by_hand() -> None:
    forecasts = [Forecast(0.9, 1), Forecast(0.4, 0), Forecast(0.4, 1), Forecast(0.1, 0)]
    # Pairs of one that was so and one that was not: 1, 1, a tie, 1.
    assert auroc_interval(forecasts).value == pytest.approx(3.5 / 4)
    # Bins: |1 - 0.9| + |1 - 0.8| + |0 - 0.1| over four.
    assert ece_interval(forecasts).value == pytest.approx(0.4 / 4)
    assert ece_interval([Forecast(1.0, 1.0)]).value == 0
    assert (ece_interval([]).value, auroc_interval([]).n) == (None, 0)


@given(FORECASTS, st.randoms(use_true_random=False))
def test_forecasts_may_come_in_any_order_and_their_interval_holds_the_value(
    forecasts: list[Forecast], shuffler: random.Random
) -> None:
    shuffled = list(forecasts)
    shuffler.shuffle(shuffled)
    for measured in (auroc_interval, ece_interval, aurc_interval):
        interval = measured(forecasts, resamples=50)
        assert interval == measured(shuffled, resamples=50)
        if interval.value is not None:
            assert interval.low is not None
            assert interval.high is not None
            assert 0 <= interval.low <= interval.value <= interval.high <= 1 + 1e-9


# --- counts and tests -------------------------------------------------------------------------------------------------


def test_pooled_counts_by_hand() -> None:
    counts = [Counts(1, 5, 1, 1), Counts(3, 5, 2, 4), Counts(0, 5, 0, 1)]
    assert pooled_interval(counts, "P").value == pytest.approx(4 / 15)
    assert pooled_interval(counts, "R").value == pytest.approx(3 / 6)
    assert pooled_interval(counts, "F1").value == pytest.approx(2 * (4 / 15) * (3 / 6) / (4 / 15 + 3 / 6))
    assert pooled_interval([Counts(0, 5, 0, 0)], "F1").value == 0
    assert pooled_interval([], "P").n == 0


def test_tests_by_hand() -> None:
    first, second = [0.0, 0.0, 0.0, 0.0], [1.0, 1.0, 1.0, 0.0]
    assert permutation_test(first, second) == pytest.approx(2 / 8)  # all one way or all the other
    assert permutation_test([0.0, 0.0], [0.2, -0.2]) == 1
    assert set(paired_tests(first, second)) == {"paired t", "permutation", "sign"}
    assert set(paired_tests([0.0, 0.0], [1.0, 1.0])) == {"permutation", "sign"}
    assert paired_t([0.0], [1.0]) is None


def test_holm_by_hand() -> None:
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])  # 3 * .01, then 2 * .03, then never less
    assert holm([0.9, 0.8]) == [1.0, 1.0]
    assert holm([0.02]) == [0.02]
    assert holm([]) == []


@pytest.mark.parametrize(
    ("difference", "p", "p_holm", "direction"),
    [(0.2, 0.01, None, 1), (-0.2, 0.01, 0.04, -1), (0.2, 0.01, 0.06, 0), (0.2, 0.05, None, 0), (None, None, None, 0)],
)
def test_a_difference_has_a_direction_only_beyond_chance(
    difference: float | None, p: float | None, p_holm: float | None, direction: int
) -> None:
    assert Comparison(difference, p=p, p_holm=p_holm).direction == direction


def test_only_questions_that_both_have_are_compared() -> None:
    compared = shared_difference({"a": 0, "b": 1, "c": 1}, {"b": 0, "a": 1, "d": 0})
    assert (compared.n, compared.better, compared.worse, compared.difference) == (2, 1, 1, 0)
    assert corrected([compared, Comparison()])[1] == Comparison()
