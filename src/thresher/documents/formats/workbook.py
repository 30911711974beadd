"""Excel files: every sheet as its name, its tables and its remarks; cells as they are shown.

Read from the parts of the archive as ECMA-376 (SpreadsheetML) has them. Tables of one sheet are blocks of cells under
names of their own, with the labels above them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from thresher.documents.assembly import Assembly, Cell, Parsed, add_grid
from thresher.documents.cleaning import RAISED, STRUCK, clean_inline, hidden, with_marks
from thresher.documents.formats.archives import (
    Part,
    attribute,
    child,
    children,
    descendants,
    is_on,
    local,
    opened,
    whole,
)
from thresher.documents.formats.formulas import Formulas
from thresher.documents.formats.number_formats import BUILT_IN, shown_number
from thresher.documents.formats.slides import add_drawing, paragraphs_of
from thresher.documents.registry import RawFile
from thresher.errors import DocumentError
from thresher.structure.locators import column_name, column_number
from thresher.text.marks import struck

NOT_COMPUTED = "(not computed)"
MOST_FORMULAS = 5  # named of those that have no value
MOST_IN_SHEET = 4_000_000  # of a sheet; some 300 MiB of memory
MOST_IN_TABLE = 16_000_000  # empty ones included, of which few files have many; some 1.2 GiB
MOST_COLUMNS = 16_384  # of a sheet
MOST_MERGED = 100_000  # cells that one cell stands for
FAR = 8  # empty columns in a row that no table has within
_REFERENCE = re.compile(r"\$?([A-Z]{1,3})\$?(\d{1,7})")
_NUMBER = re.compile(r"[-+]?\d+(?:\.\d*)?(?:[eE][-+]?\d{1,3})?")
_RANGE = re.compile(rf"{_REFERENCE.pattern}:{_REFERENCE.pattern}")
Cells = dict[tuple[int, int], Cell]
"""By row and column, from 1."""
Range = tuple[int, int, int, int]  # first row and column, last row and column


@dataclass(frozen=True, slots=True)
class Book:
    """What all sheets share."""

    strings: tuple[str, ...] = ()
    formats: tuple[str, ...] = ()  # the number format of each style of a cell
    struck: frozenset[int] = frozenset()  # the styles whose text is struck
    since_1904: bool = False


@dataclass(slots=True)
class Sheet:
    """The cells of one sheet, a merged one at all places that it covers."""

    cells: Cells = field(default_factory=dict)
    uncomputed: list[str] = field(default_factory=list)  # formulas that have no value
    hidden_rows: set[int] = field(default_factory=set)
    hidden_columns: set[int] = field(default_factory=set)


def read_workbook(file: RawFile) -> Parsed:
    """An xlsx file; hidden sheets are kept unless the limits say otherwise, and named."""
    sheets = Sheets(keeps_hidden=file.limits.hidden)
    with opened(file.data, limits=file.limits) as archive:
        part = Part.main(archive, "xl/workbook.xml")
        workbook = part.root
        book = _book(part, workbook)
        for entry in children(child(workbook, "sheets"), "sheet"):
            identifier = next((value for key, value in entry.items() if key.endswith("}id")), "")
            if identifier not in part.targets:
                continue
            hides = entry.get("state", "visible") != "visible"
            if sheets.begin(entry.get("name", ""), hidden=hides):
                found = part.targets[identifier][1]
                sheets.add(_sheet(found, book, hidden=file.limits.hidden), partial(_beside, part=found))
        title, date, stated = part.properties()
    return sheets.parsed("xlsx", title=title, date=date, stated=stated)


class Sheets:
    """The sheets of a file as one text, each below its name."""

    def __init__(self, *, keeps_hidden: bool) -> None:
        self._keeps_hidden = keeps_hidden
        self._assembly = Assembly()
        self._names, self._hidden, self._uncomputed = list[str](), list[str](), list[str]()
        self._hides = False

    def begin(self, name: str, *, hidden: bool) -> bool:
        """Name the next sheet; whether it is to be read and added."""
        self._names.append(name)
        self._hides = hidden
        if hidden:
            self._hidden.append(name)
        return self._keeps_hidden or not hidden

    def add(self, sheet: Sheet, beside: Callable[[Assembly], None]) -> None:
        """Add the sheet that was named last; `beside` adds what lies on it besides its cells."""
        name = self._names[-1]
        self._uncomputed += [f"{name}!{cell}" for cell in sheet.uncomputed]
        if self._hides:  # all of it is
            sheet.hidden_rows, sheet.hidden_columns = set(), set()
        inner = Assembly()
        for corners in tables_of(sheet.cells):
            _add_table(inner, sheet, *corners)
        beside(inner)
        if self._hidden:
            self._assembly.mark("hidden", "hidden sheet" if self._hides else "")
        if sheet.hidden_columns or any(mark.kind == "columns" for mark in self._assembly.marks):
            self._assembly.mark("columns", " ".join(map(column_name, sorted(sheet.hidden_columns))))
        if inner and name:
            self._assembly.mark("sheet", name)
            self._assembly.paragraph(name)
        self._assembly.add(inner)

    def parsed(self, kind: str, *, title: str, date: str | None, stated: Mapping[str, str]) -> Parsed:
        """The document; DocumentError where no sheet has text."""
        if not self._assembly:
            raise DocumentError(f"the {kind} file has no text", next_step="check that it is not only pictures")
        facts: dict[str, str | int] = {**stated, "sheets": clean_inline(", ".join(self._names))}
        if self._hidden:
            facts["hidden_sheets"] = clean_inline(", ".join(self._hidden))
        if lacking := self._uncomputed:
            shown = ", ".join(lacking[:MOST_FORMULAS]) + (", …" if len(lacking) > MOST_FORMULAS else "")
            facts |= {"formulas_without_value": len(lacking), "first_formulas_without_value": shown}
        return self._assembly.parsed(title=title, date=date, metadata=facts)


def _book(part: Part, workbook: Element) -> Book:
    strings: list[str] = []
    for shared in part.related("sharedStrings"):
        strings += [_rich(item) for item in children(shared.root, "si")]
    formats: list[str] = []
    lined: set[int] = set()
    for styles in (each.root for each in part.related("styles")):
        own = {each.get("numFmtId", ""): each.get("formatCode", "") for each in descendants(styles, "numFmt")}
        fonts = children(child(styles, "fonts"), "font")
        for style in children(child(styles, "cellXfs"), "xf"):
            number = style.get("numFmtId", "0")
            font = whole(style.get("fontId", ""))
            if font < len(fonts) and is_on(child(fonts[font], "strike")):
                lined.add(len(formats))
            formats.append(own.get(number) or BUILT_IN.get(whole(number), "General"))
    since = attribute(child(workbook, "workbookPr"), "date1904") in ("1", "true")
    return Book(tuple(strings), tuple(formats), frozenset(lined), since)


def _rich(item: Element) -> str:
    """The text of a string in one piece or in runs; how it is read aloud (rPh) aside."""
    parts: list[str] = []
    for each in item:
        if local(each) in ("t", "r"):
            parts += RAISED if attribute(child(each, "rPr", "vertAlign"), "val") == "superscript" else ""
            line = [STRUCK] if is_on(child(each, "rPr", "strike")) else []
            parts += [
                *line,
                *(part.text or "" for part in ([each] if local(each) == "t" else children(each, "t"))),
                *line,
            ]
    return with_marks("".join(parts))


def _sheet(part: Part, book: Book, *, hidden: bool) -> Sheet:
    """With `hidden`, the cells of rows and columns that are not shown are kept too."""
    sheet = Sheet()
    merged: list[Range] = []
    texts: dict[str, str] = {}  # the same text of many cells is held once
    formulas: dict[tuple[int, int], tuple[str, str]] = {}  # those without a value, and their styles
    row = 0
    with part.archive.open(part.name) as file:
        for _, element in ElementTree.iterparse(file):
            tag = local(element)
            if tag == "row":
                row, column = whole(element.get("r", ""), row + 1), 0
                if element.get("hidden") in ("1", "true"):
                    sheet.hidden_rows.add(row)
                for each in children(element, "c"):
                    reference = _REFERENCE.fullmatch(each.get("r", ""))
                    column = column_number(reference[1]) if reference else column + 1
                    if not hidden and (row in sheet.hidden_rows or column in sheet.hidden_columns):
                        continue
                    if text := _shown(each, book):
                        put(sheet.cells, (row, column), Cell(texts.setdefault(text, text)))
                    elif (formula := child(each, "f")) is not None and not _value(each):
                        formulas[row, column] = each.get("s", "0"), formula.text or ""
                element.clear()
            elif tag == "col" and element.get("hidden") in ("1", "true"):
                last = min(whole(element.get("max", "")), MOST_COLUMNS)
                sheet.hidden_columns |= set(range(whole(element.get("min", "")), last + 1))
            elif tag == "mergeCell" and (ends := _RANGE.fullmatch(element.get("ref", ""))):
                merged.append((int(ends[2]), column_number(ends[1]), int(ends[4]), column_number(ends[3])))
    if formulas:
        _compute(sheet, part, book, formulas)
    sheet.hidden_columns &= {column for _, column in sheet.cells}
    for top, left, bottom, right in merged:
        rows, columns = bottom - top + 1, right - left + 1
        if (top, left) in sheet.cells and rows * columns <= MOST_MERGED:
            sheet.cells[top, left] = cell = Cell(sheet.cells[top, left].text, columns, rows)
            for at in ((row, column) for row in range(top, bottom + 1) for column in range(left, right + 1)):
                put(sheet.cells, at, sheet.cells.get(at, cell))
    return sheet


def _compute(sheet: Sheet, part: Part, book: Book, formulas: Mapping[tuple[int, int], tuple[str, str]]) -> None:
    """Put the values of formulas that a program stored without them; a cell says so where there is none."""
    values: dict[tuple[int, int], float | str] = {}
    with part.archive.open(part.name) as file:
        for _, element in ElementTree.iterparse(file):
            if local(element) == "c":
                place, value = _REFERENCE.fullmatch(element.get("r", "")), _value(element)
                if place and (shown := _shown(element, book)):
                    is_number = element.get("t", "n") == "n" and _NUMBER.fullmatch(value)
                    values[int(place[2]), column_number(place[1])] = float(value) if is_number else shown
                element.clear()
    found = Formulas({at: text for at, (_, text) in formulas.items()}, values)
    for at, (style, _) in formulas.items():
        match found.value(at):
            case None:
                sheet.uncomputed.append(f"{column_name(at[1])}{at[0]}")
                text = NOT_COMPUTED
            case float(number):
                text = shown_number(format(number, ".15g"), _format(style, book), since_1904=book.since_1904)
            case joined:
                text = joined
        if text := clean_inline(text):
            put(sheet.cells, at, Cell(text))


def _format(style: str, book: Book) -> str:
    at = whole(style, len(book.formats))
    return book.formats[at] if at < len(book.formats) else "General"


def put(cells: Cells, at: tuple[int, int], cell: Cell) -> None:
    """Set a cell; DocumentError for more than a sheet may have."""
    cells[at] = cell
    if len(cells) > MOST_IN_SHEET:
        raise DocumentError(f"a sheet has more than {MOST_IN_SHEET:,} cells", next_step="split it")


def _value(cell: Element) -> str:
    held = child(cell, "v")
    return "" if held is None else held.text or ""


def _shown(cell: Element, book: Book) -> str:
    """A cell as a program shows it."""
    value, style = _value(cell), cell.get("s", "0")
    match cell.get("t", "n"):
        case "s":
            at = whole(value, len(book.strings))
            value = book.strings[at] if at < len(book.strings) else ""
        case "inlineStr":
            value = "" if (inline := child(cell, "is")) is None else _rich(inline)
        case "b":
            value = {"1": "TRUE", "0": "FALSE"}.get(value, value)
        case "n" if value:
            code = _format(style, book)
            value = shown_number(value, code, since_1904=book.since_1904)
        case "d":
            value = re.sub(r"T00:00:00(?:\.0+)?Z?$", "", value)
    shown = clean_inline(value)
    return struck(shown) if whole(style) in book.struck and "~~" not in shown else shown


def _beside(assembly: Assembly, part: Part) -> None:
    """What lies on a sheet besides its cells: charts, text boxes, remarks on cells."""
    for drawing in part.related("drawing"):
        for anchor in drawing.root:
            for shape in descendants(anchor, "sp"):
                assembly.paragraph(*paragraphs_of(child(shape, "txBody")))
            for chart in descendants(anchor, "chart"):
                add_drawing(assembly, drawing, attribute(chart, "id"), "chart")
    for remarks in part.related("threadedComment") or part.related("comments"):
        for comment in (each for each in remarks.root.iter() if local(each) in ("comment", "threadedComment")):
            body, cell = child(comment, "text"), comment.get("ref", "")
            text = clean_inline((_rich(body) or body.text or "") if body is not None else "")
            if text and _REFERENCE.fullmatch(cell):
                add_remark(assembly, cell, text)


def add_remark(assembly: Assembly, cell: str, text: str) -> None:
    """Add what someone remarked on a cell."""
    assembly.mark("cells", cell)
    assembly.paragraph(f"Comment on {cell}: {text}")


# --- where the tables of a sheet lie ----------------------------------------------------------------------------------


def _add_table(assembly: Assembly, sheet: Sheet, top: int, left: int, bottom: int, right: int) -> None:
    """Add a table, the labels above it before it; a single cell is a paragraph."""
    cells = sheet.cells
    if (bottom - top + 1) * (right - left + 1) > MOST_IN_TABLE:
        what = f"a table of a sheet has more than {MOST_IN_TABLE:,} cells, empty ones included"
        raise DocumentError(what, next_step="delete stray cells far from its tables, or split it")
    rows = [[cells.get((row, column)) or Cell() for column in range(left, right + 1)] for row in range(top, bottom + 1)]
    labels = int((top, left) == (bottom, right))
    while left < right and labels < len(rows) - 1 and _is_label(rows[labels]):
        labels += 1
    for number, row in enumerate(rows[:labels], start=top):
        for column, cell in enumerate(row, start=left):
            begins = all(cell is not cells.get(before) for before in ((number, column - 1), (number - 1, column)))
            if cell.text and begins:
                assembly.mark("cells", f"{column_name(column)}{number}")
                is_hidden = number in sheet.hidden_rows or column in sheet.hidden_columns
                assembly.paragraph("".join(hidden(cell.text)) if is_hidden else cell.text)
    first = top + labels
    add_grid(
        assembly,
        rows[labels:],
        name=lambda at: ("cells", f"{column_name(left)}{first + at}"),
        hidden={row - first for row in sheet.hidden_rows},
    )


def _is_label(row: Sequence[Cell]) -> bool:
    """Whether a row holds one text and nothing else, or nothing."""
    filled = {id(cell): cell for cell in row if cell.text}.values()
    return not filled or (len(filled) == 1 and not any(_is_number(cell.text) for cell in filled))


def _is_number(text: str) -> bool:
    return re.fullmatch(r"[^\w]*\d[\d.,:/' ]*[^\w]*\w{0,3}", text) is not None


def tables_of(cells: Cells) -> Iterator[Range]:
    """The tables, by their corners; blocks side by side come from left to right, and each from top to bottom."""
    if not cells:
        return
    rows, columns = sorted({row for row, _ in cells}), sorted({column for _, column in cells})
    for left, right in _bands(cells, columns, rows):
        is_all = (left, right) == (columns[0], columns[-1])
        yield from _stacked(cells if is_all else {at: cell for at, cell in cells.items() if left <= at[1] <= right})


def _bands(cells: Cells, columns: Sequence[int], rows: Sequence[int]) -> Iterator[tuple[int, int]]:
    """First and last column of what stands side by side: apart by an empty column, each with names of its own."""
    first = columns[0]
    for before, column in pairwise(columns):
        gap = column - before - 1
        if gap > FAR or (gap and _begins(cells, column, columns, rows) and _begins(cells, first, columns, rows)):
            yield first, before
            first = column
    yield first, columns[-1]


def _begins(cells: Cells, left: int, columns: Sequence[int], rows: Sequence[int]) -> bool:
    """Whether from a column on to the next empty one lies a table: names over at least two columns, and numbers below
    or a title above.
    """
    band = [left]
    for column in columns:
        if column == band[-1] + 1:
            band.append(column)
    if len(band) < 2:
        return False
    filled = [row for row in rows if sum((row, column) in cells for column in band) > 1]
    if len(filled) < 2:
        return False
    head = [cells[filled[0], column].text for column in band if (filled[0], column) in cells]
    below = [cells[row, column].text for row in filled[1:] for column in band if (row, column) in cells]
    first = next(row for row in rows if any((row, column) in cells for column in band))
    titled = first < filled[0] and (first, left) in cells
    return not any(map(_is_number, head)) and (titled or any(map(_is_number, below)))


def _stacked(cells: Cells) -> Iterator[Range]:
    """What stands one below the other: apart by an empty row, where what follows has a title or names of its own."""
    by_row: dict[int, list[int]] = {}
    for row, column in cells:
        by_row.setdefault(row, []).append(column)
    rows, start = sorted(by_row), 0
    for at in range(1, len(rows)):
        if rows[at] > rows[at - 1] + 1 and _is_new(cells, by_row, rows, start, at):
            yield _shrunk(by_row, rows[start:at])
            start = at
    yield _shrunk(by_row, rows[start:])


def _shrunk(by_row: dict[int, list[int]], rows: Sequence[int]) -> Range:
    return rows[0], min(min(by_row[row]) for row in rows), rows[-1], max(max(by_row[row]) for row in rows)


def _is_new(cells: Cells, by_row: dict[int, list[int]], rows: Sequence[int], start: int, at: int) -> bool:
    """Whether a table begins at a row behind an empty one: a title over several columns, or names over numbers."""
    head, below = by_row[rows[at]], by_row[rows[at + 1]] if at + 1 < len(rows) else []
    if any(_is_number(cells[rows[at], column].text) for column in head):
        return False
    if len(head) == 1:
        return len(below) > 1 or any(len(by_row[row]) > 1 for row in rows[start:at])
    return any(_is_number(cells[rows[at + 1], column].text) for column in below)
