"""Raised figures of a PDF: PDFium's text joins a note or an exponent to the number before it, `352 trams` for 35².

pypdf has the size and place of each run of text. A page is read again only where a few figures follow a change of font.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from pypdf import PdfReader
from pypdf.errors import PyPdfError

from thresher.documents.cleaning import RAISED, with_marks

SMALLER = 0.85  # of the size before; TeX and Word raise at 0.58 to 0.73
TAIL = 16  # characters before a raised figure by which it is found in the text
_MAY_BE_RAISED = re.compile(
    rb"(?:\d\s*\)|[0-9A-Fa-f]>)[^()]{0,200}?Tf[^()<>]{0,120}(?:\(\s*-?\d{1,3}\s*\)|<[0-9A-Fa-f]{2,12}>)"
)


@dataclass(frozen=True, slots=True)
class Run:
    """Text of one font and size, and its base line."""

    text: str
    size: float
    base: float


def with_raised(data: bytes, pages: Sequence[str]) -> list[str]:
    """The texts of the pages with raised figures as `10^6` and `35 [2]`; as they are where pypdf cannot read the file.

    >>> with_raised(b"no PDF", ["352 trams"])
    ['352 trams']
    """
    try:
        reader = PdfReader(io.BytesIO(data))
        if reader.is_encrypted:
            return list(pages)
        read = [_corrected(text, page) for text, page in zip(pages, reader.pages, strict=False)]
        return [*read, *pages[len(read) :]]
    except (PyPdfError, ValueError, TypeError, KeyError, AttributeError, IndexError, RecursionError, OSError):
        return list(pages)


def _corrected(text: str, page: Any) -> str:
    contents = page.get_contents()
    if contents is None or not _MAY_BE_RAISED.search(contents.get_data()):
        return text
    at = 0
    for before, figure, goes_on in raised_figures(_runs(page)):
        begin = r"(?<!\w)" if len(before) <= TAIL else ""  # `2` of a line is not the end of 202
        tail = begin + r"\s*".join(map(re.escape, before[-TAIL:].split()))
        if found := re.compile(rf"{tail}(?={figure}(?!\d))").search(text, at):
            at = found.end() + len(RAISED)
            rest = text[found.end() + len(figure) :]
            if goes_on:  # PDFium ends a line at some raised figures
                rest = re.sub(r"\A[ \t]*\r?\n[ \t]*", " ", rest)
            text = f"{text[: found.end()]}{RAISED}{figure}{rest}"
    return with_marks(text) if at else text


def _runs(page: Any) -> list[Run]:
    runs: list[Run] = []

    def visit(text: str, matrix: Sequence[float], line: Sequence[float], _font: Any, size: float) -> None:
        if text.strip():
            runs.append(Run(text.strip("\n"), abs(size * line[3] * matrix[3]), line[5] * matrix[3] + matrix[5]))

    page.extract_text(visitor_text=visit)
    return runs


def raised_figures(runs: Sequence[Run]) -> Iterator[tuple[str, str, bool]]:
    """The line up to each raised figure, the figure, and whether its line goes on: smaller, beside it, and not lower.

    Behind words they stay as they are: authors of a paper are told apart by theirs.
    """
    line, base = "", None
    for before, run, behind in zip(runs, runs[1:], [*runs[2:], None], strict=False):
        line = f"{line} {before.text}" if before.base == base else before.text
        base = before.base
        figure = re.match(r"[-−]?\d{1,3}(?!\d)", run.text)
        beside = 0 <= run.base - before.base < before.size and run.size < SMALLER * before.size
        if figure is not None and beside and before.text[-1].isdigit():
            goes_on = behind is not None and behind.base == before.base and behind.size == before.size
            yield line, figure[0], goes_on
