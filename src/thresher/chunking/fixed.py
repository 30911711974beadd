"""Chunks of a fixed size, and chunks cut at the widest separator that fits."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from thresher.chunking.spans import (
    LeftOut,
    check_sizes,
    chunk_regions,
    cut_before,
    fingerprint,
    first_ink,
    overlap_start,
)
from thresher.text.sentences import Span, trim
from thresher.types import Chunk, Document

SEPARATORS = ("\n\n", "\n", " ", "")
"""Those of LangChain's recursive splitter, which the hybrid report uses."""

WORD_CHARACTERS = 40
"""How far back from the end of a small chunk whitespace is looked for; hardly any word is longer."""


@dataclass(frozen=True, slots=True)
class _SizedChunker:
    """Chunks of at most `size` characters, cut by `_cut`."""

    size: int
    overlap: int
    without: LeftOut | None = None
    """Finds the span that is to yield no chunks (the references)."""

    NAME: ClassVar[str]
    VERSION: ClassVar[int] = 1

    def __post_init__(self) -> None:
        check_sizes(self.NAME, self.size, self.overlap)

    @property
    def fingerprint(self) -> str:
        """Name, version and settings in one line."""
        return fingerprint(self.NAME, self.VERSION, size=self.size, overlap=self.overlap, without=self.without)

    def __call__(self, document: Document) -> list[Chunk]:
        """The document's chunks in order."""
        return chunk_regions(document, self._cut, size=self.size, without=self.without)

    def _cut(self, text: str, start: int, end: int) -> Iterator[Span]:
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class FixedChunker(_SizedChunker):
    """Chunks of at most `size` characters, each `overlap` characters back from the end of the one before.

    Follows: the 900 characters of the CRAG blog's example. Departs: a chunk ends at the last whitespace of its last
    tenth (its last 40 characters if those are more), so that words stay whole, and only a word longer than that is
    cut; an overlap begins at a word; tables are chunks of their own.
    """

    size: int = 900
    overlap: int = 0

    NAME = "fixed"

    def _cut(self, text: str, start: int, end: int) -> Iterator[Span]:
        shortest = self.size - min(self.size - 1, max(self.size // 10, WORD_CHARACTERS))
        fresh = start
        while end - start > self.size:
            cut = cut_before(text, max(start + shortest, fresh + 1), start + self.size)
            yield trim(text, start, cut)
            fresh = first_ink(text, cut, end)
            # the next chunk must reach what is new, however much whitespace lies before that
            begin = overlap_start(text, max(cut - self.overlap, start + 1, fresh + 1 - self.size), cut)
            start = begin if begin < cut else fresh
        yield start, end


@dataclass(frozen=True, slots=True)
class RecursiveChunker(_SizedChunker):
    """Chunks cut at the widest separator that keeps them within `size`, repeating up to `overlap` whole pieces' worth.

    Follows: the recursive character splitter of LangChain with its defaults (separators stay with the piece after
    them, pieces are trimmed), which the hybrid report uses with 1500 and 300. Departs: a chunk that holds nothing
    beyond the one before is dropped; the whole document is cut, not each page by itself, so no page is dropped for
    having 50 characters or fewer; tables are chunks of their own.
    """

    size: int = 1500
    overlap: int = 300

    NAME = "recursive"

    def _cut(self, text: str, start: int, end: int) -> Iterator[Span]:
        covered = start
        for piece in self._split(text, start, end, 0):
            inked_start, inked_end = trim(text, *piece)
            if inked_end > covered and inked_start < inked_end:
                yield inked_start, inked_end
                covered = inked_end

    def _split(self, text: str, start: int, end: int, level: int) -> Iterator[Span]:
        """Pieces at the first separator the span holds, put together again as far as the size allows."""
        while text.find(SEPARATORS[level], start, end) < 0:
            level += 1
        separator = SEPARATORS[level]
        if separator == "":
            while end - start > self.size:
                yield start, start + self.size
                start += self.size - self.overlap
            yield start, end
            return
        short: list[Span] = []
        for piece in _pieces(text, start, end, separator):
            if piece[1] - piece[0] < self.size:
                short.append(piece)
                continue
            yield from self._merge(short)
            short = []
            yield from self._split(text, *piece, level + 1)
        yield from self._merge(short)

    def _merge(self, pieces: Sequence[Span]) -> Iterator[Span]:
        """Neighbouring pieces together, up to `size`; each group begins with up to `overlap` of the one before."""
        group: deque[Span] = deque()
        for piece in pieces:
            if group and piece[1] - group[0][0] > self.size:
                yield group[0][0], group[-1][1]
                while group and (group[-1][1] - group[0][0] > self.overlap or piece[1] - group[0][0] > self.size):
                    group.popleft()
            group.append(piece)
        if group:
            yield group[0][0], group[-1][1]


def _pieces(text: str, start: int, end: int, separator: str) -> Iterator[Span]:
    found = text.find(separator, start, end)
    while found >= 0:
        if found > start:
            yield start, found
        start = found
        found = text.find(separator, found + len(separator), end)
    yield start, end
