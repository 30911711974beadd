"""A hundred citations of every kind of file, their places looked up by other programs (see `elsewhere`)."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable
from email.message import EmailMessage
from pathlib import Path

import docx
import openpyxl
import pptx
import pytest

from tests.documents import making
from tests.documents.elsewhere import found
from tests.documents.formats.test_office import reordered
from tests.documents.making import PAPERS, needs_papers, parse_bytes, read_paper
from thresher.structure.locators import locate
from thresher.types import Document

CITED = 100


def crate(number: int) -> str:
    """Words that stand once in a file."""
    return f"crate K{number:03d} holds {number * 7 + 1000} nails"


def saved(document: object) -> bytes:
    buffer = io.BytesIO()
    document.save(buffer)  # type: ignore[attr-defined]
    return buffer.getvalue()


def word() -> bytes:
    """Chapters of two paragraphs, a list and a table each; two chapters in a row begin with an empty line."""
    document, number = docx.Document(), 0
    for chapter in range(10):
        document.add_heading(f"Chapter {chapter} of the store", 1 + chapter % 2)
        if chapter in (3, 4):
            document.add_paragraph("")
        for style in ("Normal", "Normal", "List Number", "List Number", "List Number"):
            number += 1
            document.add_paragraph(f"On the shelf {crate(number)}.", style=style)
        table = document.add_table(rows=4, cols=2)
        for row in range(4):
            table.cell(row, 0).text = f"shelf {chapter}-{row}"
            if row != 1 or chapter % 2:  # half the tables have a row of which a cell is empty
                number += 1
                table.cell(row, 1).text = crate(number)
        if chapter == 5:
            for cell in table.rows[2].cells:
                cell.text = ""  # a row without any text
    while number < CITED + 5:
        number += 1
        document.add_paragraph(f"At the end {crate(number)}.")
    return saved(document)


def workbook() -> bytes:
    """Sheets that begin anywhere, with empty rows and columns between, an empty sheet, and a formula."""
    book, number = openpyxl.Workbook(), 0
    for name, column, row in (("Stock", 3, 5), ("Nothing", 0, 0), ("O’Neil’s “towns”", 1, 1), ("Late", 28, 40)):
        sheet = book.active if name == "Stock" else book.create_sheet(name)
        sheet.title = name
        for down in range(12 if column else 0):
            for across in range(4):
                if down == 6 or (across == 2 and down % 3 == 0):
                    continue
                number += 1
                sheet.cell(row + down, column + across).value = crate(number)
    book["Stock"]["D30"] = "=1+1"
    return saved(book)


def deck() -> bytes:
    """Slides of which some have notes, a table, or are hidden, shown in another order than they were made in."""
    shown, number = pptx.Presentation(), 0
    for at in range(40):
        slide = shown.slides.add_slide(shown.slide_layouts[1])
        slide.shapes.title.text = f"Slide {at}"
        number += 1
        slide.placeholders[1].text = f"Here {crate(number)}"
        if at % 3 == 1:
            number += 1
            slide.notes_slide.notes_text_frame.text = f"Say that {crate(number)}"
        if at % 4 == 2:
            table = slide.shapes.add_table(3, 2, 0, 0, 914400, 914400).table
            for cell in range(6):
                number += 1
                table.cell(cell // 2, cell % 2).text = crate(number)
        if at % 7 == 5:
            slide._element.set("show", "0")
    return reordered(saved(shown), [*range(2, 41, 2), *range(1, 41, 2)])


def paragraphs(count: int = CITED) -> list[str]:
    return [f"On the shelf {crate(number)}." for number in range(count)]


def printed() -> bytes:
    """Pages whose lines are not alike: what recurs at the edges of pages is taken for their running heads."""
    lines = [f"{chr(97 + at % 26) * 3}{chr(97 + at // 4) * 3} says {crate(at)}." for at in range(CITED)]
    return making.pdf(["\n".join(lines[at : at + 5]) for at in range(0, CITED, 5)])


def page() -> bytes:
    lines, number = ["<html><body><table><tr><td>menu</td></tr></table>"], 0
    for chapter in range(10):
        lines.append(f"<h{1 + chapter % 3}>Part <i>{chapter}</i> &amp; more</h{1 + chapter % 3}>")
        lines += [f"<p>On the shelf <b>{crate(number := number + 1)}</b>.</p>" for _ in range(3)]
        lines.append("<ol>" + "".join(f"<li>the {crate(number := number + 1)}</li>" for _ in range(4)) + "</ol>")
        rows = "".join(f"<tr><td>{row}</td><td>{crate(number := number + 1)}</td></tr>" for row in range(4))
        lines.append(f"<table><caption>Crates of {chapter}</caption><tr><th>no</th><th>what</th></tr>{rows}</table>")
    return "\n".join([*lines, "</body></html>"]).encode()


def mail() -> bytes:
    message = EmailMessage()
    message["From"], message["To"], message["Subject"] = "Ann <a@example.com>", "b@example.com", crate(999)
    message.set_content("\n\n".join(paragraphs()))
    message.add_attachment(b"crate K777", maintype="text", subtype="x-list", filename="list.txt")
    return bytes(message)


def mail_in_html() -> bytes:
    message = EmailMessage()
    message["From"], message["Subject"] = "Ann <a@example.com>", "Crates"
    message.set_content(page().decode(), subtype="html")
    return bytes(message)


def markdown() -> bytes:
    """With front matter, code, a table, runs of blank lines and a word broken at the end of a line."""
    head = ["---", "title: Crates", "---", "", "# Top", "", "It is a ware-", "house of many.", "", "", ""]
    body = [line for text in paragraphs(60) for line in (text, "", "")]
    code = ["```", "# no heading", "```", "", "## Second", ""]
    table = ["| no | what |", "|---|---|", *(f"| {n} | {crate(n)} |" for n in range(60, CITED))]
    return "\n".join([*head, *body, *code, *table]).encode()


def text() -> bytes:
    return "\n".join(line + "\n" * (at % 4) for at, line in enumerate(paragraphs())).encode()


def rows() -> bytes:
    lines = ["shelf,what,price", *(f'{n},"{crate(n)}, or so",{n}.5' for n in range(CITED))]
    lines.insert(20, "")
    lines.insert(50, ",,")
    return "\n".join(lines).encode()


def tree() -> bytes:
    shelves = [{"crates": [{"what": crate(4 * at + n), "a key": n} for n in range(4)]} for at in range(25)]
    return json.dumps({"store": {"shelves": shelves, 'an "odd" name': {"x.y": "unique value"}}}).encode()


def records() -> bytes:
    return json.dumps([{"no": n, "what": crate(n)} for n in range(CITED)]).encode()


def lines_of_json() -> bytes:
    told = [json.dumps({"shelf": n % 7, "is": {"what": crate(n)}}) for n in range(CITED)]
    return "\n".join([*told[:30], "", *told[30:]]).encode()


def corpus() -> bytes:
    told = [json.dumps({"_id": f"p{n}", "title": "", "text": f"On the shelf {crate(n)}."}) for n in range(CITED)]
    return "\n".join([*told[:30], "", *told[30:]]).encode()


MAKERS: dict[str, tuple[Callable[[], bytes], str]] = {
    "a.docx": (word, "docx"),
    "a.xlsx": (workbook, "xlsx"),
    "a.pptx": (deck, "pptx"),
    "a.pdf": (printed, "pdf"),
    "a.eml": (mail, "email"),
    "b.eml": (mail_in_html, "email"),
    "a.html": (page, "html"),
    "a.md": (markdown, "markdown"),
    "a.txt": (text, "text"),
    "a.csv": (rows, "csv"),
    "a.json": (tree, "json"),
    "b.json": (records, "json"),
    "a.jsonl": (lines_of_json, "jsonl"),
    "corpus.jsonl": (corpus, "jsonl"),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", MAKERS)
def test_a_hundred_citations_stand_where_they_say_they_stand(name: str) -> None:
    make, kind = MAKERS[name]
    data = make()
    cited, wrong = 0, []
    for document in parse_bytes(data, name=name):
        assert isinstance(document, Document)
        for each in re.finditer(r"crate K\d{3} holds \d+ nails", document.text):
            place = locate(document, *each.span())
            cited += 1
            if each.group() not in found(place, kind, data):
                wrong.append((each.group(), place))
    assert cited >= CITED
    assert wrong == []


@needs_papers
def test_sentences_of_a_paper_stand_on_the_page_they_are_cited_from() -> None:
    document, data = read_paper("BERT.pdf"), (PAPERS / "BERT.pdf").read_bytes()
    words = list(re.finditer(r"[a-z]{4,}(?: [a-z]{2,}){4}", document.text))
    cited = words[:: max(1, len(words) // CITED)][:CITED]
    assert len(cited) == CITED
    pages: dict[str, str] = {}
    wrong = []
    for each in cited:
        place = locate(document, *each.span()).split(", under")[0]
        if place not in pages:
            pages[place] = letters(found(place, "pdf", data))
        if letters(each.group()) not in pages[place]:
            wrong.append((each.group(), place))
    assert wrong == []


def letters(text: str) -> str:
    """Without what two readers of a page see differently: spaces, hyphens at line ends, ligatures."""
    plain = text.replace("ﬁ", "fi").replace("ﬂ", "fl").replace("ﬀ", "ff").replace("ﬃ", "ffi")
    return re.sub(r"[^a-z]", "", plain.lower())


def test_a_row_of_a_sheet_is_a_range_of_cells(tmp_path: Path) -> None:
    (document,) = parse_bytes(workbook(), name="a.xlsx")
    assert isinstance(document, Document)
    start, end = document.tables[0].rows[1]
    assert locate(document, start, end) == "sheet “Stock”, cells C6:F6"


def test_a_heading_is_called_one() -> None:
    (document,) = parse_bytes(b"# Top\n\nWords.", name="a.md")
    assert isinstance(document, Document)
    assert locate(document, 2, 5) == "line 1, heading “Top”"
