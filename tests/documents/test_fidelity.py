"""What a person sees of a file is what is kept of it, whatever the format writes it with."""

from __future__ import annotations

import html
from email.message import EmailMessage
from xml.sax.saxutils import escape

import docx
import openpyxl
import pptx
import pytest
from docx.enum.text import WD_BREAK
from docx.oxml import OxmlElement
from docx.oxml.ns import qn
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from openpyxl.cell.rich_text import CellRichText, TextBlock
from openpyxl.cell.text import InlineFont

from tests.documents import making
from tests.documents.making import parse_bytes, rows_of
from thresher.documents.account import words_of
from thresher.types import Document

WORDS = st.text("abcxyzäéßØ019", min_size=1, max_size=8)
SIGNS = st.sampled_from(
    ["&", "<", ">", "R&D", "<5", ">12", "&amp;", "a<b", "7.5%", "£1,234.50", "§12", "±2", "“x”", "'", '"']
)
PIECES = st.lists(st.one_of(WORDS, WORDS, SIGNS), min_size=1, max_size=6)
LINES = st.lists(PIECES, min_size=1, max_size=4)
TABLE = st.lists(st.tuples(WORDS, PIECES, WORDS), min_size=2, max_size=4)
PROPERTY = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def kept(data: bytes, name: str) -> Document:
    document, *_ = parse_bytes(data, name=name)
    assert isinstance(document, Document)
    assert "words_not_read" not in document.metadata
    return document


def assert_seen(document: Document, texts: list[str]) -> None:
    """Every word and sign is kept, in its order."""
    said, at = words_of(document.text.replace("\\|", "|")), 0
    for word in words_of("\n".join(texts)):
        assert word in said[at:], (word, document.text)
        at = said.index(word, at) + 1


def plain(lines: list[list[str]], table: list[tuple[str, list[str], str]]) -> list[str]:
    return [*(" ".join(line) for line in lines), *(f"{a} {' '.join(b)} {c}" for a, b, c in table)]


RAISED = [("10", "6"), (" cells in 2019", "[3]"), (", on the 2", "nd"), (" floor, 10", "-3"), (" m", "2"), (", 5", "1")]
TOLD = "10^6 cells in 2019[3], on the 2nd floor, 10^-3 m2, 5 1/2."


def raised(kind: str) -> bytes:
    """A file whose text is `RAISED` and the rest of a fraction; the second of each pair is superscript."""
    if kind == "html":
        return "".join(f"{text}<sup>{up}</sup>" for text, up in RAISED).encode() + b"/<sub>2</sub>."
    if kind == "xlsx":
        up = InlineFont(vertAlign="superscript")
        book = openpyxl.Workbook()
        runs = [run for text, raised in RAISED for run in (text, TextBlock(up, raised))]
        book.active["A1"] = CellRichText(*runs, "/2.")
        return making.saved(book)
    if kind == "docx":
        made = docx.Document()
        paragraph = made.add_paragraph()
        for text, up in RAISED:
            paragraph.add_run(text)
            paragraph.add_run(up).font.superscript = True
        paragraph.add_run("/2.")
        return making.saved(made)
    deck = pptx.Presentation()
    frame = deck.slides.add_slide(deck.slide_layouts[6]).shapes.add_textbox(0, 0, 9, 9).text_frame
    for text, up in RAISED:
        for number, part in enumerate((text, up)):
            run = frame.paragraphs[0].add_run()
            run.text = part
            if number:
                run._r.get_or_add_rPr().set("baseline", "30000")
    frame.paragraphs[0].add_run().text = "/2."
    return making.saved(deck)


@pytest.mark.parametrize("kind", ["html", "docx", "pptx", "xlsx"])
def test_raised_digits_do_not_read_on_as_those_of_a_number(kind: str) -> None:
    assert TOLD in kept(raised(kind), f"a.{kind}").text


@pytest.mark.slow
@PROPERTY
@given(lines=LINES, table=TABLE)
def test_a_word_file(lines: list[list[str]], table: list[tuple[str, list[str], str]]) -> None:
    made = docx.Document()
    for line in lines:
        paragraph = made.add_paragraph()
        for number, piece in enumerate(line):
            middle = len(piece) // 2
            for part in (piece[:middle], piece[middle:]):  # a word is often cut into runs
                paragraph.add_run(part).bold = bool(number % 2)
            run = paragraph.add_run()
            if number % 3 == 0:
                run.add_tab()
            elif number % 3 == 1:
                run.add_break(WD_BREAK.LINE)
            else:
                run.add_text(" ")
    deleted = OxmlElement("w:del")
    deleted.append(OxmlElement("w:r"))
    gone = OxmlElement("w:delText")
    gone.text = "neverseen"
    deleted[0].append(gone)
    made.paragraphs[0]._p.append(deleted)
    inserted = OxmlElement("w:ins")
    inserted.append(OxmlElement("w:r"))
    new = OxmlElement("w:t")
    new.text = "inserted"
    new.set(qn("xml:space"), "preserve")
    inserted[0].append(new)
    made.add_paragraph()._p.append(inserted)
    grid = made.add_table(rows=0, cols=3)
    for row in table:
        for cell, text in zip(grid.add_row().cells, (row[0], " ".join(row[1]), row[2]), strict=True):
            cell.text = text
    document = kept(making.saved(made), "a.docx")
    assert "neverseen" not in document.text
    assert_seen(document, [*plain(lines, []), "inserted", *plain([], table)])


@PROPERTY
@given(lines=LINES, table=TABLE)
def test_a_deck(lines: list[list[str]], table: list[tuple[str, list[str], str]]) -> None:
    made = pptx.Presentation()
    slide = made.slides.add_slide(made.slide_layouts[5])
    slide.shapes.title.text = " ".join(lines[0])
    box = slide.shapes.add_textbox(0, 914400, 914400, 914400).text_frame
    for line in lines[1:]:
        paragraph = box.add_paragraph()
        for piece in line:
            paragraph.add_run().text = piece
            paragraph.add_line_break()
    cells = slide.shapes.add_table(len(table), 3, 0, 2 * 914400, 914400, 914400).table
    for number, row in enumerate(table):
        for column, text in enumerate((row[0], " ".join(row[1]), row[2])):
            cells.cell(number, column).text = text
    slide.notes_slide.notes_text_frame.text = "a note & more"
    assert_seen(kept(making.saved(made), "a.pptx"), [*plain(lines, table), "a note & more"])


@PROPERTY
@given(table=TABLE)
def test_a_workbook(table: list[tuple[str, list[str], str]]) -> None:
    made = openpyxl.Workbook()
    made.active.append(["Summer", None, "Winter"])
    made.active.merge_cells("A1:B1")
    for row in table:
        made.active.append([row[0], " ".join(row[1]), row[2]])
    assert_seen(kept(making.saved(made), "a.xlsx"), ["Summer", "Winter", *plain([], table[1:])])


def page(lines: list[list[str]], table: list[tuple[str, list[str], str]]) -> str:
    """A page with blocks of many kinds; of a word that is cut by a tag both parts are seen as one."""
    blocks = ["p", "div", "aside", "h2", "blockquote", "figcaption", "dd", "section"]
    cut = [[f"{escape(piece[:1])}<b>{escape(piece[1:])}</b>" for piece in line] for line in lines]
    body = "".join(f"<{tag}>{' '.join(line)}</{tag}>" for tag, line in zip(blocks, cut, strict=False))
    rows = "".join(
        f"<tr><td>{escape(a)}</td><td>{html.escape(' '.join(b))}</td><td>{escape(c)}</td></tr>" for a, b, c in table
    )
    head = "<tr><th>one</th><th>two</th><th>three</th></tr>"
    return f"<form><div>{body}</div><table>{head}{rows}</table></form>"


@PROPERTY
@given(lines=LINES, table=TABLE)
def test_a_page(lines: list[list[str]], table: list[tuple[str, list[str], str]]) -> None:
    source = f"<html><body><nav>neverseen</nav>{page(lines, table)}</body></html>"
    document = kept(source.encode(), "a.html")
    assert "neverseen" not in document.text
    assert_seen(document, plain(lines, table))


@PROPERTY
@given(lines=LINES, table=TABLE)
def test_a_book(lines: list[list[str]], table: list[tuple[str, list[str], str]]) -> None:
    chapter = f"<html><body>{page(lines, table)}</body></html>"
    assert_seen(kept(making.book(chapter), "a.epub"), plain(lines, table))


@PROPERTY
@given(lines=LINES, table=TABLE, form=st.sampled_from([("utf-8", "base64"), ("iso-8859-15", "quoted-printable")]))
def test_a_mail(lines: list[list[str]], table: list[tuple[str, list[str], str]], form: tuple[str, str]) -> None:
    charset, encoding = form
    made = EmailMessage()
    made["From"], made["Subject"] = "a@x.org", "Oats"
    made.set_content("Read the page.", cte=encoding)
    source = page(lines, table).replace("“", "&ldquo;").replace("”", "&rdquo;")
    made.add_alternative(source, subtype="html", charset=charset, cte=encoding)
    assert_seen(kept(bytes(made), "a.eml"), plain(lines, table))


@pytest.mark.parametrize("rows", [2, 3])
def test_a_merged_cell_stands_in_each_row_and_column_that_it_spans(rows: int) -> None:
    source = (
        f"<table><tr><th rowspan={rows}>Route</th><th colspan=2>Summer</th></tr><tr><th>Adult</th><th>Child</th></tr>"
        "<tr><th>x</th><th>y</th></tr><tr><td>Orsay</td><td>18</td><td>9</td></tr></table>"
    )
    assert rows_of(kept(source.encode(), "a.html"))[0].count("Summer /") == 2
