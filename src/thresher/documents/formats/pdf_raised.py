"""Raised figures of a PDF: PDFium's text joins a note or an exponent to the number before it, `352 trams` for 35²."""

from __future__ import annotations

import re
from collections.abc import Iterator

from thresher.documents.formats.pdf_glyphs import Glyphs

SMALLER = 0.85  # of the size before; TeX and Word raise at 0.58 to 0.73
_MAY_BE_RAISED = re.compile(r"(?<=\d)[-−]?\d{1,3}(?!\d)")


def raised_figures(glyphs: Glyphs) -> Iterator[tuple[int, int, bool]]:
    """First and last character of each figure that is smaller than the digit before it, beside it, and not lower.

    With it whether the line goes on behind it. Behind words they stay as they are: authors of a paper are told apart by
    theirs.
    """
    characters = glyphs.characters
    for digit in re.finditer(r"\d(?=[-−]?\d)", characters):
        before, first = digit.start(), digit.end()
        figure = _MAY_BE_RAISED.match(characters, first)
        if figure is None or glyphs.size(first) >= SMALLER * (size := glyphs.size(before)):
            continue
        base = glyphs.origin(before)[1]
        if not 0 <= glyphs.origin(first)[1] - base < size:
            continue
        behind = re.compile(r"\s*(\S)").match(characters, figure.end())
        at = behind.start(1) if behind else first
        yield first, figure.end() - 1, glyphs.size(at) == size and glyphs.origin(at)[1] == base
