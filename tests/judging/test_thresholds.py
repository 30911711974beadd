from __future__ import annotations

import itertools
import json

import pytest
from hypothesis import given
from hypothesis import strategies as some

from tests.judging.scoring import ASKED, failing, scores
from thresher.errors import BudgetSpent, ProviderError
from thresher.judging.judge import Fixed, KeepAll, Threshold
from thresher.testing.fakes import ScriptedModel
from thresher_methods.thresholds import FromModel, Statistical

units = some.lists(some.floats(0, 1), min_size=1, max_size=30)


def kept(threshold: Statistical, *values: float | None) -> list[float | None]:
    cut = threshold(ASKED, scores(*values))
    return [value for value, keep in zip(values, cut.keep, strict=True) if keep]


def test_a_fixed_threshold_holds_its_own_value_or_not_and_none_keeps_all_that_have_a_score() -> None:
    given_scores = scores(0.4, 0.5, None, 0.6)
    assert Fixed(0.5)(ASKED, given_scores).keep == (False, True, False, True)
    assert Fixed(0.5, inclusive=False)(ASKED, given_scores).keep == (False, False, False, True)
    everything = KeepAll()(ASKED, given_scores)
    assert (everything.keep, everything.value) == ((True, True, False, True), None)


def test_scores_close_together_are_cut_a_standard_deviation_above_their_mean() -> None:
    # mean 0.8, population variance (4 + 0 + 0 + 4) / 4 / 10,000 = 0.0002
    cut = Statistical()(ASKED, scores(0.82, 0.8, 0.8, 0.78))
    assert cut.value == pytest.approx(0.8 + 0.0002**0.5)
    assert cut.keep == (True, False, False, False)
    assert cut.notes.facts == {"mean": 0.8, "variance": pytest.approx(0.0002)}
    apart = Statistical()(ASKED, scores(0.9, None, 0.2, 0.5, 0.4))
    assert (apart.value, apart.keep) == (0.5, (True, False, False, True, False))
    assert Statistical()(ASKED, scores(None, None)).keep == (False, False)


@pytest.mark.parametrize(
    ("threshold", "given_scores", "stay"),
    [
        (Statistical(), [0.4, 0.6], [0.6]),  # a variance of exactly epsilon is not below it: cut at 0.5
        (Statistical(), [0.401, 0.599, 0.401, 0.599], [0.599, 0.599]),
        (Statistical(), [0.7, 0.7, 0.7], [0.7] * 3),  # all equal
        (Statistical(), [0.05], [0.05]),
        (Statistical(min_keep=0), [2 / 3] * 7, [2 / 3] * 7),
        (Statistical(), [0.85, 0.85, 0.85, 0.8], [0.85] * 3),  # a tie of more than half at the top
        (Statistical(min_keep=0), [0.85, 0.85, 0.85, 0.8], []),  # as printed
        (Statistical(floor=0.2, min_keep=3), [0.1, 0.05, 0.19], []),
        (Statistical(floor=0.2, min_keep=3), [0.1, 0.05, 0.2], [0.2]),
        (Statistical(), [0.1, 0.05, 0.15], [0.15]),
    ],
)
def test_what_stays_of_close_and_equal_scores_and_above_a_floor(
    threshold: Threshold, given_scores: list[float], stay: list[float]
) -> None:
    assert kept(threshold, *given_scores) == stay


def test_as_printed_a_quarter_of_all_lists_of_five_close_scores_lose_everything() -> None:
    lists = list(itertools.product((0.8, 0.85, 0.9), repeat=5))
    empty = sum(not any(Statistical(min_keep=0)(ASKED, scores(*values)).keep) for values in lists)
    assert (empty, len(lists)) == (65, 243)
    assert all(any(Statistical()(ASKED, scores(*values)).keep) for values in lists)


@given(units, some.integers(1, 10))
def test_as_many_as_asked_for_stay_where_there_are_so_many(values: list[float], number: int) -> None:
    assert len(kept(Statistical(min_keep=number), *values)) >= min(number, len(values))


# --- from a model -----------------------------------------------------------------------------------------------------


def test_a_models_threshold_keeps_what_is_strictly_above() -> None:
    model = ScriptedModel([json.dumps({"scores": [0.5]})])
    cut = FromModel(model, Statistical())(ASKED, scores(0.5, 0.9, None, 0.51))
    assert (cut.value, cut.keep, cut.inclusive) == (0.5, (False, True, False, True), False)
    assert "Scores: 0.9, 0.51, 0.5" in model.seen[0][1]
    assert FromModel(ScriptedModel([]), Statistical())(ASKED, scores(None)).keep == (False,)  # not asked


@pytest.mark.parametrize(
    ("model", "unreadable", "why"),
    [
        (ScriptedModel(["about half", "seven"]), 2, "the model's threshold could not be read"),
        (failing(ProviderError("is down")), 0, "is down"),
        (failing(BudgetSpent("is spent")), 0, "is spent"),
    ],
)
def test_where_the_model_gives_none_the_threshold_is_computed_and_it_is_told(
    model: ScriptedModel, unreadable: int, why: str
) -> None:
    cut = FromModel(model, otherwise=Statistical(floor=0.6))(ASKED, scores(0.9, 0.1))
    assert (cut.value, cut.keep, cut.notes.unreadable) == (0.6, (True, False), unreadable)
    assert cut.notes.degraded == (f"judge: {why}; the threshold is from the mean of the scores",)
