"""Excel files: every sheet as its name, its tables and its remarks; cells as they are shown.

Read from the parts of the archive as ECMA-376 (SpreadsheetML) has them. A number stands as its format shows it, its
value goes with it where the two differ.
"""

from __future__ import annotations

import re
import zipfile
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from thresher.documents.assembly import Assembly, Parsed
from thresher.documents.cleaning import clean_inline
from thresher.documents.formats.archives import (
    attribute,
    child,
    children,
    core_properties,
    descendants,
    local,
    main_part,
    opened,
    related,
    relations,
    xml_of,
)
from thresher.documents.formats.drawing import add_drawing
from thresher.documents.formats.number_formats import BUILT_IN, general, shown_number
from thresher.documents.formats.sheet_tables import Grid, add_tables
from thresher.documents.formats.slides import paragraphs_of
from thresher.documents.registry import RawFile
from thresher.errors import DocumentError
from thresher.structure.locators import column_name, column_number

MOST_FORMULAS = 5  # named of those that have no value
MOST_CELLS = 4_000_000  # of a sheet; some 300 MiB of memory
MOST_MERGED = 100_000  # cells that one cell stands for
_REFERENCE = re.compile(r"\$?([A-Z]{1,3})\$?(\d{1,7})")
_RANGE = re.compile(rf"{_REFERENCE.pattern}:{_REFERENCE.pattern}")


@dataclass(frozen=True, slots=True)
class Book:
    """What all sheets share."""

    strings: tuple[str, ...] = ()
    formats: tuple[str, ...] = ()  # the number format of each style of a cell
    since_1904: bool = False


@dataclass(slots=True)
class Sheet:
    """The cells of one sheet, rows and columns from 1."""

    cells: Grid = field(default_factory=dict)
    merged: list[tuple[int, int, int, int]] = field(default_factory=list)  # first row and column, last row and column
    uncomputed: list[str] = field(default_factory=list)  # formulas that have no value


def read_workbook(file: RawFile) -> Parsed:
    """An xlsx file; hidden sheets are kept unless the limits say otherwise, and named."""
    assembly = Assembly()
    names, hidden, uncomputed = list[str](), list[str](), list[str]()
    with opened(file.data, limits=file.limits) as archive:
        part = main_part(archive, "xl/workbook.xml")
        workbook, parts = xml_of(archive, part), relations(archive, part)
        book = _book(archive, part, workbook)
        for entry in children(child(workbook, "sheets"), "sheet"):
            name = entry.get("name", "")
            targets = (parts[value][1] for key, value in entry.items() if key.endswith("}id") and value in parts)
            if (target := next(targets, "")) not in archive.NameToInfo:
                continue
            names.append(name)
            if entry.get("state", "visible") != "visible":
                hidden.append(name)
                if not file.limits.hidden:
                    continue
            sheet = _sheet(archive, target, book)
            uncomputed += [f"{name}!{cell}" for cell in sheet.uncomputed]
            inner = Assembly()
            add_tables(inner, sheet.cells, sheet.merged)
            _beside(inner, archive, target)
            if inner and name:
                assembly.mark("sheet", name)
                assembly.paragraph(name)
            assembly.add(inner)
        title, date, stated = core_properties(archive)
    if not assembly:
        raise DocumentError("the xlsx file has no text", next_step="check that it is not only pictures")
    facts: dict[str, str | int] = {**stated, "sheets": clean_inline(", ".join(names))}
    if hidden:
        facts["hidden_sheets"] = clean_inline(", ".join(hidden))
    if uncomputed:
        shown = ", ".join(uncomputed[:MOST_FORMULAS]) + (", …" if len(uncomputed) > MOST_FORMULAS else "")
        facts |= {"formulas_without_value": len(uncomputed), "first_formulas_without_value": shown}
    return assembly.parsed(title=title, date=date, metadata=facts)


def _book(archive: zipfile.ZipFile, part: str, workbook: Element) -> Book:
    strings: list[str] = []
    for name in related(archive, part, "sharedStrings"):
        strings += [_rich(item) for item in children(xml_of(archive, name), "si")]
    formats: list[str] = []
    for name in related(archive, part, "styles"):
        styles = xml_of(archive, name)
        own = {each.get("numFmtId", ""): each.get("formatCode", "") for each in descendants(styles, "numFmt")}
        for style in children(child(styles, "cellXfs"), "xf"):
            number = style.get("numFmtId", "0")
            formats.append(own.get(number) or BUILT_IN.get(int(number) if number.isdigit() else 0, "General"))
    since = attribute(child(workbook, "workbookPr"), "date1904") in ("1", "true")
    return Book(tuple(strings), tuple(formats), since)


def _rich(item: Element) -> str:
    """The text of a string in one piece or in runs; how it is read aloud (rPh) aside."""
    return "".join(
        part.text or ""
        for each in item
        if local(each) in ("t", "r")
        for part in ([each] if local(each) == "t" else children(each, "t"))
    )


def _sheet(archive: zipfile.ZipFile, part: str, book: Book) -> Sheet:
    sheet = Sheet()
    row = column = 0
    with archive.open(part) as file:
        for event, element in ElementTree.iterparse(file, events=("start", "end")):
            tag = local(element)
            if event == "start":
                if tag == "row":
                    given = element.get("r", "")
                    row, column = int(given) if given.isdigit() else row + 1, 0
            elif tag == "row":
                element.clear()
            elif tag == "c":
                reference = _REFERENCE.fullmatch(element.get("r", ""))
                column = column_number(reference[1]) if reference else column + 1
                _cell(sheet, element, row, column, book)
                if len(sheet.cells) > MOST_CELLS:
                    raise DocumentError(f"a sheet has more than {MOST_CELLS:,} cells", next_step="split it")
            elif tag == "mergeCell" and (ends := _RANGE.fullmatch(element.get("ref", ""))):
                first, top, last, bottom = column_number(ends[1]), int(ends[2]), column_number(ends[3]), int(ends[4])
                if (last - first + 1) * (bottom - top + 1) <= MOST_MERGED:
                    sheet.merged.append((top, first, bottom, last))
    return sheet


def _cell(sheet: Sheet, element: Element, row: int, column: int, book: Book) -> None:
    kind, style = element.get("t", "n"), element.get("s", "0")
    value = (held.text or "") if (held := child(element, "v")) is not None else ""
    text, exact = value, None
    if kind == "s":
        text = book.strings[int(value)] if value.isdigit() and int(value) < len(book.strings) else ""
    elif kind == "inlineStr":
        inline = child(element, "is")
        text = "" if inline is None else _rich(inline)
    elif kind == "b":
        text = {"1": "TRUE", "0": "FALSE"}.get(value, value)
    elif kind == "n" and value:
        code = book.formats[int(style)] if style.isdigit() and int(style) < len(book.formats) else "General"
        text = shown_number(value, code, since_1904=book.since_1904)
        exact = _exact(value, text)
    elif kind == "d":
        text = re.sub(r"T00:00:00(?:\.0+)?Z?$", "", value)
    text = clean_inline(text)
    if text:
        sheet.cells[row, column] = (text, exact)
    elif child(element, "f") is not None and not value:
        sheet.uncomputed.append(f"{column_name(column)}{row}")


def _exact(value: str, text: str) -> str | None:
    """The value of a number that is shown with fewer digits than it has, in the unit it is shown in."""
    try:
        exact = Decimal(value)
        near = Decimal(re.sub(r"[^\d.-]", "", text) or "0")
    except InvalidOperation:
        return None
    exact = exact.scaleb(2) if "%" in text else exact
    if abs(near) == abs(exact) or abs(abs(near) - abs(exact)) > 1 or re.search(r"[:/A-Za-z]", text):
        return None
    return general(exact)


def _beside(assembly: Assembly, archive: zipfile.ZipFile, part: str) -> None:
    """What lies on a sheet besides its cells: charts, text boxes, remarks on cells."""
    for drawing in related(archive, part, "drawing"):
        targets = relations(archive, drawing)
        for anchor in xml_of(archive, drawing):
            for shape in descendants(anchor, "sp"):
                assembly.paragraph(*paragraphs_of(child(shape, "txBody")))
            for chart in descendants(anchor, "chart"):
                add_drawing(assembly, archive, targets.get(attribute(chart, "id"), ("", ""))[1], "chart")
    threaded = related(archive, part, "threadedComment")
    for name in threaded or related(archive, part, "comments"):
        root = xml_of(archive, name)
        for comment in (*descendants(root, "comment"), *descendants(root, "threadedComment")):
            body, cell = child(comment, "text"), comment.get("ref", "")
            text = clean_inline((_rich(body) or body.text or "") if body is not None else "")
            if text and _REFERENCE.fullmatch(cell):
                assembly.mark("cells", cell)
                assembly.paragraph(f"Comment on {cell}: {text}")
