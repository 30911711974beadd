"""Lists of a document with what they are lists of: the line that leads to them, the heading above."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from thresher.structure.grid import Cell, blocks_before, is_heading, last_sentence
from thresher.text.sentences import line_spans
from thresher.types import Document

_ITEM = re.compile(
    r"[ \t]*(?:(?P<bullet>[-*+•‣◦▪●■–·➢✓])|(?P<number>\(?\d{1,3}[.)])|(?P<letter>\(?(?:[a-z]|[ivx]{2,5})\)))"
    r"[ \t]+(?=\S)"
)
_LEADS = re.compile(r":$|\b(?:following|follows|below|these|steps)\b", re.IGNORECASE)
LEAST = 2
"""Items of a list; one is a remark."""
NEAR = 200
"""Characters between a list and what leads to it."""


@dataclass(frozen=True, slots=True)
class Listing:
    """A list; offsets are in the document, `start` and `end` those of lead-in (or heading) and items together."""

    start: int
    end: int
    items: tuple[Cell, ...]
    lead: Cell | None
    """The sentence that leads to it."""
    heading: Cell | None
    numbered: bool

    @property
    def about(self) -> str:
        """What it is a list of, in the document's words."""
        return " ".join(cell.text for cell in (self.heading, self.lead) if cell is not None)


def lists_of(document: Document) -> Iterator[Listing]:
    """The lists of a document in order: runs of marked lines."""
    run: list[Cell] = []
    for line in _lines(document):
        if mark := _ITEM.match(line.text):
            nested = document.text[max(0, line.start - 1) : line.start] not in ("", "\n")
            begins = mark["number"] is not None and mark["number"].strip("(.)") == "1"
            if run and not nested and (begins or _kind(run[0]) != mark.lastgroup):
                yield from _listing(document, run)
                run = []
            run.append(line)
        elif run and _goes_on(document.text, run[-1], line):
            run[-1] = Cell(document.text[run[-1].start : line.end], run[-1].start, line.end)
        else:
            yield from _listing(document, run)
            run = []
    yield from _listing(document, run)


def _lines(document: Document) -> Iterator[Cell]:
    """The lines that hold something; tables and figures are left out, and end what is before them."""
    tables = [*((table.start, table.end) for table in document.tables), *document.figures]
    for start, end in line_spans(document.text):
        inside = any(first <= start < last for first, last in tables)
        yield Cell("|" if inside else document.text[start:end], start, end)


def _goes_on(text: str, item: Cell, line: Cell) -> bool:
    """Whether an unmarked line belongs to the item above: no blank line between, or indented as the item's text is."""
    indented = text[text.rfind("\n", 0, line.start) + 1 : line.start].isspace()
    return line.text != "|" and (text.count("\n", item.end, line.start) == 1 or indented)


def _listing(document: Document, run: list[Cell]) -> Iterator[Listing]:
    if len(run) < LEAST:
        return
    lead = heading = None
    for block in blocks_before(document, run[0].start):
        if is_heading(block.text):
            heading = Cell(block.text.strip("# "), block.start, block.end)
            break
        if lead is None and block.end >= run[0].start - 3:
            last = last_sentence(block)
            lead = last if _LEADS.search(last.text) else None
    first = lead or heading
    begin = first.start if first is not None and run[0].start - first.end < NEAR else run[0].start
    yield Listing(begin, run[-1].end, tuple(run), lead, heading, _kind(run[0]) == "number")


def _kind(item: Cell) -> str | None:
    mark = _ITEM.match(item.text)
    return None if mark is None else mark.lastgroup
