"""The bounds hold on simulated data, and the numbers of labels are those of the formula."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thresher.judging.certify import (
    Failed,
    Labelled,
    Passed,
    at_most,
    at_most_wrong,
    needed,
    passes,
    risk,
    shift,
    upper_bound,
)

LABELS = st.lists(st.builds(Labelled, st.none() | st.floats(0, 1), st.booleans()), max_size=150)


def exactly(errors: int, number: int, rate: Fraction) -> Fraction:
    """P(X <= errors), in fractions."""
    return sum(
        (math.comb(number, k) * rate**k * (1 - rate) ** (number - k) for k in range(errors + 1)), start=Fraction(0)
    )


@pytest.mark.parametrize(
    ("level", "labels"), [(Fraction(1, 10), [29, 46, 61]), (Fraction(1, 20), [59, 93, 124])], ids=["10 %", "5 %"]
)
def test_the_numbers_of_labels_are_the_least_that_the_exact_formula_takes(level: Fraction, labels: list[int]) -> None:
    for errors, number in enumerate(labels):
        assert exactly(errors, number, level) <= Fraction(1, 20) < exactly(errors, number - 1, level)
        assert needed(errors, float(level), 0.95) == number


@given(st.integers(1, 300), st.data())
def test_the_binomial_tail_is_that_of_the_fractions(number: int, data: st.DataObject) -> None:
    errors = data.draw(st.integers(0, number))
    rate = data.draw(st.fractions(0, 1, max_denominator=50))
    assert at_most(errors, number, float(rate)) == pytest.approx(float(exactly(errors, number, rate)), abs=1e-9)


@given(st.integers(1, 200), st.data())
def test_the_upper_bound_grows_with_the_errors_and_passes_where_it_is_at_most_the_level(
    number: int, data: st.DataObject
) -> None:
    errors = data.draw(st.integers(0, number - 1))
    level = data.draw(st.floats(0.01, 0.99))
    bound = upper_bound(errors, number, 0.95)
    assert errors / number < bound <= upper_bound(errors + 1, number, 0.95)
    assert abs(bound - level) < 1e-9 or passes(errors, number, level, 0.95) == (bound <= level)


@given(LABELS, st.floats(0.02, 0.5), st.floats(0.5, 0.99))
def test_what_passes_has_its_bound_at_or_below_the_level(
    labels: list[Labelled], level: float, confidence: float
) -> None:
    found = at_most_wrong(labels, level, confidence)
    if isinstance(found, Passed):
        above = [one for one in labels if one.certainty is not None and one.certainty >= found.threshold]
        assert (found.answered, found.errors) == (len(above), sum(not one.right for one in above))
        assert found.bound <= level + 1e-9
    else:
        assert found.needed > found.answered


@given(LABELS, st.floats(0.02, 0.3), st.floats(0.0, 0.2))
def test_a_looser_level_never_gives_a_stricter_threshold_of_the_risk(
    labels: list[Labelled], level: float, more: float
) -> None:
    strict, loose = risk(labels, level), risk(labels, level + more)
    if isinstance(strict, Passed):
        assert isinstance(loose, Passed)
        assert loose.threshold <= strict.threshold


def test_where_the_first_threshold_lies_depends_on_no_label() -> None:
    """Wrong answers at the top of the order fail; they do not move the start."""
    labels = [Labelled(0.99 - at / 200, at >= 5) for at in range(100)]
    found = at_most_wrong(labels, 0.1, 0.95)
    assert isinstance(found, Failed)
    assert (found.answered, found.errors, found.tested) == (61, 5, True)


def test_a_threshold_behind_one_that_fails_is_not_tested() -> None:
    right = [Labelled(0.9, True)] * 61
    wrong, later = [Labelled(0.8, False)] * 10, [Labelled(0.7, True)] * 400
    found = at_most_wrong([*right, *wrong, *later], 0.1, 0.95, share=0.0)
    assert isinstance(found, Passed)
    assert (found.threshold, found.answered) == (0.81, 61)


def test_too_few_labels_say_how_many_it_takes() -> None:
    labels = [Labelled(0.8, at > 0) for at in range(23)]
    assert at_most_wrong(labels, 0.1, 0.95) == Failed(23, 1, 46, tested=False)
    assert risk(labels[:5], 0.1) == Failed(5, 1, 19, tested=False)


def test_refusals_count_for_the_risk_and_not_for_the_share_of_the_answers() -> None:
    labels = [*[Labelled(0.8, True)] * 28, *[Labelled(None, False)] * 100]
    assert isinstance(at_most_wrong(labels, 0.1, 0.95), Failed)
    found = risk(labels, 0.05)
    assert isinstance(found, Passed)
    assert (found.answered, found.errors) == (28, 0)


# --- on simulated data ------------------------------------------------------------------------------------------------


def drawn(draw: random.Random, number: int) -> list[Labelled]:
    """Certainties of which the square is the chance to be right, a tenth refused."""
    certainties = [draw.random() for _ in range(number)]
    return [Labelled(None if one < 0.1 else one, draw.random() < math.sqrt(one)) for one in certainties]


def truly_wrong(threshold: float) -> float:
    """P(wrong | certainty >= threshold) of the same."""
    return 1 - 2 / 3 * (1 - math.pow(threshold, 1.5)) / (1 - threshold)


def broken(draw: random.Random, times: int, level: float) -> Sequence[bool]:
    found = [at_most_wrong(drawn(draw, 120), level, 0.9, least=0.1) for _ in range(times)]
    return [truly_wrong(one.threshold) > level for one in found if isinstance(one, Passed)]


@pytest.mark.slow
def test_the_true_share_of_wrong_answers_passes_the_level_no_more_often_than_promised() -> None:
    outcomes = broken(random.Random(0), 300, 0.25)
    assert len(outcomes) > 200  # otherwise little was certified
    assert sum(outcomes) <= 0.1 * 300 + 2 * math.sqrt(300 * 0.09)


def test_wrong_answers_among_all_questions_stay_below_the_risk_on_average() -> None:
    draw, wrong = random.Random(1), []
    for _ in range(300):
        found = risk(drawn(draw, 60), 0.1, least=0.1)
        threshold = found.threshold if isinstance(found, Passed) else 1.0
        (later,) = drawn(draw, 1)
        wrong.append(later.certainty is not None and later.certainty >= threshold and not later.right)
    assert sum(wrong) / 300 <= 0.1 + 2 * math.sqrt(0.09 / 300)


# --- later questions --------------------------------------------------------------------------------------------------


def test_questions_of_another_kind_are_told_apart_and_those_of_the_same_are_not() -> None:
    draw = random.Random(2)
    labelled = [0.0] * 10 + [draw.betavariate(6, 3) for _ in range(70)]
    alike = [0.0] * 4 + [draw.betavariate(6, 3) for _ in range(30)]
    other = [0.0] * 20 + [draw.betavariate(3, 6) for _ in range(20)]
    assert shift(labelled, alike) > 0.01 >= shift(labelled, other)


def test_two_samples_of_one_value_are_alike() -> None:
    assert shift([0.0] * 30, [0.0] * 30) == 1.0


def test_a_warning_without_a_shift_is_as_rare_as_its_level() -> None:
    draw = random.Random(3)
    values = [shift([draw.random() for _ in range(40)], [draw.random() for _ in range(20)]) for _ in range(200)]
    assert sum(value <= 0.05 for value in values) <= 0.05 * 200 + 2 * math.sqrt(200 * 0.0475)
