"""Spans of a document's text, and the chunks made of them.

A span is (start, end): code points, end exclusive. Whitespace is what `str.isspace` says.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from hashlib import sha256
from typing import Literal

from thresher.errors import UsageError
from thresher.types import Chunk, Document

Span = tuple[int, int]
SpanFinder = Callable[[str], Span | None]
"""Finds the span of a text that is to yield no chunks (its references), or None."""

_INK = re.compile(r"\S")
_WORD_START = re.compile(r"(?<=\s)\S")


def chunk_id(document_id: str, level: str, start: int, end: int) -> str:
    """24 hex digits that name a span of a document at a level; the same span has the same id whoever cut it."""
    return sha256(f"{document_id}:{level}:{start}:{end}".encode()).hexdigest()[:24]


def make_chunk(
    document: Document,
    span: Span,
    *,
    number: int,
    kind: Literal["text", "table"] = "text",
    parent: Chunk | None = None,
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
        page=document.pages[pages_begun - 1].number if pages_begun else None,
        kind=kind,
        level=level,
        parent_id=None if parent is None else parent.id,
        number=number,
    )


def trim(text: str, start: int, end: int) -> Span:
    """The span without whitespace at its ends; empty (start == end) where it holds nothing else."""
    piece = text[start:end]
    kept = piece.lstrip()
    start = end - len(kept)
    return start, start + len(kept.rstrip())


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
    """`name@version(setting=value,...)`, in the order given; settings that are None are left out."""
    listed = ",".join(f"{key}={_plain(value)}" for key, value in settings.items() if value is not None)
    return f"{name}@{version}({listed})"


def name_of(without: SpanFinder | None) -> str | None:
    """How a fingerprint calls the function that finds the span to leave out."""
    return None if without is None else str(getattr(without, "__name__", type(without).__name__))


def _plain(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
