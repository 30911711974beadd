"""The place of a span in its file, as a person or another program finds it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from thresher.text.markup import BAR
from thresher.types import Document, Mark, MarkKind

NAME_CHARACTERS = 80
"""Of a heading that is named; longer ones are sentences set as headings."""
DATA = frozenset({"csv", "json", "jsonl", "xlsx", "passage"})
"""Kinds without headings and lists."""

_ITEM = re.compile(
    r"[ \t]*(?:(?P<bullet>[-*+•‣◦▪●■–·➢✓])|\(?(?P<number>\d{1,3})[.)]|(?P<letter>\(?(?:[a-z]|[ivx]{2,5})\)))"
    r"[ \t]+(?=\S)"
)
_PARAGRAPHS = re.compile(r"\n\s*\n")
LIST = 4_000
"""Characters of a list above an item that are counted, and below it that are looked at."""

_CELL = re.compile(r"([A-Z]+)(\d+)")


def locate(document: Document, start: int, end: int, sentence_at: int | None = None) -> str:
    """The place of the span, as in `page 3, under “Results”` or `sheet “Towns”, cells A2:C2`; "" where none is known.

    Rows count from 1 with the header, tables in the order of the file (of the slide in a presentation), paths as in
    RFC 9535. The heading is that of the sentence at `sentence_at`, if given: a span may go over several.
    """
    last = max(start, end - 1)
    if start >= document.card:
        return "what the file says of itself"
    here, there = _standing(document.marks, start), _standing(document.marks, last)
    pieces: list[str] = []
    if (page := document.page_at(start)) is not None:
        pieces.append(_numbered("slide" if document.kind == "pptx" else "page", page, document.page_at(last)))
    if "sheet" in here:
        pieces.append(f"sheet “{here['sheet'].name}”")
    if "part" in here and here["part"].name:
        pieces.append(_parts(here["part"].name, there["part"].name))
    pieces += _hidden(document, here, start, last)
    if "path" in here:
        first, final = here["path"].name, there["path"].name
        pieces.append(first if first == final else f"{first} to {final}")
    pieces += _in_table(document, here, there, start, last)
    if "line" in here:
        lines = _counted(document, here["line"], start), _counted(document, there["line"], last)
        pieces.append(_numbered("line", *lines))
    if document.kind not in DATA:
        at = start if sentence_at is None else sentence_at
        pieces += [*_item(document.text, start, last), *_heading(document.text, _standing(document.marks, at), at)]
    return ", ".join(pieces)


def _hidden(document: Document, here: Mapping[MarkKind, Mark], start: int, last: int) -> list[str]:
    """What of a span a program does not show: `hidden row`, or `in part hidden text`."""
    first = here.get("hidden", Mark(start, "hidden", ""))
    marks = [first, *(mark for mark in document.marks if mark.kind == "hidden" and start < mark.start <= last)]
    ends = [*(mark.start for mark in marks[1:]), last + 1]
    spans = ((mark.name, document.text[max(start, mark.start) : end]) for mark, end in zip(marks, ends, strict=True))
    names = [name for name, text in spans if re.search(r"\w", text)]
    found = next(filter(None, names), "")
    return [f"in part {found}" if "" in names else found] if found else []


def _numbered(what: str, first: int, final: int | None) -> str:
    return f"{what} {first}" if first == final else f"{what}s {first} to {final}"


def _parts(first: str, final: str) -> str:
    """One part, or those from one numbered alike to another: `cards 1 to 2`."""
    (what, _, low), (same, _, high) = first.rpartition(" "), final.rpartition(" ")
    numbered = what and what == same and low.isdigit() and high.isdigit()
    return _numbered(what, int(low), int(high)) if numbered else first


def _standing(marks: Iterable[Mark], offset: int) -> dict[MarkKind, Mark]:
    """The last mark of each kind that begins at or before the offset."""
    found: dict[MarkKind, Mark] = {}
    for mark in marks:
        if mark.start > offset:
            break
        found[mark.kind] = mark
    return found


def _in_table(
    document: Document, here: dict[MarkKind, Mark], there: dict[MarkKind, Mark], start: int, last: int
) -> list[str]:
    """The cells of a sheet, or the row, and the table where there may be several."""
    at = next((at for at, table in enumerate(document.tables) if table.start <= start < table.end), None)
    if at is None or document.kind in ("pdf", "json", "jsonl"):  # a PDF has lines that look like rows, no rows
        return []
    table = document.tables[at]
    last = min(last, table.end - 1)
    if document.kind == "xlsx":
        if "cells" not in here:
            return []
        cells = _cell(document.text, here["cells"], start), _cell(document.text, there["cells"], last)
        names = here["columns"].name.split() if "columns" in here else []
        first, final = (column_number(cell.rstrip("0123456789")) for cell in cells)
        hidden = [name for name in names if first <= column_number(name) <= final]
        columns = [f"hidden column{'s' * (len(hidden) > 1)} {', '.join(hidden)}"] if hidden else []
        return [f"cell {cells[0]}" if cells[0] == cells[1] else f"cells {cells[0]}:{cells[1]}", *columns]
    if "row" in here and here["row"].start >= table.start:
        first, final = _counted(document, here["row"], start), _counted(document, there["row"], last)
    else:
        first, final = (sum(begin <= offset for begin, _ in table.rows) for offset in (start, last))
    rows = _numbered("row", first, final)
    if document.kind == "csv":
        return [rows]
    number = str(at + 1)
    if "table" in here and here["table"].start == table.start:
        number = here["table"].name
    elif page := next((page for page in document.pages if page.start <= table.start < page.end), None):
        number = str(sum(page.start <= other.start <= table.start for other in document.tables))
    return [f"table {number}", rows]


def _counted(document: Document, mark: Mark, offset: int) -> int:
    return int(mark.name) + document.text.count("\n", mark.start, offset)


def _cell(text: str, mark: Mark, offset: int) -> str:
    """The cell of a sheet that holds the offset; `mark` names the first cell of a row at or before it."""
    column, row = _CELL.fullmatch(mark.name).groups()  # type: ignore[union-attr]
    number = int(row) + text.count("\n", mark.start, offset)
    line = text.rfind("\n", 0, offset) + 1
    end = text.find("\n", offset) % (len(text) + 1)
    bars = [bar.start() for bar in BAR.finditer(text, line, end)]
    before = sum(bar <= offset for bar in bars[:-1])  # the last bar closes the row
    return f"{column_name(column_number(column) + max(0, before - 1))}{number}"


def _item(text: str, start: int, last: int) -> list[str]:
    """Which item of a list of two or more contains the span: by the item's own number, else counted from the first."""
    line_end = text.find("\n", start) % (len(text) + 1)
    inside = text[line_end : last + 1]
    if re.search(r"\n\s*\n", inside) or any(map(_ITEM.match, inside.split("\n"))):
        return []
    own, count = None, 0
    for paragraph in reversed(_PARAGRAPHS.split(text[max(0, start - LIST) : line_end])):
        marks = list(filter(None, map(_ITEM.match, paragraph.split("\n"))))
        own = own or (marks[-1] if marks else None)
        alike = [mark for mark in marks if own is not None and mark.lastgroup == own.lastgroup]
        count += len(alike)
        if not alike or len(alike) < len(marks) or not _ITEM.match(paragraph):
            break
    rest, *below = _PARAGRAPHS.split(text[line_end : line_end + LIST], maxsplit=2)
    goes_on = any(map(_ITEM.match, rest.split("\n"))) or any(map(_ITEM.match, below[:1]))
    return [f"item {own['number'] or count}"] if own is not None and (count > 1 or goes_on) else []


def _heading(text: str, here: dict[MarkKind, Mark], start: int) -> list[str]:
    mark = here.get("heading")
    if mark is None or not mark.name:
        return []
    name = mark.name if len(mark.name) <= NAME_CHARACTERS else f"{mark.name[:NAME_CHARACTERS].rstrip()}…"
    below = text.find("\n", mark.start, start) >= 0
    return [f"{'under' if below else 'heading'} “{name}”"]


def column_name(number: int) -> str:
    """The letters of a column of a sheet, which counts from 1: 27 is AA."""
    name = ""
    while number:
        number, rest = divmod(number - 1, 26)
        name = chr(ord("A") + rest) + name
    return name


def column_number(letters: str) -> int:
    """A column of a sheet from 1: A is 1, AA is 27."""
    number = 0
    for letter in letters:
        number = number * 26 + ord(letter) - ord("A") + 1
    return number
