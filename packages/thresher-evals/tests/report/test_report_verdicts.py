"""Other bounds, other verdicts: from the best score alone."""

from __future__ import annotations

import csv

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from thresher.judging.verdicts import Bounds, Operators
from thresher.types import UNIT, Score, Verdict
from thresher_evals.report.verdicts import STEPS, BoundsMap
from thresher_evals.report.write import Report

NAN = float("nan")


def questions(*lines: tuple[float, bool, Verdict], operators: Operators = "blog") -> BoundsMap:
    """Best score, whether the collection answers, and verdict of questions with the bounds 0.3 and 0.7."""
    best, suffices, verdicts = zip(*lines, strict=True)
    bounds = [(NAN, NAN) if one != one else (0.3, 0.7) for one in best]
    return BoundsMap(np.array(best), np.array(suffices), verdicts, np.array(bounds), operators)


LINES = ((0.8, True, Verdict.CORRECT), (0.5, True, Verdict.AMBIGUOUS), (0.1, False, Verdict.INCORRECT))
THREE = questions(*LINES)


@given(st.floats(0, 1), st.floats(0, 0.49), st.floats(0.5, 1), st.sampled_from(["blog", "paper", "code"]))
def test_a_verdict_is_what_the_recipes_would_have_decided(
    best: float, lower: float, upper: float, operators: Operators
) -> None:
    one = questions((best, True, Verdict.UNSURE), operators=operators)
    verdict = Bounds(lower, upper, operators).verdict([Score(best, UNIT)])
    assert one.stays(upper)[0] == (verdict is Verdict.CORRECT)
    assert one.goes(lower)[0] == (verdict is Verdict.INCORRECT)


@pytest.mark.parametrize(
    ("operators", "stays", "goes"), [("blog", False, True), ("paper", False, False), ("code", True, False)]
)
def test_a_score_on_a_bound_is_read_as_each_source_does(operators: Operators, stays: bool, goes: bool) -> None:
    """At the upper bound ambiguous, or correct as the code has it; at the lower one incorrect only in the blog."""
    one = questions((0.7, True, Verdict.CORRECT), (0.3, True, Verdict.CORRECT), operators=operators)
    assert (one.stays(0.7)[0], one.goes(0.3)[1]) == (stays, goes)


def test_staying_is_right_inside_and_going_is_right_outside() -> None:
    assert THREE.right(0.7).tolist() == [True, False, True]
    assert THREE.right(0.4).tolist() == [True, True, True]
    assert THREE.decided(0.3, 0.7).tolist() == [True, False, True]
    assert THREE.decided(0.0, 0.7).tolist() == [True, False, False], "undecided is right nowhere"


def test_verdicts_that_come_out_otherwise_than_in_the_rows_are_counted() -> None:
    assert THREE.not_as_recorded == 0
    assert questions(*LINES, (0.5, True, Verdict.UNSURE), (0.5, True, Verdict.CORRECT)).not_as_recorded == 1


def test_the_map_of_every_recipe_that_tells_its_bounds_is_a_table(report: Report) -> None:
    with report.tables[3].open(encoding="utf-8", newline="") as stream:
        lines = list(csv.DictReader(stream))
    assert {line["recipe"] for line in lines} == {"crag", "crag[upper=0.9]"}
    told = {(float(line["lower"]), float(line["upper"])): line for line in lines if line["recipe"] == "crag"}
    assert len(told) == (STEPS + 1) * (STEPS + 2) / 2
    # The best scores are 0.8 and 0.7 inside, 0.2 and 0.4 outside.
    assert (told[0.3, 0.6]["right"], told[0.3, 0.6]["decided_and_right"]) == ("1", "0.75")
    assert (told[0.5, 0.6]["decided_and_right"], told[0.5, 0.6]["n"]) == ("1", "4")
