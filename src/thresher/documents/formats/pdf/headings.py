"""Lines of a PDF that are set as headings: larger or bolder than the text below them; and those that only read so."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from thresher.documents.cleaning import HEAD, PLAIN
from thresher.documents.formats.pdf.glyphs import Glyphs, has_shape
from thresher.documents.formats.pdf.lines import BULLET, CAPTION, LOWER_WORD, NUMBERED_HEADING, is_row

LARGER = 1.08  # times the size of the text
ALIKE = 0.02  # of a size
MOST_WORDS, MOST_LINES = 20, 3
TEXT_WORDS, SENTENCE_WORDS = 4, 2  # in lower case, of a line of text below a heading, and of one that is a sentence
FURTHEST = 4.0  # sizes from a heading to the text below it
PITCH = 1.4  # sizes between two lines of one paragraph or heading
BOLD = re.compile(r"bold|black|heavy|demi|medi\b|bx(?=\d|$)", re.IGNORECASE)
"""In the name of a font, as foundries write it."""


@dataclass(frozen=True, slots=True)
class Style:
    """How large a character is set, and in what font."""

    size: float
    font: str


@dataclass(frozen=True, slots=True)
class Set:
    """A line of the text of a page: where it begins there, its place, and how its first character is set."""

    text: str
    start: int
    characters: Sequence[int]
    left: float
    base: float
    style: Style


def lines_of(glyphs: Glyphs) -> tuple[list[Set], Style]:
    """The lines of a page, and the style that most of its text is set in."""
    lines: list[Set] = []
    for found in re.finditer(r"[^\r\n]+", glyphs.characters):
        if some := [at for at in range(*found.span()) if has_shape(glyphs.characters[at])]:
            style = Style(glyphs.size(some[0]), glyphs.font(some[0]))
            lines.append(Set(found[0].strip(), found.start(), some, *glyphs.origin(some[0]), style))
    styles = Counter[Style]()
    for each in lines:
        styles[each.style] += len(each.text)
    return lines, styles.most_common(1)[0][0] if lines else Style(0, "")


def largest(lines: Sequence[Set], usual: Style, glyphs: Glyphs) -> list[str]:
    """Lines that are set larger than the text, the largest first; those set alike that follow each other are one."""
    across = [line for line in lines if _runs_across(line, glyphs)]
    runs = groupby(across, lambda line: round(max(line.style.size, _last(line, glyphs).size), 1))
    found = [(size, "\n".join(line.text for line in run)) for size, run in runs if size >= LARGER * usual.size]
    return [text for _, text in sorted(found, key=lambda one: -one[0])]


def _runs_across(line: Set, glyphs: Glyphs) -> bool:
    """Whether it runs from left to right, as no stamp in a margin does."""
    right, base = glyphs.origin(line.characters[-1])
    return abs(right - line.left) >= abs(base - line.base)


def marked_lines(lines: Sequence[Set], usual: Style, glyphs: Glyphs) -> Iterator[tuple[int, str]]:
    """Where each heading of a page begins, with `HEAD`, and with a space where a line goes on with one.

    With `PLAIN` each line that reads like a heading and is a line of text.
    """
    at = 0
    while at < len(lines):
        last = at
        while last + 1 < len(lines) and _follows(lines[last], lines[last + 1], glyphs):
            last += 1
        run = lines[at : last + 1]
        if _is_stronger(run[0].style, usual) and _is_heading(run, lines[last + 1 : last + 2], usual, glyphs):
            yield run[0].start, HEAD
            yield from ((line.start, " ") for line in run[1:])
        else:
            for above, line in zip(lines[max(at - 1, 0) :], lines[max(at, 1) : last + 1], strict=False):
                if NUMBERED_HEADING.fullmatch(line.text) and _goes_on(above, line, usual):
                    yield line.start, PLAIN
        at = last + 1


def _follows(above: Set, line: Set, glyphs: Glyphs) -> bool:
    """Whether a line is set as the one above, as close to it as in one paragraph."""
    near = 0 < above.base - line.base <= PITCH * line.style.size
    return near and above.style == line.style == _last(above, glyphs)


def _last(line: Set, glyphs: Glyphs) -> Style:
    return Style(glyphs.size(line.characters[-1]), glyphs.font(line.characters[-1]))


def _is_stronger(style: Style, usual: Style) -> bool:
    bold = BOLD.search(style.font) is not None and BOLD.search(usual.font) is None
    return style.size >= LARGER * usual.size or (bold and style.size >= (1 - ALIKE) * usual.size)


def _is_heading(run: Sequence[Set], below: Sequence[Set], usual: Style, glyphs: Glyphs) -> bool:
    """Whether lines set alike and stronger than the text are a heading above text, and not the beginning of it."""
    text = " ".join(line.text for line in run)
    words = text.split()
    named = re.search(r"[^\W\d_]{3}", text) is not None and not text[:1].islower()
    sentence = text.endswith((",", ";", ".", ":")) or re.search(r"[^\W\d_]{2}[.!?] [A-Z]", text) is not None
    if len(run) > MOST_LINES or len(words) > MOST_WORDS or not named or sentence or not below:
        return False
    if (
        CAPTION.match(text)
        or BULLET.match(text)
        or is_row(words)
        or any(_last(line, glyphs) != line.style for line in run)
    ):
        return False
    distance = run[-1].base - below[0].base
    same_size = abs(below[0].style.size - usual.size) <= ALIKE * usual.size
    least = SENTENCE_WORDS if below[0].text.endswith(".") else TEXT_WORDS
    above_text = same_size and below[0].style != run[0].style and len(LOWER_WORD.findall(below[0].text)) >= least
    above_heading = _is_stronger(below[0].style, usual) and below[0].style != run[0].style
    return 0 < distance < FURTHEST * run[0].style.size and (above_text or above_heading)


def _goes_on(above: Set, line: Set, usual: Style) -> bool:
    """Whether a line is set as the text and follows a line of it like the next line of a paragraph."""
    same = line.style == usual == above.style
    return same and 0 < above.base - line.base <= PITCH * usual.size and abs(above.left - line.left) <= usual.size
