"""Tables are their own chunks; the text between them goes to whichever chunker is asked."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from thresher.chunking.spans import Span, SpanFinder, make_chunk, trim
from thresher.types import Chunk, Document, Table

_LINE = re.compile(r"[^\n]+")


@dataclass(frozen=True, slots=True)
class Region:
    """A stretch of a document that no chunk crosses: one table, or the text between two; without outer whitespace."""

    start: int
    end: int
    kind: Literal["text", "table"] = "text"
    rows: tuple[Span, ...] = ()
    """Of a table: spans that hold all of it between them, in order."""


def text_regions(document: Document, *, without: SpanFinder | None = None) -> list[Region]:
    """The document as text and tables in turn; the span that `without` finds is in none of them.

    A table that lies only partly in that span stays whole.
    """
    text = document.text
    low, high = _skipped(text, without)
    regions: list[Region] = []
    position = 0
    for table in _ordered(document):
        if low <= table.start and table.end <= high:
            continue
        regions += _text_between(text, position, table.start, low, high)
        start, end = trim(text, table.start, table.end)
        regions.append(Region(start, end, "table", row_spans(text, table)))
        position = table.end
    regions += _text_between(text, position, len(text), low, high)
    return regions


def row_spans(text: str, table: Table) -> tuple[Span, ...]:
    """The table cut before each row; what stands between two rows (a rule) goes with the row above.

    Where no rows are known, each line is one.
    """
    begins = {start for start, _ in table.rows} or {
        line.start() for line in _LINE.finditer(text, table.start, table.end)
    }
    cuts = [table.start, *sorted(begin for begin in begins if table.start < begin < table.end), table.end]
    rows = (trim(text, start, end) for start, end in pairwise(cuts))
    return tuple(row for row in rows if row[0] < row[1])


def pack_rows(rows: Iterable[Span], size: int) -> Iterator[Span]:
    """Whole rows, together as long as they span at most `size` characters; a longer row stands alone, uncut."""
    start = end = -1
    for row_start, row_end in rows:
        if start >= 0 and row_end - start > size:
            yield start, end
            start = -1
        start = row_start if start < 0 else start
        end = row_end
    if start >= 0:
        yield start, end


def chunk_regions(
    document: Document,
    cut: Callable[[str, int, int], Iterable[Span]],
    *,
    size: int,
    without: SpanFinder | None = None,
) -> list[Chunk]:
    """Chunks of one level: tables between rows, the text between them by `cut(text, start, end)`."""
    chunks: list[Chunk] = []
    for region in text_regions(document, without=without):
        if region.kind == "table":
            spans = pack_rows(region.rows, size)
        else:
            spans = iter(cut(document.text, region.start, region.end))
        for span in spans:
            chunks.append(make_chunk(document, span, number=len(chunks) + 1, kind=region.kind))
    return chunks


def _skipped(text: str, without: SpanFinder | None) -> Span:
    found = without(text) if without else None
    if found is None or found[0] >= found[1]:
        return len(text), len(text)
    return max(found[0], 0), found[1]


def _ordered(document: Document) -> Iterator[Table]:
    """The tables that hold something, in order; one that reaches into the table before it is left to the text."""
    position = 0
    for table in sorted(document.tables, key=lambda table: (table.start, table.end)):
        if position <= table.start and document.text[table.start : table.end].strip():
            yield table
            position = table.end


def _text_between(text: str, start: int, end: int, low: int, high: int) -> Iterator[Region]:
    for part_start, part_end in ((start, min(end, max(start, low))), (max(start, min(end, high)), end)):
        inked_start, inked_end = trim(text, part_start, part_end)
        if inked_start < inked_end:
            yield Region(inked_start, inked_end)
