"""Raised figures of a PDF: PDFium's text joins a note or an exponent to the number before it, `352 trams` for 35²."""

from __future__ import annotations

import re
from collections.abc import Iterator

from thresher.documents.formats.pdf.glyphs import Glyphs

SMALLER = 0.85  # of the size before; TeX and Word raise at 0.58 to 0.73
_MAY_BE_RAISED = re.compile(r"(?:\r?\n)?([-−]?\d{1,3})(?!\d)")  # PDFium ends a line before some raised figures


def raised_figures(glyphs: Glyphs) -> Iterator[tuple[int, int, bool]]:
    """First and last character of each figure that is smaller than the digit before it, close behind it, and not lower.

    With it whether the line goes on behind it. Behind words they stay as they are: authors of a paper are told apart by
    theirs.
    """
    characters = glyphs.characters
    for digit in re.finditer(r"\d(?=(?:\r?\n)?[-−]?\d)", characters):
        before = digit.start()
        figure = _MAY_BE_RAISED.match(characters, digit.end())
        if figure is None or glyphs.size(first := figure.start(1)) >= SMALLER * (size := glyphs.size(before)):
            continue
        (left, base), (right, height) = glyphs.origin(before), glyphs.origin(first)
        if not 0 <= height - base < size or (first > digit.end() and not 0 < right - left < size):
            continue
        behind = re.compile(r"\s*(\S)").match(characters, figure.end())
        at = behind.start(1) if behind else first
        yield first, figure.end() - 1, glyphs.size(at) == size and glyphs.origin(at)[1] == base
