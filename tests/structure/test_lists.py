from __future__ import annotations

import pytest

from thresher.structure.lists import Listing, lists_of
from thresher.types import Document, Page

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


def test_a_slide_is_its_title_and_the_lines_below() -> None:
    text = "Goals for 2024\n\nGrow in Japan\n\nHire two engineers"
    (slide,) = lists_of(document(text, "pptx", (Page(1, 0, len(text)),)))
    assert slide.about == "Goals for 2024"
    assert [item.text for item in slide.items] == ["Grow in Japan", "Hire two engineers"]


def test_the_heading_of_the_next_section_is_no_item() -> None:
    text = "Do this after an accident:\n\n1. Stop the machine.\n\n2. Call 411.\n\n3. Company vans\n\nVans are blue."
    (steps,) = lists(text)
    assert [item.text for item in steps.items] == ["1. Stop the machine.", "2. Call 411."]


def test_the_notes_of_a_slide_are_not_its_items() -> None:
    text = "Goals for 2024\n\nGrow in Japan\n\nHire two engineers\n\nNotes:\n\nDo not promise a dividend."
    (slide,) = lists_of(document(text, "pptx", (Page(1, 0, len(text)),)))
    assert [item.text for item in slide.items] == ["Grow in Japan", "Hire two engineers"]
