"""Other bounds, other verdicts: from the best score alone."""

from __future__ import annotations

import csv

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thresher.judging.verdicts import Bounds, Operators
from thresher.types import UNIT, Score, Verdict
from thresher_evals.report.verdicts import STEPS, BoundsMap, JudgedQuestion, verdict_at
from thresher_evals.report.write import Report

INSIDE, BETWEEN, OUTSIDE = (
    JudgedQuestion(0.8, True, Verdict.CORRECT, 0.3, 0.7),
    JudgedQuestion(0.5, True, Verdict.AMBIGUOUS, 0.3, 0.7),
    JudgedQuestion(0.1, False, Verdict.INCORRECT, 0.3, 0.7),
)
THREE = BoundsMap([INSIDE, BETWEEN, OUTSIDE], "blog")


@given(st.floats(0, 1), st.floats(0, 0.49), st.floats(0.5, 1), st.sampled_from(["blog", "paper", "code"]))
def test_a_verdict_is_what_the_recipes_would_have_decided(
    best: float, lower: float, upper: float, operators: Operators
) -> None:
    assert verdict_at(best, lower, upper, operators) is Bounds(lower, upper, operators).verdict([Score(best, UNIT)])


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
    assert (verdict_at(0.7, 0.3, 0.7, operators), verdict_at(0.3, 0.3, 0.7, operators)) == (at_upper, at_lower)


def test_an_empty_retrieval_stays_incorrect_whatever_the_bounds() -> None:
    empty = BoundsMap([JudgedQuestion(None, False, Verdict.INCORRECT)], "blog")
    assert empty.verdicts(0.0, 0.1) == [Verdict.INCORRECT]
    assert empty.used is None


def test_staying_is_right_inside_and_going_is_right_outside() -> None:
    assert THREE.hits(0.3, 0.7, decided=False) == [1, 0, 1]
    assert THREE.hits(0.3, 0.4, decided=False) == [1, 1, 1]
    assert THREE.hits(0.0, 0.7, decided=False) == [1, 0, 1], "the lower bound does not count"
    assert THREE.hits(0.0, 0.7, decided=True) == [1, 0, 0], "undecided is right nowhere"


@pytest.mark.parametrize("operators", ["blog", "paper", "code"])
def test_the_map_has_the_share_of_every_pair_of_bounds(operators: Operators) -> None:
    one = BoundsMap(THREE.questions, operators)
    for row, upper in enumerate(one.grid):
        for column, lower in enumerate(one.grid):
            for decided in (False, True):
                share = one.shares[decided][row, column]
                hits = one.hits(lower, upper, decided=decided)
                assert (share == pytest.approx(sum(hits) / 3)) if lower <= upper else share != share


def test_the_bounds_that_were_used_come_from_the_rows() -> None:
    assert THREE.used == (0.3, 0.7)
    assert (THREE.grid[0], THREE.grid[-1], len(THREE.grid)) == (0.0, 1.0, STEPS + 1)
    assert BoundsMap([JudgedQuestion(-0.5, True, Verdict.INCORRECT, -0.9, 0.5)], "code").grid[0] == -1.0


def test_the_map_of_every_recipe_that_tells_its_bounds_is_a_table(report: Report) -> None:
    with report.tables[3].open(encoding="utf-8", newline="") as stream:
        lines = list(csv.DictReader(stream))
    assert {line["recipe"] for line in lines} == {"crag", "crag[upper=0.9]"}
    told = {(float(line["lower"]), float(line["upper"])): line for line in lines if line["recipe"] == "crag"}
    assert len(told) == (STEPS + 1) * (STEPS + 2) / 2
    # The best scores are 0.8 and 0.7 inside, 0.2 and 0.4 outside.
    assert (told[0.3, 0.6]["right"], told[0.3, 0.6]["decided_and_right"]) == ("1", "0.75")
    assert (told[0.5, 0.6]["decided_and_right"], told[0.5, 0.6]["n"]) == ("1", "4")
