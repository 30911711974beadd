"""The place of a span in its file: the item of a list, the numbered parts."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.documents.making import read_one, save
from thresher.structure.locators import locate
from thresher.types import Document, Mark

TEXT = """To reset the pump:
1. Close the inlet valve.
2. Hold the red button
   for ten seconds.

Safety rules

- Wear gloves.

- Report leaks.

3. Company vans

Vans are blue."""


@pytest.mark.parametrize(
    ("place", "item"),
    [
        ("Close the inlet", "item 1"),
        ("Hold the red", "item 2"),
        ("ten seconds", "item 2"),
        ("Wear gloves", "item 1"),
        ("Report leaks", "item 2"),
        ("To reset the pump", ""),
        ("Safety rules", ""),
        ("Company vans", ""),
        ("Vans are blue", ""),
        ("inlet valve.\n2. Hold", ""),
        ("gloves.\n\n- Report", ""),
    ],
)
def test_an_item_has_its_own_number_or_its_place_in_the_list(place: str, item: str) -> None:
    start = TEXT.index(place)
    assert locate(Document("d", "d.txt", "Pump", TEXT, "text"), start, start + len(place)) == item


@pytest.mark.parametrize(
    ("place", "names", "where"),
    [
        ("Ida. Ole", ("card 1", "card 2"), "cards 1 to 2"),
        ("Ida", ("card 1", "card 2"), "card 1"),
        ("Ida. Ole", ("event 1", "task 2"), "event 1"),
        ("Ida. Ole", ("header", "body"), "header"),
    ],
)
def test_a_span_over_parts_numbered_alike_names_the_first_and_the_last(
    place: str, names: tuple[str, str], where: str
) -> None:
    text = "Ida. Ole."
    marks = (Mark(0, "part", names[0]), Mark(5, "part", names[1]))
    document = Document("d", "a.vcf", "People", text, "cards", marks=marks)
    assert locate(document, text.index(place), text.index(place) + len(place)) == where


def test_the_heading_is_that_of_the_sentence_which_is_said(tmp_path: Path) -> None:
    text = "# Leave\n\nCall the ward.\n\n# Parking\n\nA permit costs 20 euros.\n"
    document = read_one(save(tmp_path, "rules.md", text))
    said = document.text.index("A permit")
    assert locate(document, 0, len(document.text), said) == "lines 1 to 7, under “Parking”"
    assert locate(document, 0, len(document.text)) == "lines 1 to 7, heading “Leave”"
