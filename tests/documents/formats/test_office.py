from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import docx
import openpyxl
import pptx
import pytest

from tests.documents import making
from tests.documents.making import parse_bytes, read_one, rows_of, save
from thresher.types import Document

DECK = making.slides(["", "Of two", "", "Of four", "Of five"], hidden=[3, 5])
"""Three notes of five slides: their parts are notesSlide1, 2 and 3."""


def rewritten(data: bytes, change: Callable[[str, str], str | None], rename: Callable[[str], str] = str) -> bytes:
    """An archive whose text parts are changed, or left out where `change` gives None."""
    packed = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as archive, zipfile.ZipFile(packed, "w") as copy:
        for name in archive.namelist():
            if not name.endswith((".xml", ".rels")):
                copy.writestr(name, archive.read(name))
            elif (text := change(name, archive.read(name).decode())) is not None:
                copy.writestr(rename(name), text)
    return packed.getvalue()


def reordered(data: bytes, order: list[int]) -> bytes:
    """The deck with its slides shown in another order; the parts keep their names."""

    def moved(name: str, text: str) -> str:
        entries = re.findall(r"<p:sldId [^>]*>", text)
        return text.replace("".join(entries), "".join(entries[number - 1] for number in order)) if entries else text

    return rewritten(data, lambda name, text: moved(name, text) if name == "ppt/presentation.xml" else text)


def pages_of(data: bytes) -> dict[int, str]:
    (document,) = parse_bytes(data, name="deck.pptx")
    assert isinstance(document, Document)
    making.spans_hold(document)
    return {page.number: document.text[page.start : page.end] for page in document.pages}


def shown(data: bytes) -> list[tuple[str, str]]:
    """The number in each slide's title, and the words of its note."""
    pages = pages_of(data)
    assert list(pages) == list(range(1, len(pages) + 1))
    return [
        (re.findall(r"Slide (\d+) on", text)[0], "".join(re.findall(r"Notes:\s+(.*\S)", text)))
        for text in pages.values()
    ]


def test_a_word_file_keeps_its_table_in_place(tmp_path: Path) -> None:
    document = read_one(save(tmp_path, "a.docx", making.word()))
    assert (document.kind, document.title) == ("docx", "Harvest report")
    assert document.metadata["author"] == "Ann Lee"
    assert rows_of(document) == ["| Field | Tons |", "| North | 10 |", "| South \\| low | 20 |"]
    assert document.text.index("good year.") < document.tables[0].start < document.text.index("After the table.")


def test_slides_are_pages_with_notes_and_tables(tmp_path: Path) -> None:
    document = read_one(save(tmp_path, "deck.pptx", making.slides()))
    assert document.kind == "pptx"
    assert document.title == "Slide 1 on sieves"
    assert len(document.pages) == 3
    assert document.page_at(document.text.index("A note for the speaker")) == 1
    assert document.page_at(document.text.index("Point 3")) == 3
    assert rows_of(document) == ["| mesh | loss |", "| fine | 3 |"]
    assert document.page_at(document.tables[0].start) == 2


def test_notes_belong_to_their_slide_whatever_slides_have_none_or_are_hidden() -> None:
    assert shown(DECK) == [("1", ""), ("2", "Of two"), ("3", ""), ("4", "Of four"), ("5", "Of five")]


@pytest.mark.parametrize("order", [[5, 1, 2, 3, 4], [2, 1, 4, 3, 5], [4, 2]])
def test_slides_come_in_the_order_they_are_shown_with_their_notes(order: list[int]) -> None:
    notes = {2: "Of two", 4: "Of four", 5: "Of five"}
    assert shown(reordered(DECK, order)) == [(str(number), notes.get(number, "")) for number in order]


def test_parts_of_a_deck_may_have_any_name() -> None:
    def renamed(name: str) -> str:
        return name.replace("slides/slide", "slides/folie").replace("slides/_rels/slide", "slides/_rels/folie")

    deck = rewritten(DECK, lambda _, text: text.replace("slides/slide", "slides/folie"), renamed)
    assert shown(deck) == shown(DECK)


def test_each_sheet_of_a_workbook_is_a_table_under_its_name(tmp_path: Path) -> None:
    document = read_one(save(tmp_path, "towns.xlsx", making.workbook()))
    assert (document.kind, document.title) == ("xlsx", "towns")
    assert rows_of(document) == ["| city | people |", "| Paris | 2100000 |", "| Rome | 2.8 |"]
    assert rows_of(document, 1) == ["| Po | a \\| b |"]
    assert document.text.startswith("Cities\n\n| city")


def test_tables_side_by_side_under_titles_of_their_own_are_two_tables(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    for row in (["Fares", None, None, "Crew"], ["Route", "Price", None, "Name", "Cabin"],
                ["Orsay", 18, None, "Holt", "B14"], ["Vannes", 22, None, "Ives", "C02"]):  # fmt: skip
        sheet.append(row)
    book.save(buffer := io.BytesIO())
    document = read_one(save(tmp_path, "ferry.xlsx", buffer.getvalue()))
    assert rows_of(document) == ["| Route | Price |", "| Orsay | 18 |", "| Vannes | 22 |"]
    assert rows_of(document, 1) == ["| Name | Cabin |", "| Holt | B14 |", "| Ives | C02 |"]


def test_a_book_is_read_chapter_by_chapter(tmp_path: Path) -> None:
    document = read_one(save(tmp_path, "a.epub", making.book()))
    assert (document.kind, document.title, document.date) == ("epub", "On Flails", "1999-05-05")
    assert document.text.startswith("Chapter one\n\nIt was night one.\n\n| k | v |\n| 1 | one |\n\nChapter two")
    assert document.metadata["author"] == "Zed"


def test_the_day_of_a_librarys_template_is_no_day_of_the_document(tmp_path: Path) -> None:
    buffer = io.BytesIO()
    written = docx.Document()
    written.add_paragraph("The barn is full.")
    written.save(buffer)
    assert read_one(save(tmp_path, "a.docx", buffer.getvalue())).date is None
    written.core_properties.created = datetime(2021, 4, 12, 9)
    written.save(dated := io.BytesIO())
    assert read_one(save(tmp_path, "b.docx", dated.getvalue())).date == "2021-04-12"

    deck = pptx.Presentation()
    deck.slides.add_slide(deck.slide_layouts[1]).shapes.title.text = "The barn"
    deck.save(slides := io.BytesIO())
    assert read_one(save(tmp_path, "a.pptx", slides.getvalue())).date is None


def test_items_of_a_word_list_keep_their_marks_whether_by_style_or_by_numbering(tmp_path: Path) -> None:
    document = docx.Document()
    document.add_paragraph("A branch is closed in these steps:")
    for step in ("Tell the council.", "Move the archive."):
        document.add_paragraph(step, style="List Number")
    document.add_paragraph("It offers:")
    document.add_paragraph("Advice", style="List Bullet")
    numbering = document.add_paragraph("By numbering")._p.get_or_add_pPr().get_or_add_numPr()
    numbering.get_or_add_ilvl().val = 0
    numbering.get_or_add_numId().val = 5
    buffer = io.BytesIO()
    document.save(buffer)
    text = read_one(save(tmp_path, "a.docx", buffer.getvalue())).text.split("\n\n")
    assert text[:3] == ["A branch is closed in these steps:", "1. Tell the council.", "2. Move the archive."]
    assert text[3:5] == ["It offers:", "- Advice"]
    assert text[5].endswith(" By numbering")
