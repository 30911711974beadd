"""The texts of the pages of a PDF, corrected by the places of their characters: raised figures, ruled tables."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from contextlib import closing
from itertools import pairwise

from thresher.documents.assembly import grid_rows, pipe_row
from thresher.documents.cleaning import BREAK, FIRST_ROW, RAISED, ROW, with_marks
from thresher.documents.formats.pdf_glyphs import Glyphs, glyphs_of
from thresher.documents.formats.pdf_raised import raised_figures
from thresher.documents.formats.pdf_tables import Ruled, ends_page, further_rows, tables_of

HYPHEN = "\ufffe"
"""What PDFium has for the hyphen at a line end."""


def with_places(data: bytes, pages: Sequence[str]) -> tuple[list[str], bool]:
    """The texts of the pages, and whether something may be filled in or written over one.

    Rows of ruled tables are on lines of their own that begin with `FIRST_ROW` or `ROW`.
    """
    read: list[str] = []
    written = False
    before: Ruled | None = None
    with closing(glyphs_of(data)) as all_glyphs:
        for text, glyphs in zip(pages, all_glyphs, strict=False):
            corrected, before = _corrected(text, glyphs, before)
            read.append(corrected)
            written |= glyphs.has_written
    return [*read, *pages[len(read) :]], written or len(read) < len(pages)


def _corrected(text: str, glyphs: Glyphs, before: Ruled | None) -> tuple[str, Ruled | None]:
    """The text of a page, and the table that ends it; as it is where PDFium reads other characters."""
    figures = list(raised_figures(glyphs))
    raised = {first for first, _, _ in figures}
    tables = tables_of(glyphs, before, lambda some: _read(glyphs.characters, some, raised))
    places = glyphs.positions(text) if figures or tables else None
    if places is None:
        return text, None
    pieces = list(text)
    for first, last, goes_on in figures:
        pieces[places[first]] = RAISED + pieces[places[first]]
        if goes_on and (end := re.compile(r"[ \t]*\r?\n[ \t]*").match(text, places[last] + 1)):
            # PDFium ends a line at some raised figures.
            pieces[end.start() : end.end()] = [" ", *[""] * (end.end() - end.start() - 1)]
    for table in tables:
        at = sorted(places[one] for one in table.glyphs if one in places)
        for here, following in pairwise(at):
            inside = range(here, following if not text[here + 1 : following].strip(f"\r\n\t {BREAK}") else here + 1)
            pieces[inside.start : inside.stop] = [""] * len(inside)
        pieces[at[-1]] = ""
        pieces[at[0]] = _lines(table)
    corrected = "".join(pieces)
    ending = next((table for table in tables[-1:] if ends_page(table, glyphs.boxes)), None)
    return with_marks(corrected) if figures else corrected, ending


def _lines(table: Ruled) -> str:
    """The rows of a table, one a line, and its titles before them."""
    if table.goes_on:
        return "".join(f"\n{ROW}{pipe_row(row)}" for row in further_rows(table)) + "\n"
    titles, rows = grid_rows(table.rows)
    lines = [*titles, *((ROW if number else FIRST_ROW) + pipe_row(row) for number, row in enumerate(rows))]
    return "".join(f"\n{line}" for line in lines) + "\n"


def _read(characters: str, some: Iterable[int], raised: set[int]) -> str:
    """The text of some characters in their order; space between them is one space."""
    read: list[str] = []
    before = -1
    for at in some:
        if read and at != before + 1 and read[-1] != BREAK:
            read.append(" ")
        one = characters[at]
        read.append(BREAK if one == HYPHEN else RAISED + one if at in raised else one)
        before = at
    units = "".join(read)
    return with_marks(units.encode("utf-16", "surrogatepass").decode("utf-16", "replace"))
