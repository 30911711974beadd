"""How much a chat model counts beside the judge: an oracle counts, a model that tells nothing does not."""

from __future__ import annotations

import json
import random
from dataclasses import asdict

import pytest
from hypothesis import given
from hypothesis import strategies as some

from thresher.judging.model_weight import ModelWeight, Opinion, weighed


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


@pytest.mark.parametrize("accuracy", [0.8, 0.95, 1.0])
def test_a_model_that_is_mostly_right_counts(accuracy: float) -> None:
    weight = weighed("oracle", opinions(accuracy))
    assert weight is not None
    assert weight.counts
    assert weight.gain_interval[0] > 0
    assert weight.probability(0.5, 0.9) > 0.6 > 0.4 > weight.probability(0.5, 0.1)


def test_a_better_model_counts_more() -> None:
    weights = [weighed("oracle", opinions(accuracy)) for accuracy in (0.75, 0.85, 0.95)]
    counted = [weight.model_weight for weight in weights if weight]
    assert counted == sorted(counted)
    assert len(counted) == 3


@pytest.mark.parametrize(("accuracy", "told"), [(0.5, (0.1, 0.9)), (0.95, (0.9, 0.9)), (0.95, (0.1, 0.1))])
def test_a_coin_and_a_model_that_always_says_the_same_count_nothing(accuracy: float, told: tuple[float, float]) -> None:
    weight = weighed("liar", opinions(accuracy, told=told))
    assert weight is not None
    assert not weight.counts
    assert weight.gain_interval[0] <= 0
    assert weight.probability(0.4, 0.99) == pytest.approx(0.4)


def test_a_model_that_says_the_contrary_of_what_is_so_is_not_believed_backwards() -> None:
    weight = weighed("contrary", opinions(0.05))
    assert weight is not None
    assert not weight.counts


def test_too_few_unsure_questions_tell_nothing() -> None:
    assert weighed("oracle", opinions(1.0, number=38)) is None
    assert weighed("oracle", opinions(1.0, number=40)) is not None
    assert weighed("oracle", []) is None


def test_it_comes_back_from_json_as_it_was() -> None:
    weight = weighed("oracle", opinions(0.9))
    assert weight is not None
    assert ModelWeight.from_dict(json.loads(json.dumps(asdict(weight)))) == weight


@given(own=some.floats(0, 1), told=some.floats(0, 1), more=some.floats(0, 1))
def test_a_probability_never_falls_when_the_model_says_more(own: float, told: float, more: float) -> None:
    weight = weighed("oracle", opinions(0.9))
    assert weight is not None
    low, high = sorted((told, more))
    assert 0 <= weight.probability(own, low) <= weight.probability(own, high) <= 1
