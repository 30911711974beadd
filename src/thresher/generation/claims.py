"""A written answer taken apart into its sentences and the markers that stand behind them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from thresher.generation.support import Spans

_ONE = r"(?:(?:evidence|source|piece)\s*)?\d{1,3}"
_MARKER = re.compile(rf"[ \t]*[\[【]\s*({_ONE}(?:\s*(?:,|;|-|–|and|&)\s*{_ONE})*)\s*[\]】]", re.IGNORECASE)
_RANGE = re.compile(r"(\d{1,3})(?:\s*[-–]\s*(\d{1,3}))?")


@dataclass(frozen=True, slots=True)
class Claim:
    """One sentence of a reply without its markers, and the numbers that stood in or right behind it."""

    text: str
    gap: str
    """What stands between the sentence before and this one: a space, or a line break of a list."""
    numbers: list[int]


def claims_of(text: str, spans: Spans) -> list[Claim]:
    """The sentences of a reply; a marker that stands behind the full stop belongs to the sentence before it."""
    found: list[Claim] = []
    for line in text.splitlines():
        gap = "\n"
        for start, end in spans(line):
            piece = line[start:end]
            while gap == " " and (leading := _MARKER.match(piece)):
                found[-1].numbers.extend(numbers_of(leading.group(1)))
                piece = piece[leading.end() :]
            numbers = [number for group in _MARKER.findall(piece) for number in numbers_of(group)]
            bare = _MARKER.sub("", piece).strip()
            if any(character.isalnum() for character in bare):
                found.append(Claim(bare, gap, numbers))
                gap = " "
            elif found:
                found[-1].numbers.extend(numbers)
    return found


def joined(sentences: Sequence[tuple[Claim, Sequence[int]]]) -> str:
    """Sentences put together again, each with its markers behind it: the inverse of `claims_of`."""
    text = ""
    for claim, markers in sentences:
        text += (claim.gap if text else "") + claim.text + "".join(f" [{marker}]" for marker in markers)
    return text


def numbers_of(marker: str) -> list[int]:
    """What stands between the brackets of a marker: `2`, `1, 3`, `1-3`, `evidence 2`."""
    numbers: list[int] = []
    for first, last in _RANGE.findall(marker):
        numbers.extend(range(int(first), int(last) + 1) if last else [int(first)])
    return numbers
