"""Chunks made of whole sentences, and their subchunks (ECRAG, sections 4.2 and 5.3)."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from thresher.chunking.spans import (
    LeftOut,
    Region,
    check_sizes,
    fingerprint,
    make_chunk,
    overlap_start,
    pack_rows,
    split_at_whitespace,
    text_regions,
)
from thresher.errors import UsageError
from thresher.text import sentences
from thresher.text.sentences import Span
from thresher.types import Chunk, Document

_REST_OF_HEADING = re.compile(r"[^\n]*(?:\n(?:=+|-+)[ \t]*(?=\n|\Z))?")


def window_count(length: int, size: int, overlap: int) -> int:
    """Number of windows of `size` that cover `length` characters: ceil(max(0, T - L) / (L - O)) + 1.

    The paper's N and n; its brackets are read as rounding up, and a text shorter than a window gives 1. For its own
    defaults n = (2500 - 300) / (300 - 50) + 1 = 9.8, so 10. An estimate only: windows stride, sentences are packed.
    """
    return -(-max(0, length - size) // (size - overlap)) + 1


@dataclass(frozen=True, slots=True)
class HierarchicalChunker:
    """Chunks of up to `size` characters, each followed by its subchunks.

    Follows: ECRAG's sizes, sentence packing, minimum and both overlaps, all in characters. Separators between sentences
    count, since a chunk is a span of the document. Departs, where the printed code loses text or contradicts the prose:
    the last subchunk is kept, a chunk that fits is its own one subchunk, sentences longer than a chunk are split at
    whitespace, overlaps begin at a word (none where the last `overlap` characters hold no word's beginning). Headings
    up to half a subchunk above a sentence are one with it, and are cut as one where that is too long. A chunk merged
    with a small neighbour may have up to `size` + `minimum` characters ("adjusting the effective chunk size").
    Left open by the paper: which neighbour (ours: the one before, the one after for the first). Tables are chunks of
    their own, cut between rows, not merged and without overlap; so are their subchunks. A subchunk that the chunk
    before already has (both overlaps meet) is not repeated.

    `literal=True` is the code as printed, to measure what its defects do; it reads `size`, `subchunk_size` and nothing
    else. Figure 4: no overlap, no minimum, sentences of any length, only sentences counted (not the spaces between
    them), an empty chunk before a first sentence longer than `size` (skipped here). Figure 5:
    no overlap, the last subchunk lost, so that a chunk within `subchunk_size` has none, and the whole chunk as a
    subchunk before a first sentence longer than that. Its texts are spans of the document, not sentences joined anew.
    """

    size: int = 2500
    minimum: int = 300
    """Smallest chunk in characters, its overlap included; smaller ones are merged with a neighbour."""
    overlap: int = 100
    subchunk_size: int = 300
    subchunk_overlap: int = 50
    tail: Literal["flush", "literal"] = "flush"
    """`literal`: the last subchunk of each chunk is lost, as in Figure 5."""
    literal: bool = False
    without: LeftOut | None = None
    """Finds the span that is to yield no chunks (the references)."""
    whole: int = 0
    """Characters up to which a document is one chunk, its tables too."""

    VERSION: ClassVar[int] = 2

    def __post_init__(self) -> None:
        check_sizes("hierarchical", self.size, 0 if self.literal else self.overlap)
        check_sizes("hierarchical subchunks", self.subchunk_size, 0 if self.literal else self.subchunk_overlap)
        if not self.literal and not 0 <= self.minimum <= self.size:
            raise UsageError(
                "the minimum must be at least 0 and at most the size",
                subject=f"hierarchical size={self.size}, minimum={self.minimum}",
                next_step=f"use 0 to {self.size}",
            )

    @property
    def fingerprint(self) -> str:
        """Name, version and the settings that are read, in one line."""
        read: dict[str, object] = {"size": self.size, "subchunk_size": self.subchunk_size}
        if not self.literal:  # two settings of before keep their names, so that a stored index is still this one
            read = {"size": self.size, "minimum": self.minimum, "overlap": self.overlap, "merge_small": True}
            read |= {"subchunk_size": self.subchunk_size, "subchunk_overlap": self.subchunk_overlap}
            read |= {"subchunk_overlap_mode": "character", "tail": self.tail}
        return fingerprint(
            "hierarchical-literal" if self.literal else "hierarchical",
            1 if self.literal else self.VERSION,  # what headings belong to changed nothing as printed
            **read,
            sentences=sentences.VERSION,
            without=self.without,
            whole=self.whole or None,
        )

    def estimate(self, characters: int) -> dict[str, int]:
        """The paper's N for a text of that many characters, and N times its n, by level; nothing is cut."""
        overlap, sub_overlap = (0, 0) if self.literal else (self.overlap, self.subchunk_overlap)
        chunks = window_count(characters, self.size, overlap)
        each = window_count(min(characters, self.size), self.subchunk_size, sub_overlap)
        return {"chunk": chunks, "subchunk": chunks * each}

    def __call__(self, document: Document) -> list[Chunk]:
        """The document's chunks in order, each followed by its subchunks."""
        chunks: list[Chunk] = []
        parents = 0
        seen: set[Span] = set()
        headings = heading_spans(document)
        for region in text_regions(document, without=self.without, whole=self.whole):
            units = self._units(document.text, region, headings)
            for span in self._chunks(document.text, units, region):
                parents += 1
                parent = make_chunk(document, span, number=parents, kind=region.kind)
                children = self._subchunks(document.text, units, region, span)
                fresh = [child for child in children if child not in seen]
                seen.update(fresh)
                chunks.append(parent)
                chunks += (
                    make_chunk(document, child, number=at, kind=region.kind, parent=parent)
                    for at, child in enumerate(fresh, start=1)
                )
        return chunks

    def _units(self, text: str, region: Region, headings: Sequence[Span]) -> list[Span]:
        """Units that are not cut within the size: rows of a table, sentences of a text, headings with what follows."""
        if region.kind == "table":
            return list(region.rows)
        found = sentences.sentence_spans(text[region.start : region.end])
        units = [(region.start + start, region.start + end) for start, end in found]
        return units if self.literal else _below_headings(units, headings, self.subchunk_size // 2)

    def _chunks(self, text: str, units: Sequence[Span], region: Region) -> list[Span]:
        """Spans of the chunks; the empty one that Figure 4 has before a long first sentence is none."""
        if self.literal:
            return _packed_as_printed(units, self.size)[0]
        if region.kind == "table":
            return list(pack_rows(units, self.size))
        spans = _packed(text, units, self.size, self.overlap)
        return _merged(spans, self.minimum, self.size + self.minimum)

    def _subchunks(self, text: str, units: Sequence[Span], region: Region, chunk: Span) -> list[Span]:
        start, end = chunk
        first = bisect_right(units, start, key=lambda unit: unit[1])
        last = bisect_left(units, end, key=lambda unit: unit[0])
        units = [(max(unit[0], start), min(unit[1], end)) for unit in units[first:last]]
        if self.literal:
            spans, empty = _packed_as_printed(units, self.subchunk_size)
            return [chunk] * empty + spans[:-1]
        if region.kind == "table":
            spans = list(pack_rows(units, self.subchunk_size))
        else:
            spans = list(_packed(text, units, self.subchunk_size, self.subchunk_overlap))
        return spans if self.tail == "flush" else spans[:-1]


def heading_spans(document: Document) -> list[Span]:
    """The headings with all of their lines: the signs of Markdown around one are not in its name."""
    spans = ((mark.start, mark.start + len(mark.name)) for mark in document.marks if mark.kind == "heading")
    return [(start, _REST_OF_HEADING.match(document.text, end).end()) for start, end in spans]  # type: ignore[union-attr]


def _below_headings(units: Iterable[Span], headings: Sequence[Span], most: int) -> list[Span]:
    """The units, each with the headings above it that begin at most so many characters before it.

    A section is looked for by its heading too. Headings that nothing follows, as in a table of contents, stay apart.
    """
    joined: list[Span] = []
    above: list[Span] = []
    for start, end in units:
        at = bisect_right(headings, start, key=lambda heading: heading[0])
        if at and end <= headings[at - 1][1]:
            above.append((start, end))
            continue
        near = bisect_left(above, start - most, key=lambda heading: heading[0])
        joined += above[:near]
        joined.append((above[near][0] if near < len(above) else start, end))
        above = []
    return joined + above


def _packed(text: str, units: Sequence[Span], size: int, overlap: int) -> Iterator[Span]:
    """Neighbouring units together up to `size`, each span reaching up to `overlap` back into the one before.

    Units longer than `size` are split into pieces that leave room for the overlap.
    """
    parts: list[Span] = []
    for unit in units:
        parts += [unit] if unit[1] - unit[0] <= size else split_at_whitespace(text, *unit, size - overlap)
    if not parts:
        return
    start, end = parts[0]
    for unit in parts[1:]:
        if unit[1] - start > size:
            yield start, end
            # never all of the span before, and never more than the size leaves room for
            low = max(end - overlap, start + 1, unit[1] - size)
            begin = overlap_start(text, low, end)
            start = begin if begin < end else unit[0]
        end = unit[1]
    yield start, end


def _merged(spans: Iterable[Span], minimum: int, largest: int) -> list[Span]:
    """The spans, those below the minimum as one with the span before, or after, unless that exceeds `largest`."""
    kept: list[Span] = []
    for start, end in spans:
        first, last = kept[-1] if kept else (start, end)
        small = end - start < minimum or last - first < minimum
        if kept and small and end - first <= largest:
            kept[-1] = (first, end)
        else:
            kept.append((start, end))
    return kept


def _packed_as_printed(units: Sequence[Span], size: int) -> tuple[list[Span], int]:
    """Figures 4 and 5: the spans, the unflushed one last, and how many empty ones come first (0 or 1)."""
    spans: list[Span] = []
    empty = counted = 0
    for start, end in units:
        length = end - start
        if counted + length > size:
            empty += not spans
            spans.append((start, end))
            counted = length
        else:
            counted += length
            begin = spans.pop()[0] if spans else start
            spans.append((begin, end))
    return spans, empty
