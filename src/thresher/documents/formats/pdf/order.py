"""The order in which the characters of a line of a PDF are read, by their places: from the right, or from the top.

PDFium's text has the words of a line from right to left in the order from the left, and upright text a character a
line.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from statistics import median

from thresher.documents.formats.pdf.struck import Box

FROM_RIGHT = re.compile("[\u0590-\u08ff\ufb1d-\ufdcf\ufdf0-\ufdff\ufe70-\ufefc]")
ARABIC = re.compile("[\u0600-\u07bf\u0860-\u08ff\ufb50-\ufdcf\ufdf0-\ufdff\ufe70-\ufefc]")
FORMS = re.compile("[\ufb1d-\ufdcf\ufdf0-\ufdff\ufe70-\ufefc]")
"""Shapes of letters that stand for the letters themselves."""

Boxes = dict[int, Box]
Line = list[int]
"""Characters on one line of text, from the left."""
_DIGITS = "0-9\u0660-\u0669\u06f0-\u06f9"
_LATIN = "A-Za-z\u00c0-\u024f\u0370-\u052f"
_FROM_LEFT = rf"[{_DIGITS}{_LATIN}](?:[^\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]*[{_DIGITS}{_LATIN}])?"
_NUMBER = rf"[$€£%°#]*[{_DIGITS}](?:[{_DIGITS}]|[.,:/{{}}](?=[{_DIGITS}]))*[$€£%°#]*"
_MIRRORED = str.maketrans("()[]{}<>«»", ")(][}{><»«")
SMALL = 0.8  # of the usual size; raised and lowered figures are smaller
SAME_LINE, BESIDE = 0.25, 0.6  # of the usual size between base lines
SPACE = 0.12  # of the size of the text; between words there is more
BELOW = 0.5  # of the size, beside the place of the character above, in text from top to bottom
NEXT = 2.0  # sizes to the character below


def text_lines(glyphs: Iterable[int], boxes: Boxes) -> list[Line]:
    """Lines of text from the top: characters on one base line, from the left, with those raised or lowered."""
    placed = sorted((-boxes[at][1], boxes[at][3] - boxes[at][1], at) for at in glyphs)
    if not placed:
        return []
    usual = median(size for _, size, _ in placed)
    found: list[Line] = []
    bases: list[float] = []
    for depth, size, at in placed:
        if size < SMALL * usual:
            continue
        if bases and depth - bases[-1] <= SAME_LINE * usual:
            found[-1].append(at)
        else:
            found.append([at])
            bases.append(depth)
    for depth, size, at in placed:
        if size < SMALL * usual:
            near = min(range(len(bases)), key=lambda line: abs(bases[line] - depth), default=None)
            if near is not None and abs(bases[near] - depth) <= BESIDE * usual:
                found[near].append(at)
            else:
                found.append([at])
                bases.append(depth)
    ordered = sorted(zip(bases, found, strict=True))
    return [sorted(line, key=lambda at: boxes[at][0]) for _, line in ordered]


def from_right(text: str) -> bool:
    """Whether most letters of a text are read from right to left."""
    letters = [one for one in text if one.isalpha()]
    return 2 * sum(FROM_RIGHT.match(one) is not None for one in letters) > len(letters)


def line_from_right(some: Iterable[int], characters: str, boxes: Boxes) -> str:
    """The characters of a line that is read from the right, numbers and words of other scripts in it from the left.

    A number and words beside each other are taken for words and a number, as `Herzl 14`: the two look alike.
    """
    marks: dict[int, list[int]] = {}
    placed = sorted((one for one in some if one in boxes), key=lambda at: (-boxes[at][0] - boxes[at][2], -at))
    bases = [at for at in placed if not unicodedata.combining(characters[at])]
    for at in set(placed) - set(bases):
        middle = boxes[at][0] + boxes[at][2]
        nearest = min(bases, key=lambda base: abs(boxes[base][0] + boxes[base][2] - middle), default=at)
        marks.setdefault(nearest, []).append(at)
    read: list[str] = []
    for before, at in zip([-1, *bases], bases, strict=False):
        if before >= 0 and _parted(before, at, characters, boxes):
            read.append(" ")
        read.append(characters[at] + "".join(characters[mark] for mark in sorted(marks.get(at, ()))))
    return in_order("".join(read))


def _parted(before: int, at: int, characters: str, boxes: Boxes) -> bool:
    """Whether two letters are of different words to PDFium; beside other signs, whether a gap is between the two."""
    if characters[before].isalpha() and characters[at].isalpha():
        return re.search(r"\s", characters[min(before, at) : max(before, at)]) is not None
    return boxes[before][0] - boxes[at][2] > SPACE * (boxes[at][3] - boxes[at][1])


def in_order(text: str) -> str:
    """A line as its characters stand from the right, in the order in which they are read.

    >>> in_order("א 51:21 ב 14 lzreH")
    'א 12:15 ב Herzl 41'
    """
    joints = "" if ARABIC.search(text) else "+-"  # by the rules of Unicode a sign joins no numbers in Arabic
    number = _NUMBER.replace("{}", re.escape(joints))
    brackets = re.sub(r"[^()]", "", text)
    if brackets.startswith(")"):
        text = text.translate(_MIRRORED)

    def turned(found: re.Match[str]) -> str:
        run = found[0]
        if re.search(rf"[{_LATIN}]", run):
            return run[::-1].translate(_MIRRORED) if brackets.startswith(")") else run[::-1]
        return re.sub(number, lambda one: one[0][::-1], run)

    ordered = re.sub(rf"[$€£%°#]*{_FROM_LEFT}[$€£%°#]*", turned, text)
    ordered = re.sub(r"(?<=[(\[]) | (?=[)\]])", "", ordered)
    return FORMS.sub(lambda found: unicodedata.normalize("NFKC", found[0]), ordered)


def stands_below(above: int, at: int, boxes: Boxes) -> bool:
    """Whether a character stands below another one, as in lines that are read from top to bottom."""
    size = boxes[above][3] - boxes[above][1]
    beside = abs(boxes[above][0] + boxes[above][2] - boxes[at][0] - boxes[at][2]) / 2
    return beside < BELOW * size and 0 < boxes[above][1] - boxes[at][1] < NEXT * size
