"""Spans of a document's text, and the chunks made of them.

A span is (start, end): code points, end exclusive. Whitespace is what `str.isspace` says.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from itertools import pairwise
from typing import Literal

from thresher.errors import UsageError
from thresher.text.sentences import Span, trim
from thresher.types import Chunk, Document, Table

LeftOut = Callable[[str], Span | None]
"""Finds the span of a text that is to yield no chunks (its references), or None."""

_INK = re.compile(r"\S")
_WORD_START = re.compile(r"(?<=\s)\S")


def chunk_id(document_id: str, level: str, start: int, end: int) -> str:
    """24 hex digits that name a span of a document at a level; the same span has the same id from every chunker."""
    return sha256(f"{document_id}:{level}:{start}:{end}".encode()).hexdigest()[:24]


def make_chunk(
    document: Document, span: Span, *, number: int, kind: Literal["text", "table"] = "text", parent: Chunk | None = None
) -> Chunk:
    """The chunk of a span; a chunk with a parent is a subchunk."""
    start, end = span
    level: Literal["chunk", "subchunk"] = "chunk" if parent is None else "subchunk"
    # the same page as `document.page_at(start)`, which walks all pages: too slow for each chunk of a long book
    pages_begun = bisect_right(document.pages, start, key=lambda page: page.start)
    return Chunk(
        id=chunk_id(document.id, level, start, end),
        document_id=document.id,
        source=document.source,
        title=document.title,
        start=start,
        end=end,
        text=document.text[start:end],
        page=document.pages[pages_begun - 1].number if pages_begun and start < document.card else None,
        kind=kind,
        level=level,
        parent_id=None if parent is None else parent.id,
        number=number,
    )


def first_ink(text: str, start: int, end: int) -> int:
    """Offset of the first character of the span that is not whitespace; `end` where there is none."""
    found = _INK.search(text, start, end)
    return found.start() if found else end


def cut_before(text: str, low: int, limit: int) -> int:
    """The last offset in `low` <= offset <= `limit` where a word begins or ends; `limit` where there is none."""
    for offset in range(limit, low - 1, -1):
        if text[offset].isspace() or text[offset - 1].isspace():
            return offset
    return limit


def split_at_whitespace(text: str, start: int, end: int, size: int) -> Iterator[Span]:
    """Pieces of at most `size` characters, cut at whitespace; only a word longer than `size` is cut inside."""
    start, end = trim(text, start, end)
    while end - start > size:
        cut = cut_before(text, start + 1, start + size)
        yield trim(text, start, cut)
        start = first_ink(text, cut, end)
    if start < end:
        yield start, end


def overlap_start(text: str, low: int, end: int) -> int:
    """The first offset from `low` (1 or more) where a word begins before `end`; `end` where none does (no overlap)."""
    found = _WORD_START.search(text, low, end)
    return found.start() if found else end


def check_sizes(part: str, size: int, overlap: int) -> None:
    """Refuse a size below 1 and an overlap that is negative or leaves nothing new in a chunk."""
    if size < 1:
        raise UsageError("a size below 1 character", subject=f"{part} size={size}", next_step="use 1 or more")
    if not 0 <= overlap < size:
        raise UsageError(
            "an overlap must be at least 0 and below the size",
            subject=f"{part} size={size}, overlap={overlap}",
            next_step=f"use 0 to {size - 1}",
        )


def fingerprint(name: str, version: int, /, **settings: object) -> str:
    """`name@version(setting=value,...)`, in the order given; functions by name, settings that are None left out."""
    listed = ",".join(f"{key}={_plain(value)}" for key, value in settings.items() if value is not None)
    return f"{name}@{version}({listed})"


def _plain(value: object) -> str:
    if callable(value):
        return str(getattr(value, "__name__", type(value).__name__))
    return str(value).lower() if isinstance(value, bool) else str(value)


# --- tables are their own chunks; the text between them goes to whichever chunker is asked ----------------------------


_LINE = re.compile(r"[^\n]+")


@dataclass(frozen=True, slots=True)
class Region:
    """A span of a document that no chunk crosses: one table, or the text between two; without outer whitespace."""

    start: int
    end: int
    kind: Literal["text", "table"] = "text"
    rows: tuple[Span, ...] = ()
    """Of a table: spans that hold all of it between them, in order."""


def text_regions(document: Document, *, without: LeftOut | None = None, whole: int = 0) -> list[Region]:
    """Text and tables in turn, without figures and the span of `without` (tables stay whole), then the card.

    A document of at most `whole` characters without figures is one text, its tables too.
    """
    text = document.text[: document.card]
    card = [Region(document.card, len(document.text))] if document.card < len(document.text) else []
    if text.strip() and len(text) <= whole and not document.figures:
        return [Region(*trim(text, 0, len(text))), *card]
    found = without(text) if without else None
    low, high = (max(found[0], 0), found[1]) if found and found[0] < found[1] else (len(text), len(text))
    regions: list[Region] = []
    position = 0
    for begin, behind, table in _ordered(document):
        if low <= begin and behind <= high:
            continue
        regions += _text_between(text, position, begin, low, high)
        if table is not None:
            start, end = trim(text, begin, behind)
            regions.append(Region(start, end, "table", row_spans(text, table)))
        position = behind
    return [*regions, *_text_between(text, position, len(text), low, high), *card]


def row_spans(text: str, table: Table) -> tuple[Span, ...]:
    """The table cut before each row, or each line where no rows are known; a rule goes with the row above."""
    lines = _LINE.finditer(text, table.start, table.end)
    begins = {start for start, _ in table.rows} or {line.start() for line in lines}
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
    document: Document, cut: Callable[[str, int, int], Iterable[Span]], *, size: int, without: LeftOut | None = None
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


def _ordered(document: Document) -> Iterator[tuple[int, int, Table | None]]:
    """Tables that hold something and figures (None), in order; one that reaches into another is left to the text."""
    found: list[tuple[int, int, Table | None]] = [(table.start, table.end, table) for table in document.tables]
    found += [(start, end, None) for start, end in document.figures]
    position = 0
    for start, end, table in sorted(found, key=lambda one: one[:2]):
        if position <= start and document.text[start:end].strip():
            yield start, end, table
            position = end


def _text_between(text: str, start: int, end: int, low: int, high: int) -> Iterator[Region]:
    for part_start, part_end in ((start, min(end, max(start, low))), (max(start, min(end, high)), end)):
        inked_start, inked_end = trim(text, part_start, part_end)
        if inked_start < inked_end:
            yield Region(inked_start, inked_end)
