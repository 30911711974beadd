"""From raw scores to probabilities, their bounds, what a chat model adds, and where it is kept."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

from thresher.errors import StoreError, UsageError
from thresher.home.places import LocalFiles
from thresher.judging.calibration import SHIPPED, Calibration, Calibrations, ModelWeight, usual
from thresher.judging.fitting import (
    FALSE_POSITIVE_COST,
    Opinion,
    auroc,
    calibration_error,
    decision_bounds,
    fit,
    weighed,
)

LOCAL = SHIPPED["local"]


def fitted(positives: Sequence[float], negatives: Sequence[float], **more: object) -> Calibration:
    return fit(positives, negatives, judge="judge", encoder="encoder", source="labels", **more)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def overlapping() -> Calibration:
    """Raw scores whose log odds are 1 and -1 on average, with a spread of 1.5: the curve is known."""
    generator = np.random.default_rng(7)
    raw = 1 / (1 + np.exp(-generator.normal(np.repeat([1.0, -1.0], 600), 1.5)))
    return fitted(raw[:600], raw[600:])


# --- measures and bounds ----------------------------------------------------------------------------------------------


@given(some.lists(some.floats(0, 1), min_size=4, max_size=40))
def test_auroc_is_the_share_of_pairs_in_the_right_order_and_half_of_the_ties(values: list[float]) -> None:
    scores, answerable = np.array(values), np.arange(len(values)) % 2 == 0
    pairs = [(high > low) + (high == low) / 2 for high in scores[answerable] for low in scores[~answerable]]
    assert auroc(scores, answerable) == pytest.approx(np.mean(pairs))


def test_the_calibration_error_weighs_each_bin_by_its_questions() -> None:
    probabilities = np.array([0.15, 0.15, 0.95, 1.0])
    answerable = np.array([True, False, True, True])
    assert calibration_error(probabilities, answerable) == pytest.approx((2 * 0.35 + 2 * 0.025) / 4)
    assert calibration_error(np.repeat([0.75], 4), np.array([True, True, True, False])) == 0


def test_the_lower_bound_loses_one_in_ten_and_the_upper_one_costs_least() -> None:
    probabilities = np.arange(120) / 120
    answerable = np.array([False] * 40 + [True] * 5 + [False] * 5 + [False, True, False] * 10 + [True] * 40)
    lower, upper = decision_bounds(probabilities, answerable)
    assert (lower, upper) == (pytest.approx(50.5 / 120), pytest.approx(79.5 / 120))
    misled = [np.sum((probabilities >= bound) & ~answerable) for bound in probabilities]
    needless = [np.sum((probabilities < bound) & answerable) for bound in probabilities]
    costs = FALSE_POSITIVE_COST * np.array(misled) + np.array(needless)
    assert costs[np.searchsorted(probabilities, upper)] == costs.min()


def test_bounds_where_few_are_kept_out_and_where_a_judge_separates_cleanly() -> None:
    for lucky in (0, 7):  # too few that nine in ten are kept out of
        answerable = np.concatenate([np.zeros(lucky, bool), np.arange(190) % 2 == 0])
        assert decision_bounds(np.arange(190 + lucky) / 200, answerable)[0] == 0.0
    probabilities = np.concatenate([np.linspace(0.8, 0.9, 100), np.linspace(0.1, 0.2, 100)])
    lower, upper = decision_bounds(probabilities, np.arange(200) < 100)
    assert lower == upper == pytest.approx(0.5)


@given(some.lists(some.tuples(some.floats(0, 1), some.booleans()), min_size=1, max_size=60))
def test_bounds_are_in_order_whatever_the_questions(pairs: list[tuple[float, bool]]) -> None:
    lower, upper = decision_bounds(np.array([p for p, _ in pairs]), np.array([right for _, right in pairs]))
    assert 0 <= lower <= upper <= 1


# --- fitting ----------------------------------------------------------------------------------------------------------


def test_a_known_curve_is_found_again_and_the_report_holds_what_was_measured(overlapping: Calibration) -> None:
    ((slope, intercept),) = overlapping.parameters
    assert slope == pytest.approx(2 / 1.5**2, abs=0.1)  # two normal distributions 2 apart: slope is 2 over the variance
    assert intercept == pytest.approx(0, abs=0.1)
    assert overlapping.probability(0.5) == pytest.approx(0.5, abs=0.03)
    low, high = overlapping.auroc_interval
    assert low < overlapping.auroc < high
    assert overlapping.auroc == pytest.approx(0.827, abs=0.025)  # normal distribution of 2 / (1.5 * sqrt 2)
    assert overlapping.ece < 0.05
    assert (overlapping.n_positive, overlapping.n_negative, overlapping.source) == (600, 600, "labels")
    assert overlapping.lower_interval[0] <= overlapping.lower <= overlapping.lower_interval[1]
    assert overlapping.upper_interval[0] <= overlapping.upper <= overlapping.upper_interval[1]


@pytest.mark.parametrize(("distance", "separated"), [(0.4, True), (0.05, False)])
def test_a_judge_is_said_to_separate_when_its_auroc_is_surely_above_the_limit(distance: float, separated: bool) -> None:
    generator = np.random.default_rng(1)
    high, low = (np.clip(generator.normal(0.5 + sign * distance / 2, 0.15, 80), 0, 1) for sign in (1, -1))
    assert fitted(high.tolist(), low.tolist()).separated is separated


def test_a_judge_that_knows_nothing_or_everything_is_given_no_certainty() -> None:
    nothing = fitted([0.5] * 30, [0.5] * 30)
    assert nothing.probability(0.5) == pytest.approx(0.5)
    assert (nothing.auroc, nothing.separated, nothing.lower, nothing.upper) == (0.5, False, 0.0, 1.0)
    perfect = fitted([1.0] * 30, [0.0] * 30)
    assert 0 < perfect.probability(0.0) < 0.1 < 0.9 < perfect.probability(1.0) < 1


@given(some.floats(-20, 20), some.floats(-20, 20), some.lists(some.floats(0, 1), max_size=9), some.floats(0.02, 0.98))
def test_probabilities_are_probabilities_in_one_direction_and_raw_scores_are_found_for_them(
    slope: float, intercept: float, raw: list[float], probability: float
) -> None:
    calibration = replace(LOCAL, parameters=((slope, intercept),))
    found = [calibration.probability(value) for value in sorted(raw)]
    assert all(0 <= value <= 1 for value in found)
    assert found == sorted(found, reverse=slope < 0)
    back = calibration.raw(probability)
    assert (back is None) == (slope <= 0)
    if back is not None and 0.011 < back < 0.989:  # nearer to the ends scores are clipped
        assert calibration.probability(back) == pytest.approx(probability, abs=1e-6)


def test_made_questions_for_the_shipped_judge_draw_its_curve_halfway() -> None:
    positives, negatives = [0.6, 0.8, 0.9] * 10, [0.1, 0.3, 0.7] * 10
    source = "questions made of the collection"
    (alone,) = fit(positives, negatives, judge="local", encoder="another", source=source).parameters
    elsewhere = usual("local", LOCAL.encoder)
    (drawn,) = fit(positives, negatives, judge="local", encoder="", source=source, elsewhere=elsewhere).parameters
    assert usual("local", "another") is None
    assert drawn == pytest.approx([(a + b) / 2 for a, b in zip(alone, LOCAL.parameters[0], strict=True)])


def test_made_questions_never_raise_the_bound_below_which_evidence_is_incorrect() -> None:
    """Made questions are easier than people's: what people ask scores below theirs and is answered all the same."""
    positives, negatives = [0.9, 0.92, 0.95] * 10, [0.1, 0.3, 0.6] * 10
    source = "questions made of the collection"
    made = fit(positives, negatives, judge="local", encoder="", source=source, elsewhere=LOCAL)
    labelled = fit(positives, negatives, judge="local", encoder="", source="labels", elsewhere=LOCAL)
    assert made.lower <= LOCAL.lower < labelled.lower
    assert made.lower_interval[1] <= LOCAL.lower


def test_too_few_questions_and_scores_off_the_scale_are_refused() -> None:
    with pytest.raises(UsageError, match="19 answerable and 20 unanswerable"):
        fitted([0.5] * 19, [0.5] * 20)
    for value in (-0.1, 1.1, float("nan")):
        with pytest.raises(UsageError, match="between 0 and 1"):
            fitted([*[0.5] * 20, value], [0.5] * 20)


# --- how much a chat model counts -------------------------------------------------------------------------------------


def opinions(accuracy: float, *, number: int = 120, told: tuple[float, float] = (0.1, 0.9)) -> list[Opinion]:
    """As many answerable questions as others, our judge hardly knows, and the model is right so often."""
    chance = random.Random(7)
    made = []
    for at in range(number):
        answerable = at % 2 == 0
        right = chance.random() < accuracy
        own = min(max(chance.gauss(0.52 if answerable else 0.46, 0.08), 0.05), 0.95)
        made.append(Opinion(own, told[answerable is right], answerable))
    return made


def test_a_model_counts_the_more_the_more_often_it_is_right() -> None:
    weights = [weight for accuracy in (0.75, 0.85, 0.95, 1.0) if (weight := weighed("m", opinions(accuracy)))]
    assert [weight.counts for weight in weights] == [True] * 4
    assert [weight.model_weight for weight in weights] == sorted(weight.model_weight for weight in weights)
    assert weights[0].gain_interval[0] > 0
    assert weights[-1].probability(0.5, 0.9) > 0.6 > 0.4 > weights[-1].probability(0.5, 0.1)
    assert weighed("m", opinions(1.0, number=38)) is None  # too few to tell
    assert weighed("m", opinions(1.0, number=40)) is not None


@pytest.mark.parametrize(
    ("accuracy", "told"), [(0.5, (0.1, 0.9)), (0.95, (0.9, 0.9)), (0.95, (0.1, 0.1)), (0.05, (0.1, 0.9))]
)
def test_a_coin_a_model_that_always_says_the_same_and_one_that_says_the_contrary_count_nothing(
    accuracy: float, told: tuple[float, float]
) -> None:
    weight = weighed("liar", opinions(accuracy, told=told))
    assert weight is not None
    assert not weight.counts
    assert weight.probability(0.4, 0.99) == pytest.approx(0.4)


@given(own=some.floats(0, 1), told=some.floats(0, 1), more=some.floats(0, 1))
def test_a_probability_never_falls_when_the_model_says_more(own: float, told: float, more: float) -> None:
    weight = ModelWeight("oracle", 0.8, 1.7, -0.2, 100, 0.2, (0.1, 0.3))
    low, high = sorted((told, more))
    assert 0 <= weight.probability(own, low) <= weight.probability(own, high) <= 1


# --- keeping ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def stored(tmp_path: Path) -> Calibrations:
    return Calibrations(LocalFiles(tmp_path / "new"))


def test_each_judge_and_encoder_has_its_own_and_the_last_one_counts(tmp_path: Path, stored: Calibrations) -> None:
    assert stored.get("local", LOCAL.encoder) is None
    assert not (tmp_path / "new").exists()
    weight = ModelWeight("m", 1.0, 2.0, 0.0, 100, 0.2, (0.1, 0.3))
    other, again = replace(LOCAL, encoder="f"), replace(LOCAL, upper=0.99, model=weight)
    for one in (LOCAL, other, again, replace(LOCAL, judge="crag: local")):
        stored.put(one)
    read = Calibrations(LocalFiles(tmp_path / "new"))
    assert [read.get("local", name) for name in (LOCAL.encoder, "f", "g")] == [again, other, None]
    assert "model" not in LOCAL.to_dict()
    assert [one.name for one in (tmp_path / "new").iterdir()] == ["calibrations.json"]


@pytest.mark.parametrize(
    "damage", [b"", b"{", b"[]", b"7", b"\xff\xfe{", b'{"local | e": 7}', b'{"local | e": {"judge": "local"}}']
)
def test_a_damaged_file_says_what_to_do_and_calibrating_again_mends_it(
    tmp_path: Path, stored: Calibrations, damage: bytes
) -> None:
    one, file = replace(LOCAL, encoder="e"), tmp_path / "new" / "calibrations.json"
    stored.put(one)
    file.write_bytes(damage)
    with pytest.raises(StoreError, match=r"calibrate\(\)") as caught:
        stored.get("local", "e")
    assert str(file) in str(caught.value)
    stored.put(one)
    assert stored.get("local", "e") == one


@pytest.mark.parametrize("broken", [{"method": "magic"}, {"parameters": 3}, {"auroc_interval": [1]}, {"ece": None}])
def test_a_calibration_of_another_form_is_refused(broken: dict[str, object]) -> None:
    with pytest.raises(UsageError, match="not a calibration"):
        Calibration.from_dict(json.loads(json.dumps({**LOCAL.to_dict(), **broken})))
