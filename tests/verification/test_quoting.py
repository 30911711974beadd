"""Whether a statement says a claim in the same words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thresher.verification.quoting import is_quoted

SHELTER = "A smoking shelter behind the paint store is planned for the autumn of 2026."


@pytest.mark.parametrize(
    ("claim", "statement"),
    [
        ("The yard closes at 18:00.", "On weekdays, the yard closes at 18:00."),
        ("The yard closes at 18:00.", "The yard (of the north harbour) closes at 18:00, and the gate at 20:00."),
        ("Ada Kask opened the yard.", "Ada Maria B. Kask (1840 to 1902) opened the yard."),
        ("The gate closes at 20:00.", "The yard closes at 18:00 and the gate closes at 20:00."),
        ("The port has 3 cranes.", "In İİİİ, the port has 3 cranes."),  # letters that are longer in lower case
        ("Everyone has 27 days of leave.", "Everyone has 27 days of leave."),
        ("The amount due is 143.2 euros.", "The amount due is 143.20 euros."),
        ("The contract ends on 31 December 2026.", "The contract ends on 2026-12-31."),
        ("The office can take leave.", "The workshop cannot take leave; the office can take leave."),
        ("The Walnut of 40 x 50 is 72.", "The Oak of 40 x 50 is 53. The Walnut of 40 x 50 is 72."),
    ],
)
def test_a_clause_or_its_beginning_is_a_quote_without_brackets_and_middle_names(claim: str, statement: str) -> None:
    assert is_quoted(claim, statement)


@pytest.mark.parametrize(
    ("claim", "statement"),
    [
        # a word that turns or bounds what is said
        ("The canteen is open on Friday.", "The canteen is not open on Friday."),
        ("The canteen is open on Friday.", "When is the canteen open on Friday?"),
        ("The taps run through the winter.", "The taps run through the winter except the two at the gate."),
        ("Life jackets are worn.", "Life jackets must be worn."),
        ("The water was off in 2021.", "The water was off until 2021."),
        ("He does not speak English.", "He does not speak fluent English."),
        # another number, another word, the words of two sides exchanged
        ("Additional cleaning costs 54 euros.", "Additional cleaning costs 45 euros."),
        ("A frame of walnut costs 53.", "A frame of oak costs 53."),
        ("The buyer pays the seller.", "The seller pays the buyer."),
        ("The Garricks sold the mill.", "The mill was sold by the Garricks."),
        # words in between are left out, or those before it in its clause
        ("The yard has eleven boats in working order.", "The yard has eleven boats, four of them in working order."),
        ("The tug carries 5 tons of coal.", "The tug weighs 3 tons and the tender carries 5 tons of coal."),
        ("Bob left in 2010.", "The man that Bob hired left in 2010."),
        ("The mayor's brother died in 1950.", "The daughter of the mayor's brother died in 1950."),
        ("The yard closes at 18:00.", "On weekdays the yard closes at 18:00."),
        # nothing is stated
        ("To qualify for credit.", "To qualify for credit:"),
        ("Opening hours.", "Opening hours"),
    ],
)
def test_an_exchanged_word_or_one_that_turns_the_sense_is_no_quote(claim: str, statement: str) -> None:
    assert not is_quoted(claim, statement)


def test_what_the_title_names_may_stand_in_the_claim() -> None:
    claim = "At Halvorsen Boatyard everyone has 27 days of leave."
    assert is_quoted(claim, "Everyone has 27 days of leave.", "Halvorsen Boatyard: handbook")
    assert not is_quoted(claim, "Everyone has 27 days of leave.")
    assert not is_quoted("Not everyone has 27 days.", "Everyone has 27 days.", "What not to do")


@given(st.lists(st.sampled_from(SHELTER.rstrip(".").split()), min_size=1, max_size=15))
def test_a_quote_has_no_word_that_its_statement_lacks(words: list[str]) -> None:
    claim = " ".join(words)
    assert not is_quoted(f"{claim} zebra", SHELTER)
    assert is_quoted(SHELTER, SHELTER)
