from __future__ import annotations

import pytest

from tests.judging.scoring import ASKED, scores
from thresher.errors import UsageError
from thresher.judging.verdicts import Bounds, Operators
from thresher.types import COSINE, PROBABILITY, T5, UNIT, Score, Verdict

OPERATORS: tuple[Operators, ...] = ("blog", "paper", "code")


def of(*values: float) -> list[Score]:
    return [Score(value, UNIT) for value in values]


@pytest.mark.parametrize(
    ("operators", "at_upper", "at_lower"),
    [
        ("blog", Verdict.AMBIGUOUS, Verdict.INCORRECT),
        ("paper", Verdict.AMBIGUOUS, Verdict.AMBIGUOUS),
        ("code", Verdict.CORRECT, Verdict.AMBIGUOUS),
    ],
)
def test_exactly_seven_and_three_tenths_under_each_reading(
    operators: Operators, at_upper: Verdict, at_lower: Verdict
) -> None:
    bounds = Bounds(0.3, 0.7, operators)
    assert bounds.verdict(of(0.7, 0.1)) == at_upper
    assert bounds.verdict(of(0.3, 0.1)) == at_lower
    assert bounds.keeps(Score(0.3, UNIT)) == (operators != "blog")


@pytest.mark.parametrize("operators", OPERATORS)
@pytest.mark.parametrize(
    ("values", "verdict"),
    [
        ([0.71, 0.0], Verdict.CORRECT),
        ([0.0, 0.69, 0.1], Verdict.AMBIGUOUS),
        ([0.31, 0.0], Verdict.AMBIGUOUS),
        ([0.29, 0.0], Verdict.INCORRECT),
        ([], Verdict.INCORRECT),
    ],
)
def test_off_the_bounds_all_readings_agree(operators: Operators, values: list[float], verdict: Verdict) -> None:
    assert Bounds(0.3, 0.7, operators).verdict(of(*values)) == verdict


@pytest.mark.parametrize("operators", OPERATORS)
@pytest.mark.parametrize("value", [0.29, 0.3, 0.31])
def test_the_threshold_of_a_judge_keeps_what_the_bounds_keep(operators: Operators, value: float) -> None:
    bounds = Bounds(0.3, 0.7, operators)
    assert bounds.threshold(ASKED, scores(value)).keep == (bounds.keeps(Score(value, UNIT)),)


@pytest.mark.parametrize(("lower", "upper"), [(0.7, 0.3), (0.5, 0.5), (-0.1, 0.7), (0.3, 1.1)])
def test_bounds_out_of_order_or_off_their_scale_are_refused(lower: float, upper: float) -> None:
    with pytest.raises(UsageError, match="relevance"):
        Bounds(lower, upper)


def test_scores_of_another_range_are_refused() -> None:
    with pytest.raises(UsageError, match="T5 evaluator"):
        Bounds(0.3, 0.7).verdict([Score(-0.5, T5)])
    with pytest.raises(UsageError, match="cosine"):
        Bounds(0.3, 0.7).keeps(Score(0.5, COSINE))
    assert Bounds(0.3, 0.7).verdict([Score(0.8, PROBABILITY)]) == Verdict.CORRECT


def test_bounds_may_be_on_the_scale_of_the_evaluator() -> None:
    assert Bounds(-0.99, 0.59, "paper", T5).verdict([Score(-0.985, T5)]) == Verdict.AMBIGUOUS
    assert Bounds(-0.995, 0.592, "code", T5).verdict([Score(0.592, T5)]) == Verdict.CORRECT
