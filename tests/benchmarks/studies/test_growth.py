"""Which curve a quantity follows, and what noise does not allow to be said."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as some
from scipy import stats

from benchmarks.studies.growth import CURVES, fits, verdict

SIZES = [10, 25, 50, 100, 250, 500, 1000]


@pytest.mark.parametrize("curve", [name for name in CURVES if name != "a"])
def test_the_curve_that_made_the_points_wins(curve: str) -> None:
    found = fits(SIZES, [3 + 2 * CURVES[curve](size) for size in SIZES])
    assert found[0].curve == curve
    assert (found[0].a, found[0].b) == pytest.approx((3, 2))
    assert found[0].delta == 0
    assert found[1].delta > 2


def test_noise_around_a_constant_is_no_growth() -> None:
    draw = random.Random(4)
    found = fits(SIZES * 3, [10 + draw.gauss(0, 1) for _ in range(3 * len(SIZES))])
    assert next(one for one in found if one.curve == "a").delta < 2
    assert "not told apart from" in verdict(found)


def test_the_line_and_its_criterion_agree_with_scipy_and_the_formula() -> None:
    values = [4.0, 5.5, 5.0, 9.0, 14.0, 21.0, 44.0]
    line = next(one for one in fits(SIZES, values) if one.curve == "a + b n")
    reference = stats.linregress(SIZES, values)
    assert (line.a, line.b) == pytest.approx((reference.intercept, reference.slope))
    assert line.r_squared == pytest.approx(reference.rvalue**2)
    rest = sum((value - line.a - line.b * size) ** 2 for size, value in zip(SIZES, values, strict=True))
    assert line.aic == pytest.approx(len(SIZES) * math.log(rest / len(SIZES)) + 2 * 3)


@given(some.lists(some.floats(0.1, 1e4), min_size=len(SIZES), max_size=len(SIZES)), some.floats(0.01, 100))
def test_the_unit_of_the_values_does_not_change_who_wins(values: list[float], unit: float) -> None:
    plain, scaled = fits(SIZES, values), fits(SIZES, [unit * value for value in values])
    deltas = {one.curve: one.delta for one in plain}
    assert {one.curve: one.delta for one in scaled} == pytest.approx(deltas, abs=1e-3, rel=1e-3)
