from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thresher.documents.cleaning import iso_date


@pytest.mark.parametrize(
    ("written", "date"),
    [
        ("2021-04-12", "2021-04-12"),
        ("2021-04-12T10:00:00Z", "2021-04-12"),
        ("2021-04", "2021-04"),
        ("1999", "1999"),
        ("D:20200506070809+01'00'", "2020-05-06"),
        ("12 Apr 2021", "2021-04-12"),
        ("April 12, 2021", "2021-04-12"),
        ("Mon, 02 Mar 2020 10:00:00 +0100", "2020-03-02"),
        ("3/4/2021", None),
        ("2021-13-40", None),
        ("yesterday", None),
        ("", None),
    ],
)
def test_dates_are_read_as_documents_write_them(written: str, date: str | None) -> None:
    assert iso_date(written) == date


@given(st.text())
def test_what_is_no_date_is_none_and_never_an_error(text: str) -> None:
    found = iso_date(text)
    assert found is None or found[:4].isdigit()
