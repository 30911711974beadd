from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as some

from tests.timing import growth
from tests.verification.pairs import CONTRADICT, OBVIOUS, SAME
from thresher.text.entities import missing_name
from thresher.text.numbers import missing_quantity
from thresher.verification import contradiction as rules
from thresher.verification.contradiction import contradiction


@pytest.mark.parametrize(("one", "other"), CONTRADICT + OBVIOUS)
def test_a_claim_about_the_same_matter_is_denied_for_a_reason(one: str, other: str) -> None:
    assert contradiction(one, other)
    assert contradiction(other, one)


@pytest.mark.parametrize(
    ("claim", "sentence", "reason"),
    [
        ("Aspirin is safe.", "Aspirin is not safe.", "the evidence says “not” of “safe”, the other does not"),
        ("Aspirin is not safe.", "Aspirin is safe.", "the sentence says “not” of “safe”, the other does not"),
        ("Aspirin is safe.", "Aspirin is dangerous.", "opposite words (protect/endanger)"),
        ("It has 12 layers.", "It has 24 layers.", "the evidence says 24 where the sentence says 12"),
        ("He was born in 1879.", "He was born on 14 March 1880.",
         "the evidence says 14 March 1880 where the sentence says 1879"),
    ],
)  # fmt: skip
def test_the_reason_names_what_differs(claim: str, sentence: str, reason: str) -> None:
    assert contradiction(claim, sentence) == reason


@given(some.text(max_size=120))
def test_no_text_denies_itself(text: str) -> None:
    assert contradiction(text, text) == ""


def test_no_word_is_on_two_sides() -> None:
    words = rules._OPPOSITES.replace("/", " ").replace(";", " ").split()
    assert sorted(words) == sorted(set(words))


@pytest.mark.parametrize(("one", "other"), SAME)
def test_what_says_the_same_or_something_else_denies_nothing(one: str, other: str) -> None:
    assert contradiction(one, other) == contradiction(other, one) == ""


@pytest.mark.slow
@pytest.mark.parametrize("piece", ["12 , ", "than", "1 March 2010 ", "open closed "])
def test_a_sentence_without_end_takes_linear_time(piece: str) -> None:
    def compare(characters: int) -> None:
        text = piece * (characters // len(piece))
        assert contradiction(f"{text} once", text) == missing_quantity(text, text) == missing_name(text, text) == ""

    assert growth(compare, 4_000) < 9  # quadratic: 16


DOGS = "Dogs may stay for 15 GBP a night; cats are not allowed."


@pytest.mark.parametrize(
    ("claim", "sentence", "denied"),
    [
        ("Dogs are welcome.", DOGS, False),
        ("Cats are welcome.", DOGS, True),
        ("Dogs cost 15 GBP a night and cats are allowed.", DOGS, True),
        ("Dogs cost 15 GBP a night and cats are not allowed.", DOGS, False),
        ("Reception closes at 10 pm.", "Reception is open from 7 am to 10 pm.", False),
        ("The museum closes at 6 pm.", "The museum opens daily 9 am - 6 pm.", False),
    ],
)
def test_each_clause_is_held_against_the_clause_on_its_matter(claim: str, sentence: str, denied: bool) -> None:
    assert bool(contradiction(claim, sentence)) is denied
