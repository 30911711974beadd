"""FActScore's penalty for short answers."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thresher_evals.judges.factscore import factscore


def test_three_facts_keep_a_tenth_of_their_precision_and_ten_all_of_it() -> None:
    assert factscore(3, 3) == pytest.approx(0.097, abs=0.0005)
    assert factscore(3, 3) == pytest.approx(math.exp(1 - 10 / 3))
    assert factscore(2, 3) == pytest.approx(2 / 3 * math.exp(1 - 10 / 3))
    assert factscore(10, 10) == 1
    assert factscore(9, 12) == 0.75
    assert factscore(0, 0) == 0


def test_another_gamma_moves_the_penalty() -> None:
    assert factscore(3, 3, gamma=0) == 1
    assert factscore(3, 3, gamma=6) == pytest.approx(math.exp(-1))


def test_more_facts_cannot_be_supported_than_there_are() -> None:
    with pytest.raises(ValueError, match="4 of 3"):
        factscore(4, 3)


@given(st.integers(0, 40), st.integers(0, 40), st.floats(0, 30))
def test_the_score_is_never_above_the_precision(supported: int, others: int, gamma: float) -> None:
    facts = supported + others
    assert 0 <= factscore(supported, facts, gamma) <= (supported / facts if facts else 0) + 1e-12
