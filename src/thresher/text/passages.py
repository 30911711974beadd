"""What of a longer text is shown around a place: whole sentences, and no list, table or code in part."""

from __future__ import annotations

import re

from thresher.text.markup import LISTED, blocks
from thresher.text.sentences import Span, sentence_spans

_WORD = re.compile(r"\w+")

LONGEST = 1_200
"""Characters that are shown of a text; a shorter text is shown whole, a longer list, table or code too. Of 93
dev questions to papers and manuals the first passage, or one of three, is right for 64 / 78 with 900, for 67 / 80 with
1,200 and for 69 / 81 with whole chunks."""

NAME_LINE = 80
"""A block whose lines are shorter and end without a full stop is a name."""


def cut_around(text: str, start: int, end: int, most: int = LONGEST) -> Span:
    """The sentences, lists, tables and code around a place, with it in the middle: at most `most` characters.

    Needs 0 <= start <= end <= len(text). Only what the place itself stands in may be longer.
    """
    if len(text) <= most or not (spans := parts(text)):
        return 0, len(text)
    first = next((at for at, (_, behind) in enumerate(spans) if start < behind), len(spans) - 1)
    last = first
    while last + 1 < len(spans) and end > spans[last + 1][0]:
        last += 1
    while True:
        low, high = spans[first][0], spans[last][1]
        above = first > 0 and high - spans[first - 1][0] <= most
        below = last + 1 < len(spans) and spans[last + 1][1] - low <= most
        if not above and not below:
            return low, high
        if above and (not below or start - low <= high - end):
            first -= 1
        else:
            last += 1


def parts(text: str) -> list[Span]:
    """What is shown whole or not at all: a sentence, a heading with what follows it, a list, a table, code."""
    found: list[Span] = []
    items = False
    begin: int | None = None
    for block in blocks(text):
        listed = block.kind == "prose" and _is_list(block.text)
        running = block.kind == "prose" and not listed and not block.text[:1].isspace()
        if block.kind == "heading" or (running and _is_name(block.text)):
            begin = block.start if begin is None else begin
            items = False
            continue
        if listed and items:
            spans = [(found.pop()[0], block.end)]
        elif not running:
            spans = [(block.start, block.end)]
        else:
            spans = [(block.start + a, block.start + b) for a, b in sentence_spans(block.text)]
        if spans and begin is not None:
            spans[0] = (begin, spans[0][1])
        leads = found and not running and not (listed and items) and text[slice(*found[-1])].rstrip().endswith(":")
        if leads:
            spans[0] = (found.pop()[0], spans[0][1])
        found += spans
        begin, items = None, listed
    return found if begin is None else [*found, (begin, len(text.rstrip()))]


def share_of_runs(one: str, other: str) -> float:
    """Share of the runs of four words of the text with fewer that the other has too, 0 to 1; 0 without any."""
    few, many = sorted((_runs_of_four(one), _runs_of_four(other)), key=len)
    return len(few & many) / len(few) if few else 0.0


def _runs_of_four(text: str) -> frozenset[tuple[str, ...]]:
    words = _WORD.findall(text.lower())
    return frozenset(zip(words, words[1:], words[2:], words[3:], strict=False))


def _is_name(block: str) -> bool:
    """Whether a block is a heading, an option or a term that names what follows it."""
    lines = block.splitlines()
    short = len(lines) <= 3 and all(len(line) <= NAME_LINE for line in lines)
    return short and block.rstrip()[-1:] not in ".!?:;,|"


def _is_list(text: str) -> bool:
    """Whether a block is one item, or has several."""
    marked = [LISTED.match(line) is not None for line in text.splitlines()]
    return marked[0] or sum(marked) > 1
