"""What stands around a cited sentence and may bound it: its headings, and the other sentences of its sections."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from thresher.parts.chunking import Span, sentence_spans
from thresher.text.markup import blocks
from thresher.types import Document

REACH = 40
"""Sentences that are kept above a sentence, and below it."""

_ITEM = re.compile(r"^(?=[ \t]*(?:[-*+•‣◦–]|\(?\w{1,2}[.)]|\d{1,2}(?:\.\d{1,2})+\.?)[ \t])", re.MULTILINE)
"""Where an item of a list begins, or a numbered clause."""


@dataclass(frozen=True, slots=True)
class Context:
    """What stands around a sentence of a document."""

    headings: tuple[str, ...] = ()
    """The outermost first; of a row of a table the names of its columns come last."""
    above: tuple[str, ...] = ()
    """In the order of the text, the nearest last. What stands directly below each of its headings is above it too."""
    own: tuple[str, ...] = ()
    """The sentence itself: all that the place touches."""
    below: tuple[str, ...] = ()
    """To the next heading."""

    @classmethod
    def from_dict(cls, stored: dict[str, Any]) -> Context:
        """What `asdict` gave, also after a trip through JSON."""
        return cls(*(tuple(stored[name]) for name in ("headings", "above", "own", "below")))


def context_of(document: Document, start: int, end: int) -> Context:
    """The context of the span from `start` to `end`."""
    text = document.text
    heads = [(mark.start, mark.name) for mark in document.marks if mark.kind == "heading"]
    edges = [*(begin for begin, _ in heads), len(text)]
    path, level = list[int](), 7
    for at, (begin, _) in reversed(list(enumerate(heads))):
        depth = len(re.match("#*", text[begin:])[0]) or 1  # type: ignore[index]
        if begin <= start and depth < level:
            path, level = [at, *path], depth
    sections = [(0, edges[0]), *((heads[at][0], edges[at + 1]) for at in path)]
    table = next((one for one in document.tables if one.start <= start < one.end), None)
    columns = [text[slice(*table.rows[0])]] if table is not None and table.rows else []
    spans = [span for section in sections for span in _sentences(text, section)]
    above = [text[low:high] for low, high in spans if high <= start]
    own = [text[low:high] for low, high in spans if low < end and high > start] or [text[start:end]]
    below = [text[low:high] for low, high in spans if low >= end]
    headings = [*(heads[at][1] for at in path), *columns]
    return Context(tuple(headings), tuple(above[-REACH:]), tuple(own), tuple(below[:REACH]))


def _sentences(text: str, section: Span) -> Iterator[Span]:
    """The sentences of the running text and of the lists of a section."""
    low, high = section
    for block in blocks(text[low:high]):
        if block.kind != "prose":
            continue
        begin, behind = low + block.start, low + block.end
        edges = [begin, *(begin + one.start() for one in _ITEM.finditer(text[begin:behind]) if one.start()), behind]
        for first, last in pairwise(edges):
            yield from ((first + a, first + b) for a, b in sentence_spans(text[first:last]))
