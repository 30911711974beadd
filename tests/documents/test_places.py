"""Citations of every kind of file: each cited text says itself where it stands in the file."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from email.message import EmailMessage

import docx
import openpyxl
import pptx
import pypdf
import pytest

from tests.documents import making
from tests.documents.formats.test_office import reordered
from tests.documents.making import PAPERS, needs_papers, parse_bytes, read_paper, saved
from thresher.structure.locators import locate
from thresher.types import Document


def word() -> bytes:
    """Chapters of paragraphs, a list that goes on from one to the next, and a table; some lines are empty."""
    document = docx.Document()
    for chapter in range(6):
        heading = f"Chapter {chapter} of the store"
        document.add_heading(heading, 1 + chapter % 2)
        if chapter in (3, 4):
            document.add_paragraph("")
        document.add_paragraph(f"On the shelf «under “{heading}”».")
        for item in range(1, 4):
            place = f"item {3 * chapter + item}, under “{heading}”"
            document.add_paragraph(f"On the shelf «{place}».", style="List Number")
        table = document.add_table(rows=4, cols=2)
        for row in range(4):
            table.cell(row, 0).text = "" if row == 2 and chapter == 5 else f"shelf {chapter}-{row}"
            if row != 1 or chapter % 2:
                place = f"table {chapter + 1}, row {row + 1}, under “{heading}”"
                table.cell(row, 1).text = "" if row == 2 and chapter == 5 else f"«{place}»"
    return saved(document)


def workbook() -> bytes:
    """Sheets that begin anywhere, with empty rows and cells between, an empty sheet, and a formula."""
    book = openpyxl.Workbook()
    for name, first, top in (("Stock", 3, 5), ("Nothing", 0, 0), ("O’Neil’s “towns”", 1, 1), ("Late", 28, 40)):
        sheet = book.active if name == "Stock" else book.create_sheet(name)
        sheet.title = name
        for down in range(12 if first else 0):
            for across in range(4):
                if down != 6 and (across != 2 or down % 3):
                    cell = sheet.cell(top + down, first + across)
                    cell.value = f"«sheet “{name}”, cell {cell.coordinate}»"
    book["Stock"]["D30"] = "=1+1"
    return saved(book)


def deck() -> bytes:
    """Slides of which some have notes, a table, or are hidden, shown in another order than they were made in."""
    order = [*range(2, 21, 2), *range(1, 21, 2)]
    shown = pptx.Presentation()
    for made in range(1, 21):
        at = order.index(made) + 1
        slide = shown.slides.add_slide(shown.slide_layouts[1])
        slide.shapes.title.text = f"Slide {made}"
        hidden = ", hidden slide" if made % 7 == 5 else ""
        slide.placeholders[1].text = f"Here «slide {at}{hidden}»"
        if made % 3 == 1:
            slide.notes_slide.notes_text_frame.text = f"Say that «slide {at}, notes{hidden}»"
        if made % 4 == 2:
            table = slide.shapes.add_table(3, 2, 0, 0, 914400, 914400).table
            for cell in range(6):
                table.cell(cell // 2, cell % 2).text = f"«slide {at}{hidden}, table 1, row {cell // 2 + 1}»"
        if hidden:
            slide._element.set("show", "0")
    return reordered(saved(shown), order)


def printed() -> bytes:
    """Pages whose lines are not alike: what recurs at the edges of pages is taken for their running heads."""
    return making.pdf(
        [
            "\n".join(f"{chr(97 + page) * 3}{chr(97 + line) * 3} «page {page + 1}»." for line in range(5))
            for page in range(9)
        ]
    )


def page(prefix: str = "") -> bytes:
    lines = ["<html><body><table><tr><td>menu</td></tr></table>"]
    for chapter in range(6):
        under = f"under “Part {chapter} &amp; more”"
        lines.append(f"<h{1 + chapter % 3}>Part <i>{chapter}</i> &amp; more</h{1 + chapter % 3}>")
        lines += [f"<p>On the shelf <b>«{prefix}{under}»</b>.</p>" for _ in range(3)]
        lines.append("<ol>" + "".join(f"<li>«{prefix}item {at}, {under}»</li>" for at in range(1, 5)) + "</ol>")
        place = f"{prefix}table {chapter + 2}"
        rows = "".join(f"<tr><td>{row}</td><td>«{place}, row {row}, {under}»</td></tr>" for row in range(2, 6))
        lines.append(f"<table><caption>Crates of {chapter}</caption><tr><th>no</th><th>what</th></tr>{rows}</table>")
    return "\n".join([*lines, "</body></html>"]).encode()


def mail() -> bytes:
    message = EmailMessage()
    message["From"], message["Subject"] = "Ann <a@example.com>", "«header»"
    message.set_content(page("body (text/html), ").decode(), subtype="html")
    return bytes(message)


def markdown() -> bytes:
    """With front matter, code, a table, runs of blank lines and a word broken at the end of a line."""
    lines = ["---", "title: Crates", "---", "", "# Top", "", "It is a ware-", "house of many.", "", "", ""]
    for _ in range(20):
        lines += [f"On the shelf «line {len(lines) + 1}, under “Top”».", "", ""]
    lines += ["```", "# no heading", "```", "", "## Second", "", "| no | what |", "|---|---|"]
    lines += [f"| 1 | «table 1, row {row + 2}, line {len(lines) + row + 1}, under “Second”» |" for row in range(20)]
    return "\n".join(lines).encode()


def rows() -> bytes:
    """Rows as a spreadsheet program numbers them: one without cells is a row too."""
    empty = {20: "", 50: ",,"}
    lines = ["shelf,what,price", *(empty.get(row, f'{row},"«row {row}», or so",{row}.5') for row in range(2, 80))]
    return "\n".join(lines).encode()


def tree() -> bytes:
    shelves = [
        {"crates": [{"a key": f'«$.store.shelves[{at}].crates[{n}]["a key"]»'} for n in range(3)]} for at in range(9)
    ]
    return json.dumps({"store": {"shelves": shelves, 'an "odd" name': {"x.y": "unique value"}}}).encode()


def records(make: Callable[[int], object]) -> bytes:
    """Lines of JSON, one of them empty."""
    return "\n".join("" if line == 30 else json.dumps(make(line)) for line in range(1, 80)).encode()


MAKERS: dict[str, Callable[[], bytes]] = {
    **{"a.docx": word, "a.xlsx": workbook, "a.pptx": deck, "a.pdf": printed, "a.eml": mail, "a.html": page},
    **{"a.md": markdown, "a.csv": rows, "a.json": tree},
    "a.jsonl": lambda: records(lambda line: {"is": {"what": f"«line {line}: $.is.what»"}}),
    "corpus.jsonl": lambda: records(lambda line: {"_id": f"p{line}", "text": f"On the shelf «line {line}: $.text»."}),
}


@pytest.mark.parametrize("name", MAKERS)
def test_citations_stand_where_they_say_they_stand(name: str) -> None:
    cited, wrong = 0, []
    for document in parse_bytes(MAKERS[name](), name=name):
        assert isinstance(document, Document)
        for each in re.finditer(r"«(.*?)»", document.text):
            cited += 1
            place = locate(document, *each.span())
            if place != each[1]:
                wrong.append((each[1], place))
    assert wrong == []
    assert cited >= 25


def test_a_row_of_a_sheet_is_a_range_of_cells_and_a_heading_is_called_one() -> None:
    (document,) = parse_bytes(workbook(), name="a.xlsx")
    assert isinstance(document, Document)
    assert locate(document, *document.tables[0].rows[1]) == "sheet “Stock”, cells C6:F6"
    (document,) = parse_bytes(b"# Top\n\nWords.", name="a.md")
    assert isinstance(document, Document)
    assert locate(document, 2, 5) == "line 1, heading “Top”"


@needs_papers
def test_sentences_of_a_paper_stand_on_the_page_they_are_cited_from() -> None:
    document = read_paper("BERT.pdf")
    pages = [letters(page.extract_text()) for page in pypdf.PdfReader(PAPERS / "BERT.pdf").pages]
    words = list(re.finditer(r"[a-z]{4,}(?: [a-z]{2,}){4}", document.text))
    places = [(each.group(), locate(document, *each.span())) for each in words[:: len(words) // 100]]
    assert len(places) >= 100
    assert [one for one in places if letters(one[0]) not in pages[int(re.findall(r"page (\d+)", one[1])[0]) - 1]] == []


def letters(text: str) -> str:
    """Without what two readers of a page see differently: spaces, hyphens at line ends, ligatures."""
    plain = text.replace("ﬁ", "fi").replace("ﬂ", "fl").replace("ﬀ", "ff").replace("ﬃ", "ffi")
    return re.sub(r"[^a-z]", "", plain.lower())
