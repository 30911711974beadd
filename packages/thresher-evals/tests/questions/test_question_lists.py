from __future__ import annotations

import pytest

from thresher.types import Document, Page
from thresher_evals.questions.lists import Listing, lists_of

HANDBOOK = """# Pump handbook

## Maintenance

To reset the pump:

1. Close the inlet valve.
2. Hold the red button
   for ten seconds.
3. Open the valve.

The pump is checked once a year.

## Safety rules

- Wear gloves.

- Report leaks.

## Opening hours

The branches offer:
* Cash service
* Advice
"""


def document(text: str, kind: str = "markdown", pages: tuple[Page, ...] = ()) -> Document:
    return Document("d", "d.md", "Pump handbook", text, kind, pages)


def lists(text: str) -> list[Listing]:
    found = list(lists_of(document(text)))
    for listing in found:
        assert all(text[item.start : item.end] == item.text for item in listing.items)
    return found


def test_a_list_has_its_lead_in_or_heading_and_all_its_items() -> None:
    steps, rules, offers = lists(HANDBOOK)
    assert steps.lead is not None
    assert steps.lead.text == "To reset the pump:"
    assert [item.text.split("\n")[0] for item in steps.items][1] == "2. Hold the red button"
    assert HANDBOOK[steps.start : steps.end].startswith("To reset")
    assert HANDBOOK[steps.start : steps.end].endswith("Open the valve.")
    assert steps.numbered
    assert rules.heading is not None
    assert (rules.heading.text, rules.lead, len(rules.items)) == ("Safety rules", None, 2)
    assert offers.about == "Opening hours The branches offer:"


@pytest.mark.parametrize("text", ["- alone\n\nand text", "A. Smith\nB. Jones\nC. Brown", "1. x\n\n# Heading\n\n2. y"])
def test_one_marked_line_and_names_are_no_list(text: str) -> None:
    assert lists(text) == []
