from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as some

from thresher.text.numbers import (
    Date,
    agree,
    canonical,
    missing_quantity,
    numbers_in,
    quantities_and_dates,
)


@pytest.mark.parametrize(
    ("claim", "evidence", "missing"),
    [
        ("It has 12 layers.", "It has twelve layers.", ""),
        ("It cost 7,000 dollars.", "It cost 7000 dollars.", ""),
        ("It cost 2.5 million.", "It cost 2,500,000.", ""),
        ("Two hundred and fifty thousand came.", "250,000 came.", ""),
        ("Twenty-one of them left.", "21 left.", ""),
        ("12 percent of them left.", "12.0 % of them left.", ""),
        ("It began on 5 March 1947.", "It began on 1947-03-05.", ""),
        ("It has 110 million parameters.", "It has 110M parameters.", ""),
        ("From 1939 to 1945.", "1939–1945", ""),
        ("The 3rd edition.", "The third edition.", ""),
        ("One of the layers.", "Layers.", ""),
        ("CO2 was measured.", "Carbon dioxide was measured.", ""),
        ("It cost $5 million.", "It cost 5 million dollars.", ""),
        ("It was built in the 1980s.", "It was built in 1980.", ""),
        ("It has 24 layers.", "It has 12 layers.", "24"),
        ("It cost 2 billion.", "It cost 2 million.", "2000000000"),
        ("It was 1948.", "It was 1947, at 19:48.", "1948"),
        ("It is 26 km away.", "It is 26 miles away.", "26 km"),
        ("12% of them left.", "12 years passed.", "12%"),
        ("It began on 1947-03-06.", "It began on 5 March 1947.", "6"),
        ("It cost €5.", "It took 5 days.", "5 euro"),
    ],
)
def test_a_number_stands_in_the_evidence_however_it_is_written_or_is_named(
    claim: str, evidence: str, missing: str
) -> None:
    assert missing_quantity(claim, evidence) == missing


def test_digits_in_a_name_are_no_number() -> None:
    assert numbers_in("GPT-4 and p53 and CO2 by 2030") == {"2030"}


@given(some.integers(0, 10**12))
def test_thousands_separators_change_nothing(number: int) -> None:
    assert canonical(f"{number:,}") == canonical(str(number)) == str(number)
    assert missing_quantity(f"About {number:,} came.", f"{number} came.") == ""


@given(some.integers(0, 999_999), some.integers(0, 999_999))
def test_a_number_is_missing_exactly_where_another_stands(one: int, other: int) -> None:
    assert (missing_quantity(f"In all {one} came.", f"In all {other} came.") == "") == (one == other)


@given(some.text(max_size=120))
def test_no_text_lacks_its_own_numbers(text: str) -> None:
    assert missing_quantity(text, text) == ""


# --- dates ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "date"),
    [
        ("on 14 March 1879", (1879, 3, 14)),
        ("on the 14th of March 1879", (1879, 3, 14)),
        ("on 1879-03-14", (1879, 3, 14)),
        ("in Sept. 1879", (1879, 9, None)),
        ("on 14 March", (None, 3, 14)),
        ("in 1879", (1879, None, None)),
    ],
)
def test_a_date_is_read_however_it_is_written(text: str, date: tuple[int | None, ...]) -> None:
    (found,) = quantities_and_dates(text)
    assert isinstance(found, Date)
    assert (found.year, found.month, found.day) == date


@pytest.mark.parametrize("text", ["1500 metres", "$1500", "the 1980s", "3,000", "1,500", "it may be 5"])
def test_a_number_that_is_no_year_is_no_date(text: str) -> None:
    (found,) = quantities_and_dates(text)
    assert not isinstance(found, Date)


# --- two values of the same thing -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("one", "other", "both"),
    [
        ("about 300 guests", "324 guests", True),
        ("450,000 people", "453,864 people", True),
        ("1.2 million people", "1,234,567 people", True),
        ("more than 10 euros", "15 euros", True),
        ("no more than 12 euros", "10 euros", True),
        ("18 years or older", "21 years", True),
        ("10-12 days", "14 days", True),
        ("between 10 and 12 days", "14 days", True),
        ("14 March 1879", "March 14", True),
        ("after 1889", "1900", True),
        ("12 days", "in 1889", True),
        ("2.1.7", "2.1.7", True),
        ("about 300 guests", "400 guests", False),
        ("12 layers", "twenty-four layers", False),
        ("at least 300 guests", "250 guests", False),
        ("less than 10 euros", "15 euros", False),
        ("at least 12 euros", "at most 10 euros", False),
        ("14 March 1879", "15 March 1879", False),
        ("before 1889", "1900", False),
    ],
)
def test_values_agree_within_their_rounding_hedges_and_bounds(one: str, other: str, both: bool) -> None:
    values = [quantities_and_dates(text)[0] for text in (one, other)]
    assert agree(*values) is agree(*reversed(values)) is both
