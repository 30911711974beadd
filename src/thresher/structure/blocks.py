"""Blocks of a text: what blank lines part, with what leads in to a block and what belongs behind it.

A manual parts an option from its description by a blank line, a list from its lead-in, code from the sentence that
announces it. What is quoted holds all of these.
"""

from __future__ import annotations

import re

from thresher.text.sentences import Span, sentence_spans

MOST = 900
"""Characters of a passage; a longer paragraph is cut to whole sentences around the place."""

ENOUGH = 300
"""Characters from which a passage takes no further paragraph in."""

NAME = 80
"""A block whose lines are shorter and end without a full stop is a name: a heading, an option, a term."""

_BLANK = re.compile(r"\n[ \t]*\n\s*")
_ITEM = re.compile(r"[ \t]*(?:[-*•‣◦–]|\(?\d{1,2}[.)]|\(?[a-z][.)])\s")


def passage_around(text: str, start: int, end: int) -> Span:
    """The block of a place, 0 <= start <= end <= len(text), with the name above it and what it leads in to."""
    blocks = _blocks(text)
    first = last = next((at for at, (_, behind) in enumerate(blocks) if start < behind), len(blocks) - 1)
    while last + 1 < len(blocks) and end > blocks[last][1]:
        last += 1
    if blocks[last][1] - blocks[first][0] > MOST:
        return _sentences_around(text, blocks[first][0], blocks[last][1], start, end)
    first = _with_lead_in(text, blocks, first, last)
    while last + 1 < len(blocks) and _goes_on(text, blocks, first, last):
        last += 1
    return blocks[first][0], blocks[last][1]


def _blocks(text: str) -> list[Span]:
    """What blank lines part, without the white space around it."""
    found: list[Span] = []
    at = 0
    for gap in (*_BLANK.finditer(text), None):
        behind = gap.start() if gap else len(text)
        piece = text[at:behind]
        if piece.strip():
            found.append((at + len(piece) - len(piece.lstrip("\n")), at + len(piece.rstrip())))
        at = text.rfind("\n", 0, gap.end()) + 1 if gap else behind  # with the indent of code behind the gap
    return found or [(0, len(text))]


def _with_lead_in(text: str, blocks: list[Span], first: int, last: int) -> int:
    """The first block of a passage, with the items, lead-in and name that stand above it."""
    while first and blocks[last][1] - blocks[first - 1][0] <= MOST:
        above, block = text[slice(*blocks[first - 1])], text[slice(*blocks[first])]
        item, code = _ITEM.match(block), block[0] in " \t"
        leads = above.rstrip().endswith(":") or (item and _ITEM.match(above)) or code or _is_name(above)
        if not leads or (_is_name(above) and _is_name(block) and not item):
            break
        first -= 1
        if _is_name(above) and not above.rstrip().endswith(":"):
            break
    return first


def _goes_on(text: str, blocks: list[Span], first: int, last: int) -> bool:
    """Whether the next block belongs to a passage: what it leads in to, further items, the neighbour of a short one."""
    begin, behind = blocks[first][0], blocks[last + 1][1]
    block, following = text[slice(*blocks[last])], text[slice(*blocks[last + 1])]
    if behind - begin > MOST:
        return False
    items = _ITEM.match(block) and _ITEM.match(following)
    if items or block.rstrip().endswith(":") or _is_name(block) or following[0] in " \t":
        return True
    return blocks[last][1] - begin < ENOUGH and not _is_name(following) and not _ITEM.match(following)


def _is_name(block: str) -> bool:
    """Whether a block is a heading, an option or a term."""
    lines = block.splitlines()
    short = len(lines) <= 3 and all(len(line) <= NAME for line in lines)
    return short and block.rstrip()[-1:] not in ".!?:;,|" and not _ITEM.match(block)


def _sentences_around(text: str, low: int, high: int, start: int, end: int) -> Span:
    """Whole sentences of a long block around a place, or words where a sentence is too long itself."""
    spans = [(low + one, low + other) for one, other in sentence_spans(text[low:high])] or [(low, high)]
    first = last = next((at for at, (_, behind) in enumerate(spans) if start < behind), len(spans) - 1)
    while last + 1 < len(spans) and end > spans[last][1]:
        last += 1
    while True:
        before = spans[last][1] - spans[first - 1][0] if first else MOST + 1
        behind = spans[last + 1][1] - spans[first][0] if last + 1 < len(spans) else MOST + 1
        if spans[last][1] - spans[first][0] >= ENOUGH or min(before, behind) > MOST:
            break
        first, last = (first, last + 1) if behind <= MOST else (first - 1, last)
    low, high = spans[first][0], spans[last][1]
    if high - low <= 2 * MOST:
        return low, high
    begin, stop = max(low, start - MOST // 2), min(high, end + MOST // 2)
    while begin > low and not text[begin - 1].isspace():
        begin -= 1
    while stop < high and not text[stop].isspace():
        stop += 1
    return begin, stop
