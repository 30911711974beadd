"""A calibration read backwards: the bounds of a published recipe on its own scale."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as some

from thresher.judging.calibration import SHIPPED, Calibration
from thresher.judging.learned_bounds import ConfidentDecider, best_score, bounded, learned_bounds
from thresher.judging.verdicts import Bounds, RestrictedDecider, Survivors, ThreeWay
from thresher.types import T5, UNIT, Chunk, Hit, Judgement, Scale, Score, Verdict

LEARNED = replace(SHIPPED["local"], parameters=((2.0, -1.0),), lower=0.2, upper=0.7)


def judged(*values: float, scale: Scale = UNIT) -> list[Judgement]:
    hits = [Hit(Chunk(str(at), "d", "d.txt", "", 0, 1, "x"), Score(0.5, UNIT), at) for at in range(len(values))]
    return [Judgement(hit, keep=True, score=Score(value, scale)) for hit, value in zip(hits, values, strict=True)]


@given(probability=some.floats(0.02, 0.98), slope=some.floats(0.3, 5), intercept=some.floats(-1, 1))
def test_a_raw_score_is_worth_the_probability_it_was_found_for(
    probability: float, slope: float, intercept: float
) -> None:
    learned = replace(LEARNED, parameters=((slope, intercept),))
    raw = learned.raw(probability)
    assert raw is not None
    assert 0 <= raw <= 1
    if 0.011 < raw < 0.989:  # nearer to the ends scores are clipped
        assert learned.probability(raw) == pytest.approx(probability, abs=1e-6)


def test_an_isotonic_curve_is_read_backwards_at_its_knots() -> None:
    learned = replace(LEARNED, method="isotonic", parameters=((0.1, 0.05), (0.4, 0.5), (0.8, 0.95)))
    assert [learned.raw(value) for value in (0.05, 0.3, 0.5, 0.9, 0.99)] == [0.1, 0.4, 0.4, 0.8, 1.0]


def test_bounds_lie_on_the_scale_of_the_recipe() -> None:
    unit, t5 = learned_bounds(LEARNED, UNIT), learned_bounds(LEARNED, T5)
    assert unit is not None
    assert t5 is not None
    assert 0 < unit[0] < unit[1] < 1
    assert t5 == pytest.approx([2 * value - 1 for value in unit])


def test_no_lower_bound_is_the_end_of_the_scale() -> None:
    found = learned_bounds(replace(LEARNED, lower=0.0), T5)
    assert found is not None
    assert found[0] == -1
    Bounds(*found, scale=T5)


def test_bounds_that_fall_together_are_still_in_order() -> None:
    for both in (0.0, 0.4, 1.0):
        found = learned_bounds(replace(LEARNED, lower=both, upper=both), UNIT)
        assert found is not None
        Bounds(*found, scale=UNIT)


def test_a_judge_whose_better_scores_are_worth_less_gives_no_bounds() -> None:
    assert learned_bounds(replace(LEARNED, parameters=((-0.5, 0.1),)), UNIT) is None


def test_the_verdict_is_the_recipes_and_the_confidence_the_calibrations() -> None:
    decide = RestrictedDecider(ThreeWay(Bounds(0.3, 0.7)), "all")
    inner = bounded(decide)
    assert inner is not None
    assert best_score(inner, judged(0.2, 0.8)) == 0.8
    decision = ConfidentDecider(decide, LEARNED, "this collection's")(judged(0.2, 0.8))
    assert (decision.verdict, decision.confidence) == (Verdict.CORRECT, LEARNED.probability(0.8))
    assert decision.notes.facts["mapping"] == "this collection's"
    assert ConfidentDecider(decide, LEARNED, "")([]).confidence is None


def test_a_score_on_another_scale_is_brought_to_the_unit_interval() -> None:
    inner = bounded(ThreeWay(Bounds(-0.99, 0.59, "paper", T5)))
    assert inner is not None
    assert best_score(inner, judged(-0.5, 0.5, scale=T5)) == 0.75


def test_a_decider_without_bounds_has_none_to_learn() -> None:
    assert bounded(Survivors()) is None


def test_a_calibration_of_a_published_recipe_is_kept_like_any_other() -> None:
    assert Calibration.from_dict(replace(LEARNED, judge="crag: local").to_dict()).judge == "crag: local"
