from __future__ import annotations

import io
from pathlib import Path

from reportlab.lib.styles import getSampleStyleSheet
from reportlab.platypus import BalancedColumns, Paragraph, SimpleDocTemplate

from tests.documents.making import read_one, save
from thresher.structure.locators import locate
from thresher.types import Document

STYLES = getSampleStyleSheet()
PROSE = "The quay wall was repaired between March and May, and a diver looked at the footings and found them sound. "


def made(folder: Path, *parts: tuple[str, str]) -> Document:
    buffer = io.BytesIO()
    SimpleDocTemplate(buffer, invariant=1).build([Paragraph(text, STYLES[style]) for style, text in parts])
    return read_one(save(folder, "a.pdf", buffer.getvalue()))


def test_a_line_set_larger_or_bolder_than_the_text_below_it_is_its_heading(tmp_path: Path) -> None:
    document = made(
        tmp_path,
        ("Title", "Report of the Ashby council"),
        ("BodyText", PROSE),
        ("Heading2", "Harbour works"),
        ("BodyText", PROSE * 2 + "Mina Orlov led the works."),
        ("BodyText", "<b>Dates and places</b>"),
        ("BodyText", PROSE + "The next meeting is in October."),
    )
    for words, heading in (("Mina Orlov", "Harbour works"), ("The next meeting", "Dates and places")):
        start = document.text.index(words)
        assert locate(document, start, start + len(words)) == f"page 1, under “{heading}”"
    assert "\n\nDates and places\n\n" in document.text


def test_a_heading_of_two_lines_is_one_and_bold_words_that_begin_a_text_are_none(tmp_path: Path) -> None:
    long = "Repairs of the quay wall, of both cranes and of the twenty-eight old lamps of the inner harbour"
    filler = [("BodyText", PROSE * 20)]
    document = made(tmp_path, *filler, ("Heading2", long), ("BodyText", f"<b>Cost.</b> {PROSE * 2}"))
    assert f"\n\n{long}\n\nCost. The quay" in document.text
    assert [mark.name for mark in document.marks if mark.kind == "heading"][-1] == long


def test_a_line_in_a_column_that_begins_with_a_day_is_no_heading(tmp_path: Path) -> None:
    text = "The council looked at the applications on 8 June and on<br/>9 June. It approved a grant of<br/>"
    rest = "400 euros for the choir, and of 250 euros for the rowing club. "
    buffer = io.BytesIO()
    column = Paragraph((text + rest) * 4, STYLES["BodyText"])
    title = Paragraph("Grants of the council", STYLES["Title"])
    SimpleDocTemplate(buffer, invariant=1).build([title, BalancedColumns([column], nCols=2)])
    document = read_one(save(tmp_path, "a.pdf", buffer.getvalue()))
    assert [mark.name for mark in document.marks if mark.kind == "heading"] == ["Grants of the council"]
    assert "on 9 June. It approved a grant of 400 euros" in document.text
