"""What was done to characters changes what they say: raised, struck, ticked, hidden."""

from __future__ import annotations

import io
from pathlib import Path

import docx
import openpyxl
import pptx
import pytest
from docx.enum.style import WD_STYLE_TYPE
from docx.oxml import OxmlElement, parse_xml
from docx.oxml.ns import qn
from openpyxl.styles import Font
from reportlab.pdfgen import canvas

from tests.documents.making import read_one, save, saved
from thresher.documents.sources import Limits
from thresher.structure.locators import locate
from thresher.types import Document

RAISED = [
    ("It houses 35<2> trams.", "It houses 35 [2] trams."),
    ("It has 48<2> seats.", "It has 48 [2] seats."),
    ("It weighs 1,250<1> kilos.", "It weighs 1,250 [1] kilos."),
    ("In 2010<12> it closed.", "In 2010 [12] it closed."),
    ("It makes 3.2 x 10<6> bolts.", "It makes 3.2 x 10^6 bolts."),
    ("It holds 10<6> cells.", "It holds 10^6 cells."),
    ("A key is one of 2<32> values.", "A key is one of 2^32 values."),
    ("The lens has 5<-1> steps.", "The lens has 5^-1 steps."),
    ("We know 5<2> = 25 well.", "We know 5^2 = 25 well."),
]
"""The figures in brackets are raised."""


def pieces(text: str) -> list[tuple[str, bool]]:
    """The runs of a text, and whether each is raised."""
    found = [part for each in text.split("<") for part in each.split(">")]
    return [(part, number % 2 == 1) for number, part in enumerate(found)]


def raised_pdf(text: str) -> bytes:
    buffer = io.BytesIO()
    page = canvas.Canvas(buffer, invariant=1)
    line = page.beginText(72, 700)
    for part, up in pieces(text):
        line.setFont("Helvetica", 6.5 if up else 11)
        line.setRise(4 if up else 0)
        line.textOut(part)
    page.drawText(line)
    page.save()
    return buffer.getvalue()


def raised_docx(text: str) -> bytes:
    made = docx.Document()
    paragraph = made.add_paragraph()
    for part, up in pieces(text):
        paragraph.add_run(part).font.superscript = up
    return saved(made)


def raised_html(text: str) -> bytes:
    return "".join(f"<sup>{part}</sup>" if up else part for part, up in pieces(text)).encode()


MADE = {"pdf": raised_pdf, "docx": raised_docx, "html": raised_html}


@pytest.mark.parametrize(("text", "read"), RAISED)
@pytest.mark.parametrize("kind", MADE)
def test_a_raised_note_stands_apart_and_a_power_stays_one(kind: str, text: str, read: str, tmp_path: Path) -> None:
    document = read_one(save(tmp_path, f"a.{kind}", MADE[kind](text)))
    assert document.text == read
    assert "words_not_read" not in document.metadata


def test_a_figure_of_another_line_is_not_taken_for_the_raised_one(tmp_path: Path) -> None:
    buffer = io.BytesIO()
    page = canvas.Canvas(buffer, invariant=1)
    page.setFont("Helvetica", 11)
    page.drawString(72, 700, "The paper came out at a conference in 2022.")
    page.drawString(72, 650, "2")
    page.setFont("Helvetica", 6.5)
    page.drawString(78.2, 654, "2")
    page.save()
    document = read_one(save(tmp_path, "a.pdf", buffer.getvalue()))
    assert "at a conference in 2022." in document.text


def test_an_exponent_whose_sign_is_of_another_font_is_one(tmp_path: Path) -> None:
    buffer = io.BytesIO()
    page = canvas.Canvas(buffer, invariant=1)
    line = page.beginText(72, 700)
    for font, size, rise, part in (
        ("Helvetica", 11, 0, "It is set to 10"),
        ("Symbol", 6.5, 4, "\u2212"),
        ("Helvetica", 6.5, 4, "8"),
        ("Helvetica", 11, 0, " at first."),
    ):
        line.setFont(font, size)
        line.setRise(rise)
        line.textOut(part)
    page.drawText(line)
    page.save()
    assert read_one(save(tmp_path, "a.pdf", buffer.getvalue())).text == "It is set to 10^−8 at first."


def test_words_of_a_pdf_that_a_line_is_drawn_through_are_struck_and_underlined_ones_are_not(tmp_path: Path) -> None:
    buffer = io.BytesIO()
    page = canvas.Canvas(buffer)
    page.setFont("Helvetica", 12)
    page.drawString(72, 700, "A ticket costs 2.10 2.80 euros a day.")
    left, wide = 72 + page.stringWidth("A ticket costs "), page.stringWidth("2.10")
    page.line(left, 704, left + wide, 704)
    page.line(72 + page.stringWidth("A "), 698, left, 698)
    page.line(72, 704, 72 + page.stringWidth("A tick"), 704)
    page.save()
    assert read_one(save(tmp_path, "a.pdf", buffer.getvalue())).text == "A ticket costs ~~2.10~~ 2.80 euros a day."


def test_a_figure_that_is_raised_by_points_or_by_a_style_of_word_is_raised(tmp_path: Path) -> None:
    made = docx.Document()
    by_style = made.styles.add_style("Raised", WD_STYLE_TYPE.CHARACTER)
    by_style.font.superscript = True
    paragraph = made.add_paragraph("It houses 35")
    moved = paragraph.add_run("2")
    moved._r.get_or_add_rPr().append(OxmlElement("w:position", {qn("w:val"): "8"}))
    paragraph.add_run(" trams, 48")
    paragraph.add_run("3", style="Raised")
    lowered = paragraph.add_run(" buses and 1")
    lowered._r.get_or_add_rPr().append(OxmlElement("w:position", {qn("w:val"): "-8"}))
    assert read_one(save(tmp_path, "a.docx", saved(made))).text == "It houses 35 [2] trams, 48 [3] buses and 1"


def test_a_note_behind_a_word_stands_apart_and_a_unit_keeps_its_power(tmp_path: Path) -> None:
    page = "<p>It houses trams<sup>2</sup> on 40 m<sup>2</sup>.</p>"
    assert read_one(save(tmp_path, "a.html", page)).text == "It houses trams [2] on 40 m2."


@pytest.mark.parametrize("line", ["strike", "double_strike"])
def test_struck_runs_of_word_are_marked(line: str, tmp_path: Path) -> None:
    made = docx.Document()
    paragraph = made.add_paragraph("A ticket costs ")
    for part in ("2.", "10"):
        setattr(paragraph.add_run(part).font, line, True)
    paragraph.add_run(" 2.80 euros.")
    document = read_one(save(tmp_path, "a.docx", saved(made)))
    assert document.text == "A ticket costs ~~2.10~~ 2.80 euros."
    assert "words_not_read" not in document.metadata


def test_a_style_strikes_and_a_run_may_undo_it(tmp_path: Path) -> None:
    made = docx.Document()
    made.styles["Quote"].font.strike = True
    paragraph = made.add_paragraph("Pay 5. Call us.", style="Quote")
    paragraph.add_run(" Pay 7.").font.strike = False
    assert read_one(save(tmp_path, "a.docx", saved(made))).text == "~~Pay 5~~. ~~Call us~~. Pay 7."


@pytest.mark.parametrize(
    ("page", "read"),
    [
        ("It costs <del>7</del> 9.", "It costs ~~7~~ 9."),
        ("It costs <s>7 <b>pounds</b></s> 9.", "It costs ~~7 pounds~~ 9."),
        ("It costs <strike>7</strike> 9.", "It costs ~~7~~ 9."),
        ('It costs <span style="text-decoration: line-through">7</span> 9.', "It costs ~~7~~ 9."),
        ('It costs <span style="text-decoration: underline">7</span> or 9.', "It costs 7 or 9."),
    ],
)
def test_struck_text_of_a_page_is_marked(page: str, read: str, tmp_path: Path) -> None:
    assert read_one(save(tmp_path, "a.html", page)).text == read


def test_each_struck_sentence_of_markdown_is_marked_and_code_is_left_alone(tmp_path: Path) -> None:
    text = "~~Pay 5. Call us.~~ Pay 7.\n\n```\n~~a. B c.~~\n```"
    assert read_one(save(tmp_path, "a.md", text)).text == "~~Pay 5~~. ~~Call us~~. Pay 7.\n\n```\n~~a. B c.~~\n```"


def test_a_struck_cell_of_a_sheet_is_marked(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    for row in (["Tool", "Rent"], ["Drill", 11], ["Sander", 14]):
        book.active.append(row)
    book.active["B3"].font = Font(strike=True)
    text = read_one(save(tmp_path, "a.xlsx", saved(book))).text
    assert "| Drill | 11 |" in text
    assert "| Sander | ~~14~~ |" in text


W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
W14 = 'xmlns:w14="http://schemas.microsoft.com/office/word/2010/wordml"'


def old_box(state: str) -> tuple[str, ...]:
    return (
        f'<w:r {W}><w:fldChar w:fldCharType="begin"><w:ffData><w:checkBox>{state}</w:checkBox></w:ffData></w:fldChar>'
        "</w:r>",
        f"<w:r {W}><w:instrText>FORMCHECKBOX</w:instrText></w:r>",
        f'<w:r {W}><w:fldChar w:fldCharType="end"/></w:r>',
    )


def new_box(state: int) -> tuple[str, ...]:
    return (
        f'<w:sdt {W} {W14}><w:sdtPr><w14:checkbox><w14:checked w14:val="{state}"/></w14:checkbox></w:sdtPr>'
        f"<w:sdtContent><w:r><w:t>☒</w:t></w:r></w:sdtContent></w:sdt>",
    )


@pytest.mark.parametrize(
    ("empty", "ticked"),
    [
        (old_box('<w:default w:val="0"/>'), old_box('<w:default w:val="1"/>')),
        (old_box('<w:default w:val="1"/><w:checked w:val="0"/>'), old_box('<w:default w:val="0"/><w:checked/>')),
        (new_box(0), new_box(1)),
    ],
)
def test_boxes_of_word_are_read_with_their_state(
    empty: tuple[str, ...], ticked: tuple[str, ...], tmp_path: Path
) -> None:
    made = docx.Document()
    paragraph = made.add_paragraph("Hull: ")
    for box, option in ((empty, " wood "), (ticked, " steel")):
        for element in box:
            paragraph._p.append(parse_xml(element))
        paragraph.add_run(option)
    assert read_one(save(tmp_path, "a.docx", saved(made))).text == "Hull: ☐ wood ☑ steel"


@pytest.mark.parametrize("kind", ["radio", "checkbox"])
def test_boxes_of_a_page_are_read_with_their_state(kind: str, tmp_path: Path) -> None:
    page = f"<p>Hull: <input type={kind}> wood <input type={kind} checked> steel</p>"
    assert read_one(save(tmp_path, "a.html", page)).text == "Hull: ☐ wood ☑ steel"


def place(document: Document, words: str) -> str:
    start = document.text.index(words)
    return locate(document, start, start + len(words))


def test_a_hidden_slide_and_its_notes_are_cited_as_hidden_and_the_others_are_not(tmp_path: Path) -> None:
    deck = pptx.Presentation()
    for name in ("first", "second", "third"):
        slide = deck.slides.add_slide(deck.slide_layouts[5])
        slide.shapes.title.text = name
        if name == "second":
            slide._element.set("show", "0")
            slide.notes_slide.notes_text_frame.text = "spoken"
    document = read_one(save(tmp_path, "a.pptx", saved(deck)))
    places = [place(document, name) for name in ("first", "second", "spoken", "third")]
    assert places == ["slide 1", "slide 2, hidden slide", "slide 2, notes, hidden slide", "slide 3"]


def test_a_shape_that_is_switched_off_is_cited_as_hidden(tmp_path: Path) -> None:
    deck = pptx.Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[5])
    slide.shapes.title.text = "shown"
    box = slide.shapes.add_textbox(0, 0, 10, 10)
    box.text_frame.text = "secret"
    box._element.nvSpPr.cNvPr.set("hidden", "1")
    slide.shapes.add_textbox(0, 0, 10, 10).text_frame.text = "open"
    document = read_one(save(tmp_path, "a.pptx", saved(deck)))
    assert [place(document, word) for word in ("shown", "secret", "open")] == [
        "slide 1",
        "slide 1, hidden shape",
        "slide 1",
    ]


def sheets() -> bytes:
    book = openpyxl.Workbook()
    prices, wages, boats = book.active, book.create_sheet("Wages"), book.create_sheet("Boats")
    prices.title, wages.sheet_state = "Prices", "hidden"
    for sheet, rows in (
        (prices, (["Item", "Price", "Cost"], ["Rope", 12, 7], ["Chain", 30, 21], ["Hook", 5, 2])),
        (wages, (["Name", "Wage"], ["Ina", 4100], ["Tor", 3900])),
        (boats, (["Town", "Boats"], ["Arn", 4], ["Bol", 9])),
    ):
        for row in rows:
            sheet.append(row)
    prices.row_dimensions[3].hidden = True
    prices.column_dimensions["C"].hidden = True
    return saved(book)


@pytest.mark.parametrize(
    ("words", "where"),
    [
        ("| Rope | 12 | 7 |", "sheet “Prices”, cells A2:C2, hidden column C"),
        ("| Rope | 12", "sheet “Prices”, cells A2:B2"),
        ("| Chain | 30", "sheet “Prices”, hidden row, cells A3:B3"),
        ("| Hook | 5", "sheet “Prices”, cells A4:B4"),
        ("Chain | 30 | 21 |\n| Hook | 5", "sheet “Prices”, in part hidden row, cells A3:B4"),
        ("| Ina | 4100 |", "sheet “Wages”, hidden sheet, cells A2:B2"),
        ("| Bol | 9 |", "sheet “Boats”, cells A3:B3"),
    ],
)
def test_hidden_rows_columns_and_sheets_are_cited_as_hidden(words: str, where: str, tmp_path: Path) -> None:
    assert place(read_one(save(tmp_path, "a.xlsx", sheets())), words) == where


def test_hidden_rows_and_columns_are_left_out_where_that_is_set(tmp_path: Path) -> None:
    document = read_one(save(tmp_path, "a.xlsx", sheets()), limits=Limits(hidden=False))
    assert "| Item | Price |\n| Rope | 12 |\n| Hook | 5 |" in document.text
    assert "hidden" not in place(document, "Rope")


def test_hidden_words_of_word_are_cited_as_hidden(tmp_path: Path) -> None:
    made = docx.Document()
    made.add_heading("Offer", 1)
    paragraph = made.add_paragraph("The price is 400.")
    paragraph.add_run(" Our cost is 250.").font.hidden = True
    paragraph.add_run(" It holds until May.")
    made.add_paragraph().add_run("The discount is 30.").font.hidden = True
    made.add_paragraph("Delivery is free.")
    table = made.add_table(3, 2)
    for row, texts in zip(table.rows, (("Part", "Stock"), ("Valve", "14"), ("Pump", "3")), strict=True):
        for cell, text in zip(row.cells, texts, strict=True):
            cell.text = text
    table.rows[2]._tr.get_or_add_trPr().append(OxmlElement("w:hidden"))
    document = read_one(save(tmp_path, "a.docx", saved(made)))
    assert document.text.startswith("Offer\n\nThe price is 400. Our cost is 250. It holds until May.\n\nThe discount")
    assert place(document, "The price is 400.") == "under “Offer”"
    assert place(document, "Our cost is 250.") == "hidden text, under “Offer”"
    assert place(document, "The price is 400. Our cost") == "in part hidden text, under “Offer”"
    assert place(document, "The discount is 30.") == "hidden text, under “Offer”"
    assert place(document, "Delivery is free.") == "under “Offer”"
    assert place(document, "| Valve | 14 |") == "table 1, row 2, under “Offer”"
    assert place(document, "| Pump | 3 |") == "hidden text, table 1, row 3, under “Offer”"


@pytest.mark.parametrize(
    ("words", "where"),
    [
        ("The bus leaves at nine.", ""),
        ("The guide is paid.", "hidden text"),
        ("Bring a coat.", ""),
        ("Code 4711.", "hidden text"),
        ("See you.", ""),
        ("| Mill | 9:10 |", "table 1, row 2"),
        ("| Ford | 9:25 |", "hidden text, table 1, row 3"),
    ],
)
def test_hidden_words_of_a_page_are_cited_as_hidden(words: str, where: str, tmp_path: Path) -> None:
    page = """<p>The bus leaves at nine.</p><div style="display:none"><p>The guide is paid.</p></div>
<p>Bring a coat. <span style="visibility:hidden">Code 4711.</span> See you.</p>
<table><tr><th>Stop<th>Time<tr><td>Mill<td>9:10<tr hidden><td>Ford<td>9:25</table>"""
    assert place(read_one(save(tmp_path, "a.html", page)), words) == where
