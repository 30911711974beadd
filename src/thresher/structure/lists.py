"""Lists of a document with what they are lists of: the line that leads to them, the heading above."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile

from thresher.structure.grid import Cell, blocks_before, is_heading, last_sentence
from thresher.text.sentences import line_spans, trim
from thresher.types import Document

_ITEM = re.compile(
    r"[ \t]*(?:(?P<bullet>[-*+•‣◦▪●■–·➢✓])|(?P<number>\(?\d{1,3}[.)])|(?P<letter>\(?(?:[a-z]|[ivx]{2,5})\)))"
    r"[ \t]+(?=\S)"
)
_LEADS = re.compile(r":$|\b(?:following|follows|below|these|steps)\b", re.IGNORECASE)
_STOPS = re.compile(r"[.;:,!?]\W*$")
SECTION_WORDS = 6
"""Words of a section's heading at most."""
LONGEST = 4_000
"""Characters of a list; what is longer is no list but a document."""
LEAST = 2
"""Items of a list; one is a remark."""
SLIDE_ITEM = 200
"""Characters of a line of a slide; what is longer is text."""


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


def lists_of(document: Document, low: int = 0, high: int | None = None) -> Iterator[Listing]:
    """The lists of a document in order: runs of marked lines, and the lines of a slide under its title.

    `low` and `high` restrict them to those that overlap that span.
    """
    high = len(document.text) if high is None else high
    found = _lists(document, max(0, low - LONGEST), high + LONGEST)
    yield from (listing for listing in found if listing.start < high and low < listing.end)


def _lists(document: Document, low: int, high: int) -> Iterator[Listing]:
    run: list[Cell] = []
    for line in _lines(document, low, high):
        if mark := _ITEM.match(line.text):
            nested = document.text[max(0, line.start - 1) : line.start] not in ("", "\n")
            begins = mark["number"] is not None and mark["number"].strip("(.)") == "1"
            section = run and not nested and _is_section(document.text, line, mark, run)
            if section or (run and not nested and (begins or _kind(run[0]) != mark.lastgroup)):
                yield from _listing(document, run)
                run = []
            if not section:
                run.append(line)
        elif run and _goes_on(document.text, run[-1], line):
            run[-1] = Cell(document.text[run[-1].start : line.end], run[-1].start, line.end)
        else:
            yield from _listing(document, run)
            run = []
    yield from _listing(document, run)
    if document.kind == "pptx":
        yield from _slides(document)


def _is_section(text: str, line: Cell, mark: re.Match[str], run: Sequence[Cell]) -> bool:
    """Whether a numbered line behind a list is the heading of the next section: the items are sentences, it is none."""
    bare = line.text[mark.end() :]
    apart = text.count("\n", run[-1].end, line.start) > 1 and text[line.end : line.end + 2] == "\n\n"
    titled = apart and mark["number"] is not None and bare[:1].isupper() and len(bare.split()) <= SECTION_WORDS
    return titled and not _STOPS.search(bare) and all(_STOPS.search(item.text) for item in run)


def _lines(document: Document, low: int, high: int) -> Iterator[Cell]:
    """The lines that hold something; tables and figures are left out, and end what is before them."""
    tables = [*((table.start, table.end) for table in document.tables), *document.figures]
    low = document.text.rfind("\n", 0, low) + 1
    for start, end in ((low + start, low + end) for start, end in line_spans(document.text[low:high])):
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
    begin = first.start if first is not None and run[0].start - first.end < SLIDE_ITEM else run[0].start
    yield Listing(begin, run[-1].end, tuple(run), lead, heading, _kind(run[0]) == "number")


def _kind(item: Cell) -> str | None:
    mark = _ITEM.match(item.text)
    return None if mark is None else mark.lastgroup


def _slides(document: Document) -> Iterator[Listing]:
    """A slide that has no table and no long line: its title and what stands below."""
    for page in document.pages:
        start, end = trim(document.text, page.start, page.end)
        spans = [(start + low, start + high) for low, high in line_spans(document.text[start:end])] or [(start, end)]
        title, *lines = [Cell(document.text[low:high], low, high) for low, high in spans]
        lines = list(takewhile(lambda line: line.text != "Notes:", lines))  # the speaker's
        tabled = any(page.start <= table.start < page.end for table in document.tables)
        if len(lines) >= LEAST and not tabled and all(len(line.text) <= SLIDE_ITEM for line in lines):
            yield Listing(title.start, lines[-1].end, tuple(lines), None, title, False)
