"""A quote is found in the text of a page that is cut, spaced and hyphenated in another way."""

from __future__ import annotations

import json
from typing import Any

import pytest
from playwright.sync_api import Page

pytestmark = pytest.mark.slow

LINES = [
    "The ﬁrst ferry to Gull Is-",
    "land leaves",
    " at 06:40 from the east",
    "quay.",
    "The crossing takes 35 minutes.",
]


def stretches(page: Page, items: list[str], quote: str) -> list[str]:
    """The words of the stretches that were found."""
    script = f"import('/page/js/quotes.js').then((one) => one.stretchesOf({json.dumps(items)}, {json.dumps(quote)}))"
    found: list[dict[str, Any]] = page.evaluate(script)
    return [items[one["item"]][one["from"] : one["to"]] for one in found]


@pytest.mark.parametrize(
    ("quote", "marked"),
    [
        ("The first ferry to Gull Island leaves", ["The ﬁrst ferry to Gull Is", "land leaves"]),
        ("leaves at 06:40 from the\neast quay.", ["leaves", "at 06:40 from the east", "quay"]),
        ("The crossing takes 35 minutes. It is longer in wind, as the next page says.", [LINES[4][:-1]]),
        (
            "from the page before. The first ferry to Gull Island leaves at 06:40",
            [LINES[0][:-1], "land leaves", "at 06:40"],
        ),
        (
            "The first ferry to Gull Island¹ leaves at 06:40 from the east quay",
            ["The ﬁrst ferry to Gull Is", "land leaves", "at 06:40 from the east", "quay"],
        ),
        ("The lighthouse was built in 1849.", []),
        ("", []),
    ],
    ids=[
        "ligature and hyphen",
        "other breaks",
        "goes on",
        "began before",
        "another sign between",
        "not there",
        "empty",
    ],
)
def test_a_quote_is_found_where_it_stands(page: Page, quote: str, marked: list[str]) -> None:
    assert [one.strip() for one in stretches(page, LINES, quote)] == marked
