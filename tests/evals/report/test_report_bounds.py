"""Other bounds, other verdicts: from the best score alone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thresher.judging.verdicts import Bounds
from thresher.types import UNIT, Score, Verdict
from thresher_evals.report.verdicts import JudgedQuestion, Operators, hits, used_bounds, verdict_at

INSIDE, BETWEEN, OUTSIDE = (
    JudgedQuestion(0.8, True, Verdict.CORRECT, 0.3, 0.7),
    JudgedQuestion(0.5, True, Verdict.AMBIGUOUS, 0.3, 0.7),
    JudgedQuestion(0.1, False, Verdict.INCORRECT, 0.3, 0.7),
)


@given(st.floats(0, 1), st.floats(0, 0.49), st.floats(0.5, 1), st.sampled_from(["blog", "paper", "code"]))
def test_a_verdict_is_what_the_recipes_would_have_decided(
    best: float, lower: float, upper: float, operators: Operators
) -> None:
    decided = Bounds(lower, upper, operators).verdict([Score(best, UNIT)])
    assert verdict_at(JudgedQuestion(best, True, Verdict.UNSURE), lower, upper, operators) is decided


@pytest.mark.parametrize(
    ("operators", "at_upper", "at_lower"),
    [
        ("blog", Verdict.AMBIGUOUS, Verdict.INCORRECT),
        ("paper", Verdict.AMBIGUOUS, Verdict.AMBIGUOUS),
        ("code", Verdict.CORRECT, Verdict.AMBIGUOUS),
    ],
)
def test_a_score_on_a_bound_is_read_as_each_source_does(
    operators: Operators, at_upper: Verdict, at_lower: Verdict
) -> None:
    assert verdict_at(JudgedQuestion(0.7, True, Verdict.CORRECT), 0.3, 0.7, operators) is at_upper
    assert verdict_at(JudgedQuestion(0.3, True, Verdict.CORRECT), 0.3, 0.7, operators) is at_lower


def test_an_empty_retrieval_stays_incorrect_whatever_the_bounds() -> None:
    assert verdict_at(JudgedQuestion(None, False, Verdict.INCORRECT), 0.0, 0.1, "blog") is Verdict.INCORRECT


def test_staying_is_right_inside_and_going_is_right_outside() -> None:
    points = [INSIDE, BETWEEN, OUTSIDE]
    assert hits(points, 0.3, 0.7, "blog", decided=False) == [1, 0, 1]
    assert hits(points, 0.3, 0.4, "blog", decided=False) == [1, 1, 1]
    assert hits(points, 0.0, 0.7, "blog", decided=False) == [1, 0, 1], "the lower bound does not count"
    assert hits(points, 0.0, 0.7, "blog", decided=True) == [1, 0, 0], "undecided is right nowhere"


def test_the_bounds_that_were_used_come_from_the_rows() -> None:
    assert used_bounds([INSIDE, BETWEEN, OUTSIDE]) == (0.3, 0.7)
    assert used_bounds([JudgedQuestion(None, True, Verdict.INCORRECT)]) is None
