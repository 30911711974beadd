from __future__ import annotations

import re
from datetime import datetime
from pathlib import Path

import docx
import openpyxl
import pptx
import pytest
from docx.oxml import OxmlElement, parse_xml
from docx.oxml.ns import nsdecls, qn
from openpyxl.comments import Comment
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE

from tests.documents import making
from tests.documents.making import parse_bytes, read_one, rows_of, save, saved
from thresher.documents.formats.number_formats import shown_number
from thresher.documents.formats.word import written
from thresher.documents.sources import Limits
from thresher.types import Document

DECK = making.slides(["", "Of two", "", "Of four", "Of five"], hidden=[3, 5])
"""Three notes of five slides: their parts are notesSlide1, 2 and 3."""


def reordered(data: bytes, order: list[int]) -> bytes:
    """The deck with its slides shown in another order; the parts keep their names."""
    parts = making.members(data)
    text = parts["ppt/presentation.xml"].decode()
    entries = re.findall(r"<p:sldId [^>]*>", text)
    moved = text.replace("".join(entries), "".join(entries[number - 1] for number in order))
    return making.archive({**parts, "ppt/presentation.xml": moved.encode()})


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


def test_slides_are_pages_with_notes_and_tables(tmp_path: Path) -> None:
    document = read_one(save(tmp_path, "deck.pptx", making.slides()))
    assert document.kind == "pptx"
    assert document.title == "Slide 1 on sieves"
    assert len(document.pages) == 3
    assert document.page_at(document.text.index("A note for the speaker")) == 1
    assert document.page_at(document.text.index("Point 3")) == 3
    assert rows_of(document) == ["| mesh | loss |", "| fine | 3 |"]
    assert document.page_at(document.tables[0].start) == 2


@pytest.mark.parametrize("order", [[1, 2, 3, 4, 5], [5, 1, 2, 3, 4], [4, 2]])
def test_slides_come_in_the_order_they_are_shown_with_their_notes(order: list[int]) -> None:
    notes = {2: "Of two", 4: "Of four", 5: "Of five"}
    assert shown(reordered(DECK, order)) == [(str(number), notes.get(number, "")) for number in order]


def test_each_sheet_of_a_workbook_is_a_table_under_its_name(tmp_path: Path) -> None:
    document = read_one(save(tmp_path, "towns.xlsx", making.workbook()))
    assert (document.kind, document.title) == ("xlsx", "towns")
    assert rows_of(document) == ["| city | people |", "| Paris | 2100000 |", "| Rome | 2.8 |"]
    assert rows_of(document, 1) == ["| Po | a \\| b |"]
    assert document.text.startswith("Cities\n\n| city")


def test_a_sheet_that_is_named_as_another_ones_identifier_keeps_its_cells(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    book.active.title, book.active["A1"] = "rId2", "oats"
    book.create_sheet("two")["A1"] = "rye"
    assert read_one(save(tmp_path, "a.xlsx", making.saved(book))).text == "rId2\n\noats\n\ntwo\n\nrye"


def test_tables_side_by_side_under_titles_of_their_own_are_two_tables(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    for row in (["Fares", None, None, "Crew"], ["Route", "Price", None, "Name", "Cabin"],
                ["Orsay", 18, None, "Holt", "B14"], ["Vannes", 22, None, "Ives", "C02"]):  # fmt: skip
        sheet.append(row)
    document = read_one(save(tmp_path, "ferry.xlsx", saved(book)))
    assert rows_of(document) == ["| Route | Price |", "| Orsay | 18 |", "| Vannes | 22 |"]
    assert rows_of(document, 1) == ["| Name | Cabin |", "| Holt | B14 |", "| Ives | C02 |"]


@pytest.mark.parametrize(
    ("value", "code", "shown"),
    [
        ("0.075", "0.0 %", "7.5 %"),
        ("1234567.891", '#,##0.00 "€"', "1,234,567.89 €"),
        ("-1234.5", "#,##0.00;[Red](#,##0.00)", "(1,234.50)"),
        ("-0.001", "0.00", "0.00"),
        ("2500000", '0.0,,"M"', "2.5M"),
        ("12345", "0.00E+00", "1.23E+04"),
        ("44562.75", "d. mmmm yyyy h:mm AM/PM", "1. January 2022 6:00 PM"),
        ("44562.75", "dd/mm/yy hh:mm:ss.0", "01/01/22 18:00:00.0"),
        ("1.5", "[h]:mm", "36:00"),
        ("0.5", "# ?/?", "0.5"),  # fractions: as without a format
        ("21391234", "00000-0000", "02139-1234"),
        ("1234567.891", '# ##0.00 "kr"', "1234 567.89 kr"),
        ("44197", "[>40000]yyyy-mm-dd;0", "44197"),  # conditions: likewise
        ("0.1234567890123", "General", "0.123456789"),
        ("7", '0" kg"', "7 kg"),
        ("word", "0.00", "word"),
    ],
)
def test_a_number_is_shown_as_its_format_says(value: str, code: str, shown: str) -> None:
    assert shown_number(value, code) == shown


def test_a_chart_is_its_titles_and_a_table_of_its_numbers(tmp_path: Path) -> None:
    data = CategoryChartData()
    data.categories = ["Spring", "Autumn"]
    data.add_series("Oats", (4.5, 7))
    data.add_series("Rye", (3, None))
    deck = pptx.Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[6])
    chart = slide.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, 0, 0, 914400, 914400, data).chart
    chart.has_title = True
    chart.chart_title.text_frame.text = "Harvest in tonnes"
    document = read_one(save(tmp_path, "a.pptx", saved(deck)))
    assert document.text.startswith("Harvest in tonnes")
    assert rows_of(document) == ["|  | Oats | Rye |", "| Spring | 4.5 | 3 |", "| Autumn | 7 |  |"]


# --- Word -------------------------------------------------------------------------------------------------------------


def test_a_word_file_keeps_its_table_in_place(tmp_path: Path) -> None:
    document = read_one(save(tmp_path, "a.docx", making.word()))
    assert (document.kind, document.title) == ("docx", "Harvest report")
    assert document.metadata["author"] == "Ann Lee"
    assert rows_of(document) == ["| Field | Tons |", "| North | 10 |", "| South \\| low | 20 |"]
    assert document.text.index("good year.") < document.tables[0].start < document.text.index("After the table.")


def test_columns_apart_by_tabs_and_hyphens_that_do_not_break_are_kept(tmp_path: Path) -> None:
    document = docx.Document()
    document.add_heading("Q&A of the R&D board", 1)
    document.add_paragraph("Contact\tTelephone\tRoom")
    document.add_paragraph("Vera Holt\t5512\tB14")
    paragraph = document.add_paragraph()
    paragraph.add_run("Order A")._r.append(OxmlElement("w:noBreakHyphen"))
    paragraph.add_run("17 is late.")
    text = read_one(save(tmp_path, "a.docx", saved(document))).text
    assert text == (
        "Q&A of the R&D board\n\n| Contact | Telephone | Room |\n| Vera Holt | 5512 | B14 |\n\nOrder A-17 is late."
    )


def test_hidden_text_is_counted_and_left_out_where_that_is_set(tmp_path: Path) -> None:
    document = docx.Document()
    document.add_paragraph("Shown to all.")
    document.add_paragraph().add_run("The code is 4711.").font.hidden = True
    file = save(tmp_path, "a.docx", saved(document))
    found = read_one(file)
    assert "4711" in found.text
    assert found.metadata["hidden_words"] == 4
    assert "4711" not in read_one(file, limits=Limits(hidden=False)).text


def test_items_of_a_word_list_keep_their_marks_whether_by_style_or_by_numbering(tmp_path: Path) -> None:
    document = docx.Document()
    for step in ("Tell the council.", "Move the archive."):
        document.add_paragraph(step, style="List Number")
    document.add_paragraph("Advice", style="List Bullet")
    numbering = document.add_paragraph("By numbering")._p.get_or_add_pPr().get_or_add_numPr()
    numbering.get_or_add_ilvl().val = 0
    numbering.get_or_add_numId().val = 5
    *items, last = read_one(save(tmp_path, "a.docx", saved(document))).text.split("\n\n")
    assert items == ["1. Tell the council.", "2. Move the archive.", "- Advice"]
    assert last.endswith(" By numbering")


@pytest.mark.parametrize(
    ("number", "form", "shown"),
    [
        *((2, "none", ""), (2, "lowerLetter", "b"), (28, "upperLetter", "BB"), (7, "decimalZero", "07")),
        *((1994, "upperRoman", "MCMXCIV"), (4, "lowerRoman", "iv"), (3, "decimal", "3")),
    ],
)
def test_a_list_of_a_word_file_counts_as_its_form_says(number: int, form: str, shown: str) -> None:
    assert written(number, form) == shown


def test_a_comment_names_its_author_below_its_paragraph_and_signs_of_picture_fonts_are_what_they_look_like() -> None:
    document = docx.Document()
    run = document.add_paragraph("The sluice opens at noon. ").add_run("Agreed: ")
    for font, code in (("Symbol", "F0B3"), ("Wingdings", "F0FC"), ("Wingdings", "F001"), ("Arial", "41")):
        run._r.append(parse_xml(f'<w:sym {nsdecls("w")} w:font="{font}" w:char="{code}"/>'))
    document.add_comment(run, "Not on Sundays.", author="Ann Lee")
    document.add_paragraph("The lock is closed.")
    (read,) = parse_bytes(saved(document), name="a.docx")
    assert isinstance(read, Document)
    assert read.text.split("\n\n") == [
        *("The sluice opens at noon. Agreed: ≥✓□A", "Comment by Ann Lee: Not on Sundays.", "The lock is closed."),
    ]


def test_a_comment_on_a_cell_stands_behind_the_table_with_its_place(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    for row in (["pump", "litres", "checked"], ["old", 40, True], ["new", 90, False]):
        book.active.append(row)
    book.active["B3"].comment = Comment("Measured in May.", "Ann Lee")
    document = read_one(save(tmp_path, "a.xlsx", saved(book)))
    assert rows_of(document)[1:] == ["| old | 40 | TRUE |", "| new | 90 | FALSE |"]
    assert document.text.index("Comment on B3: Measured in May.") > document.tables[0].end


def test_a_comment_on_a_slide_names_its_author_and_numbered_points_keep_their_numbers() -> None:
    deck = pptx.Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[1])
    slide.shapes.title.text = "The weir"
    slide.placeholders[1].text = "Close the gate.\nCall the keeper."
    for paragraph in slide.placeholders[1].text_frame.paragraphs:
        paragraph._p.get_or_add_pPr().append(parse_xml(f'<a:buAutoNum {nsdecls("a")} type="arabicPeriod"/>'))
    parts = making.members(saved(deck))
    space = 'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main"'
    said = '<p:cm authorId="0"><p:text>Since when?</p:text></p:cm>'
    parts["ppt/comment1.xml"] = f"<p:cmLst {space}>{said}</p:cmLst>".encode()
    parts["ppt/authors.xml"] = f'<p:cmAuthorLst {space}><p:cmAuthor id="0" name="Ann Lee"/></p:cmAuthorLst>'.encode()
    kinds = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    for owner, kind, part in (
        ("ppt/slides/_rels/slide1.xml.rels", "comments", "comment1"),
        ("ppt/_rels/presentation.xml.rels", "commentAuthors", "authors"),
    ):
        added = f'<Relationship Id="rId99" Type="{kinds}/{kind}" Target="/ppt/{part}.xml"/></Relationships>'
        parts[owner] = parts[owner].replace(b"</Relationships>", added.encode())
    (text,) = pages_of(making.archive(parts)).values()
    assert "1. Close the gate." in text
    assert "2. Call the keeper." in text
    assert text.rstrip().endswith("Comment by Ann Lee: Since when?")


def test_the_day_of_a_librarys_template_is_no_day_of_the_document(tmp_path: Path) -> None:
    document = docx.Document()
    document.add_paragraph("The barn is full.")
    assert read_one(save(tmp_path, "a.docx", saved(document))).date is None
    document.core_properties.created = datetime(2021, 4, 12, 9)
    assert read_one(save(tmp_path, "a.docx", saved(document))).date == "2021-04-12"


def test_a_row_that_begins_in_a_later_column_stays_below_its_names(tmp_path: Path) -> None:
    document = docx.Document()
    table = document.add_table(rows=2, cols=3)
    for at, text in enumerate(["Town", "Plan", "Actual", "Lund", "5", "7"]):
        table.cell(*divmod(at, 3)).text = text
    row = table.rows[1]._tr
    row.remove(row.tc_lst[0])
    row.get_or_add_trPr().append(row.makeelement(qn("w:gridBefore"), {qn("w:val"): "1"}))
    assert rows_of(read_one(save(tmp_path, "a.docx", saved(document)))) == ["| Town | Plan | Actual |", "|  | 5 | 7 |"]


def _field(inside: str, result: str = "") -> str:
    return (
        f'<w:p {nsdecls("w")}><w:r><w:t xml:space="preserve">Fuel: </w:t></w:r><w:r><w:fldChar w:fldCharType="begin">'
        f"<w:ffData>{inside}</w:ffData></w:fldChar></w:r><w:r><w:instrText> FORM </w:instrText></w:r>"
        f'<w:r><w:fldChar w:fldCharType="separate"/></w:r><w:r><w:t>{result}</w:t></w:r>'
        '<w:r><w:fldChar w:fldCharType="end"/></w:r></w:p>'
    )


def _control(properties: str, text: str) -> str:
    return (
        f'<w:p {nsdecls("w")}><w:sdt><w:sdtPr>{properties}<w:dropDownList><w:listItem w:displayText="Gas" w:value="g"/>'
        f"</w:dropDownList></w:sdtPr><w:sdtContent><w:r><w:t>{text}</w:t></w:r></w:sdtContent></w:sdt></w:p>"
    )


def test_a_field_of_a_form_is_what_was_chosen_or_typed_and_an_empty_one_is_nothing() -> None:
    document = docx.Document()
    entries = '<w:listEntry w:val="Gas"/><w:listEntry w:val="Oil"/>'
    pieces = (
        *(_field(f'<w:ddList><w:result w:val="1"/>{entries}</w:ddList>', result) for result in ("", "Oil")),
        _field(f"<w:ddList>{entries}</w:ddList>"),
        _field("<w:textInput/>", "Peat"),
        _control("<w:showingPlcHdr/>", "Choose an item."),
    )
    table = document.add_table(rows=2, cols=2)
    for row, (label, kept) in zip(table.rows, [("Boiler type", "Pellets"), ("Urgency:", "Middle")], strict=True):
        row.cells[0].text = label
        row.cells[1]._tc.append(parse_xml(_control("", kept)))
    for at, piece in enumerate(pieces):
        document.element.body.insert(at, parse_xml(piece))
    (read,) = parse_bytes(saved(document), name="a.docx")
    assert isinstance(read, Document)
    assert read.text.split("\n\n") == [
        *("Fuel: Oil", "Fuel: Oil", "Fuel: Gas", "Fuel: Peat", "Boiler type: Pellets", "Urgency: Middle"),
    ]
    assert "words_not_read" not in read.metadata


def test_a_text_box_that_is_drawn_in_two_ways_is_read_once_and_word_art_is_read() -> None:
    document = docx.Document()
    box = "<w:txbxContent><w:p><w:r><w:t>Mind the step.</w:t></w:r></w:p></w:txbxContent>"
    document.add_paragraph("The way in.")._p.append(
        parse_xml(
            f'<w:r {nsdecls("w")} xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" '
            'xmlns:v="urn:schemas-microsoft-com:vml" '
            'xmlns:wps="http://schemas.microsoft.com/office/word/2010/wordprocessingShape">'
            f'<mc:AlternateContent><mc:Choice Requires="wps"><w:drawing><wps:txbx>{box}</wps:txbx></w:drawing>'
            "</mc:Choice>"
            f"<mc:Fallback><w:pict><v:textbox>{box}</v:textbox></w:pict></mc:Fallback></mc:AlternateContent>"
            '<w:pict><v:textpath string="Open all year"/></w:pict></w:r>'
        )
    )
    (read,) = parse_bytes(saved(document), name="a.docx")
    assert isinstance(read, Document)
    assert read.text.count("Mind the step.") == 1
    assert "Open all year" in read.text
