"""What stands at a place of a file, read by other programs than ours: the proof of what citations say of places."""

from __future__ import annotations

import csv
import email
import email.policy
import io
import json
import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import docx
import openpyxl
import pptx
import pypdf
from lxml import etree, html

HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")


@dataclass
class Section:
    """What stands below a heading, up to the next one."""

    text: list[str] = field(default_factory=list)
    items: list[str] = field(default_factory=list)


def found(locator: str, kind: str, data: bytes) -> str:
    """The text at a place as a citation tells it. LookupError for a place that there is not."""
    return READERS[kind](locator, data)


def part(pattern: str, locator: str) -> str:
    told = re.search(pattern, locator)
    if told is None:
        raise LookupError(f"{locator!r} does not tell {pattern}")
    return told[1]


def numbers(what: str, locator: str) -> range:
    """Lines or rows from 1, as in `line 3` and `rows 2 to 4`."""
    told = re.search(rf"\b{what}s? (\d+)(?: to (\d+))?", locator)
    if told is None:
        raise LookupError(f"{locator!r} does not tell a {what}")
    return range(int(told[1]), int(told[2] or told[1]) + 1)


def in_section(locator: str, sections: dict[str, Section], tables: list[list[list[str]]]) -> str:
    """The row of a table, else the item of a list below a heading, else all that stands below it."""
    if "table " in locator:
        rows = tables[int(part(r"table (\d+)", locator)) - 1]
        return "\n".join(" ".join(rows[number - 1]) for number in numbers("row", locator))
    section = sections[part(r"under “(.*)”", locator)]
    if "item " in locator:
        return section.items[numbers("item", locator)[0] - 1]
    return "\n".join(section.text)


def in_word(locator: str, data: bytes) -> str:
    document = docx.Document(io.BytesIO(data))
    sections = {"": Section()}
    here = sections[""]
    listed: list[str] = []  # one style is one list, whose numbers go on from chapter to chapter
    for paragraph in document.paragraphs:
        if paragraph.style.name.startswith("Heading"):
            here = sections.setdefault(paragraph.text, Section(items=listed))
        elif paragraph.style.name.startswith("List"):
            listed.append(paragraph.text)
        here.text.append(paragraph.text)
    tables = [[[cell.text for cell in row.cells] for row in table.rows] for table in document.tables]
    return in_section(locator, sections, tables)


def in_page(locator: str, data: bytes) -> str:
    return in_tree(locator, html.document_fromstring(data))


def in_tree(locator: str, tree: Any) -> str:
    sections = {"": Section()}
    here = sections[""]
    for element in tree.iter():
        tag = etree.QName(element).localname if isinstance(element.tag, str) else ""
        text = " ".join("".join(element.itertext()).split())
        if tag in HEADINGS:
            here = sections.setdefault(text, Section())
        elif tag == "li":
            here.items.append(text)
        if tag in ("p", "li", "td", "th", "caption"):
            here.text.append(text)
    tables = [
        [[" ".join("".join(cell.itertext()).split()) for cell in row] for row in table.iter("{*}tr")]
        for table in tree.iter("{*}table")
    ]
    return in_section(locator, sections, tables)


def in_workbook(locator: str, data: bytes) -> str:
    sheet = openpyxl.load_workbook(io.BytesIO(data), data_only=True)[part(r"sheet “(.*)”(?:, cell|$)", locator)]
    if "cell" not in locator:
        return str(sheet.title)
    cells = sheet[part(r"cells? ([A-Z]+\d+(?::[A-Z]+\d+)?)", locator)]
    rows = cells if isinstance(cells, tuple) else ((cells,),)
    return " ".join(str(cell.value) for row in rows for cell in row)


def in_deck(locator: str, data: bytes) -> str:
    slide = pptx.Presentation(io.BytesIO(data)).slides[int(part(r"slide (\d+)", locator)) - 1]
    if "notes" in locator:
        return str(slide.notes_slide.notes_text_frame.text)
    shapes = list(slide.shapes)
    if "table " in locator:
        tables = [shape.table for shape in shapes if shape.has_table]
        rows = list(tables[int(part(r"table (\d+)", locator)) - 1].rows)
        return " ".join(cell.text for number in numbers("row", locator) for cell in rows[number - 1].cells)
    lines = [line.text for shape in shapes if shape.has_text_frame for line in shape.text_frame.paragraphs]
    return "\n".join(lines)


def in_pdf(locator: str, data: bytes) -> str:
    pages = pypdf.PdfReader(io.BytesIO(data)).pages
    return "\n".join(pages[number - 1].extract_text() for number in numbers("page", locator))


def in_mail(locator: str, data: bytes) -> str:
    message = email.message_from_bytes(data, policy=email.policy.default)
    if locator.startswith("header"):
        return "\n".join(str(value) for value in message.values())
    (body,) = (each for each in message.walk() if each.get_content_type() == part(r"body \((.*?)\)", locator))
    content = str(body.get_content())  # type: ignore[attr-defined]
    return in_page(locator, content.encode()) if "under" in locator else content


def in_lines(locator: str, data: bytes) -> str:
    lines = data.decode().split("\n")
    return "\n".join(lines[number - 1] for number in numbers("line", locator))


def in_csv(locator: str, data: bytes) -> str:
    """Rows as a spreadsheet program numbers them: one without cells is a row too."""
    rows = list(csv.reader(io.StringIO(data.decode(), newline="")))
    return "\n".join(" ".join(rows[number - 1]) for number in numbers("row", locator))


def in_json(locator: str, data: bytes) -> str:
    return json.dumps(at_path(json.loads(data), locator), ensure_ascii=False)


def in_jsonl(locator: str, data: bytes) -> str:
    line = data.decode().split("\n")[numbers("line", locator)[0] - 1]
    return json.dumps(at_path(json.loads(line), locator.partition(": ")[2]), ensure_ascii=False)


def at_path(value: Any, path: str) -> Any:
    for name, key, number in steps(path):
        value = value[int(number)] if number else value[json.loads(key) if key else name]
    return value


def steps(path: str) -> Iterator[tuple[str, str, str]]:
    """The members and items of a JSONPath (RFC 9535) of names and numbers alone."""
    assert path.startswith("$")
    yield from re.findall(r'\.(\w+)|\[("(?:[^"\\]|\\.)*")\]|\[(\d+)\]', path)


def in_book(locator: str, data: bytes) -> str:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        chapters = [archive.read(name) for name in archive.namelist() if name.endswith(".xhtml")]
    for chapter in chapters:
        try:
            return in_tree(locator, etree.fromstring(chapter))
        except LookupError:
            continue
    raise LookupError(locator)


READERS = {
    "docx": in_word,
    "xlsx": in_workbook,
    "pptx": in_deck,
    "pdf": in_pdf,
    "email": in_mail,
    "html": in_page,
    "markdown": in_lines,
    "text": in_lines,
    "csv": in_csv,
    "json": in_json,
    "jsonl": in_jsonl,
    "epub": in_book,
}
