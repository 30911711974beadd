"""Thresholds of judges: the score that is right most often."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as some

from benchmarks.studies.judge_accuracy import balanced, best_threshold, share_right
from thresher_evals.stats import Forecast


def test_the_threshold_is_the_score_that_is_right_most_often() -> None:
    found = [Forecast(0.9, 1), Forecast(0.7, 0), Forecast(0.6, 1), Forecast(0.5, 1), Forecast(0.1, 0)]
    assert best_threshold(found) == 0.5
    assert share_right(found, 0.5) == 0.8
    assert balanced(found, 0.5) == (1 + 0.5) / 2


def test_a_judge_that_is_wrong_about_every_yes_says_never() -> None:
    found = [Forecast(0.9, 0), Forecast(0.8, 0), Forecast(0.1, 1)]
    threshold = best_threshold(found)
    assert threshold is not None
    assert threshold > 0.9
    assert best_threshold([]) is None


FORECASTS = some.lists(
    some.tuples(some.sampled_from([0.1, 0.3, 0.5, 0.7]), some.sampled_from([0.0, 1.0])).map(lambda one: Forecast(*one)),
    min_size=1,
    max_size=12,
)


@given(FORECASTS)
def test_no_other_threshold_is_right_more_often(found: list[Forecast]) -> None:
    threshold = best_threshold(found)
    assert threshold is not None
    chosen = share_right(found, threshold)
    assert chosen is not None
    assert all(chosen >= (share_right(found, other) or 0) for other in (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 1.0))
