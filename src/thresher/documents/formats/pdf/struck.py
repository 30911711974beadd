"""Text of a PDF that is struck: a line is drawn through the middle of its characters, from the first to the last."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping

Box = tuple[float, float, float, float]
"""Left, bottom, right, top."""

LOWEST, HIGHEST = 0.12, 0.45  # of the height of a character above its base line: what is lower underlines
BESIDE = 0.2  # of the height, between the ends of the line and those of its characters


def struck_runs(
    lines: Iterable[Box], boxes: Mapping[int, Box], characters: str
) -> Iterator[tuple[Box, tuple[int, int]]]:
    """Each line across that is drawn through whole words, with the first and the last of their characters.

    A rule between the rows of a table, a bar of a fraction and a line below a word run through no characters.
    """
    across = [line for line in lines if line[1] == line[3] and line[0] < line[2]]
    if not across:
        return
    standing = sorted((box[1], at) for at, box in boxes.items())
    bases = [base for base, _ in standing]
    tallest = max((top - base for _, base, _, top in boxes.values()), default=0.0)
    for line in across:
        left, y, right, _ = line
        near = standing[bisect_left(bases, y - HIGHEST * tallest) : bisect_right(bases, y)]
        through = sorted(at for _, at in near if _goes_through(boxes[at], line))
        if any(characters[at].isalnum() for at in through) and _whole(characters, through[0], through[-1]):
            first, last = boxes[through[0]], boxes[through[-1]]
            slack = BESIDE * (first[3] - first[1])
            if abs(first[0] - left) <= slack and abs(right - last[2]) <= slack:
                yield line, (through[0], through[-1])


def _goes_through(box: Box, line: Box) -> bool:
    (begin, base, end, top), (left, y, right, _) = box, line
    height = top - base
    return base + LOWEST * height <= y <= base + HIGHEST * height and left <= (begin + end) / 2 <= right


def _whole(characters: str, first: int, last: int) -> bool:
    """Whether no word goes on before or behind."""
    before, behind = characters[max(0, first - 1) : first], characters[last + 1 : last + 2]
    goes_on = characters[last].isalnum() and behind.isalnum()
    return not goes_on and not (before.isalnum() and characters[first].isalnum())
