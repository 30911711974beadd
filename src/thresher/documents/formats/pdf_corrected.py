"""The texts of the pages of a PDF, corrected by where characters are: raised and struck ones, tables, other orders."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from itertools import groupby, pairwise

from thresher.documents.assembly import grid_rows, pipe_row
from thresher.documents.cleaning import BREAK, FIRST_ROW, RAISED, ROW, STRUCK, with_marks
from thresher.documents.formats.pdf_glyphs import Glyphs, glyphs_of
from thresher.documents.formats.pdf_headings import marked_lines
from thresher.documents.formats.pdf_order import (
    FROM_RIGHT,
    Boxes,
    from_right,
    line_from_right,
    stands_below,
    text_lines,
)
from thresher.documents.formats.pdf_raised import raised_figures
from thresher.documents.formats.pdf_tables import Ruled, ends_page, further_rows, tables_of

WIDE_BREAK = re.compile(
    r"(?<=[\u3001-\u9fff\uf900-\ufaff\uff01-\uff60])(\s*\r?\n\s*)(?=[\u3001-\u9fff\uf900-\ufaff\uff01-\uff60])"
)
"""A line end between two characters of scripts that may run from top to bottom."""
TITLE_WITHIN = 15  # lines from the top of the first page, which are looked at one by one
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
            corrected, before = _corrected(text, glyphs, before, first=not read)
            read.append(corrected)
            written |= glyphs.has_written
    return [*read, *pages[len(read) :]], written or len(read) < len(pages)


def _corrected(text: str, glyphs: Glyphs, before: Ruled | None, *, first: bool) -> tuple[str, Ruled | None]:
    """The text of a page, and the table that ends it; as it is where PDFium reads other characters."""
    figures = list(raised_figures(glyphs))
    struck = glyphs.struck.values()
    marks = dict.fromkeys((begin for begin, _, _ in figures), (RAISED, ""))
    marks |= {begin: (STRUCK, "") for begin, _ in struck} | {last: ("", STRUCK) for _, last in struck}
    tables = tables_of(glyphs, before, lambda some: _read(glyphs, some, marks))
    places = glyphs.positions(text)
    if places is None:
        return text, None
    pieces = list(text)
    at = {place: one for one, place in places.items()}
    inside = {places[one] for table in tables for one in table.glyphs if one in places}
    for start, mark in marked_lines(text, glyphs, at):
        if start not in inside:
            if mark != " ":
                pieces[start] = mark + pieces[start]
            elif (
                not first or text.count("\n", 0, start) > TITLE_WITHIN
            ):  # the lines of a title are looked at one by one
                end = len(text[:start].rstrip())
                pieces[end:start] = [" ", *[""] * (start - end - 1)]
    if FROM_RIGHT.search(text) or WIDE_BREAK.search(text):
        _reorder(pieces, text, at, glyphs)
    for begin, last, goes_on in figures:
        pieces[places[begin]] = RAISED + pieces[places[begin]]
        end = len(text[: places[begin]].rstrip("\r\n"))
        pieces[end : places[begin]] = [""] * (places[begin] - end)
        if goes_on and (gap := re.compile(r"[ \t]*\r?\n[ \t]*").match(text, places[last] + 1)):
            # PDFium ends a line at some raised figures.
            pieces[gap.start() : gap.end()] = [" ", *[""] * (gap.end() - gap.start() - 1)]
    for begin, last in struck:
        pieces[places[begin]] = STRUCK + pieces[places[begin]]
        pieces[places[last]] += STRUCK
    for table in tables:
        held = sorted(places[one] for one in table.glyphs if one in places)
        for here, following in pairwise(held):
            behind = following if not text[here + 1 : following].strip(f"\r\n\t {BREAK}") else here + 1
            pieces[here:behind] = [""] * (behind - here)
        pieces[held[-1]] = ""
        pieces[held[0]] = _lines(table)
    corrected = "".join(pieces)
    ending = next((table for table in tables[-1:] if ends_page(table, glyphs.boxes)), None)
    return with_marks(corrected) if figures or struck else corrected, ending


def _reorder(pieces: list[str], text: str, at: Mapping[int, int], glyphs: Glyphs) -> None:
    """Lines from right to left in the order in which they are read, and those from top to bottom on one line."""
    mostly = from_right(text)
    for line in re.finditer(r"[^\r\n]+", text):
        if FROM_RIGHT.search(line[0]) and (mostly or from_right(line[0])):
            some = [at[place] for place in range(*line.span()) if place in at]
            pieces[line.start() : line.end()] = [
                line_from_right(some, glyphs.characters, glyphs.boxes),
                *[""] * (len(line[0]) - 1),
            ]
    for gap in WIDE_BREAK.finditer(text):
        above, below = at.get(gap.start(1) - 1), at.get(gap.end(1))
        if above is not None and below is not None and stands_below(above, below, glyphs.boxes):
            pieces[gap.start(1) : gap.end(1)] = [""] * len(gap[1])
    for columns in _upright_lines(at, glyphs.boxes):
        texts = ["".join(pieces[begin:end]) for _, begin, end in sorted(columns, reverse=True)]
        for (_, begin, end), one in zip(columns, texts, strict=True):
            pieces[begin:end] = [one, *[""] * (end - begin - 1)]


def _upright_lines(at: Mapping[int, int], boxes: Boxes) -> Iterator[list[tuple[float, int, int]]]:
    """Lines from top to bottom that follow each other: how far to the right each stands, and its place in the text."""
    lines: list[list[int]] = []
    for place in sorted(place for place, one in at.items() if one in boxes):
        if lines and stands_below(at[lines[-1][-1]], at[place], boxes):
            lines[-1].append(place)
        else:
            lines.append([place])
    for upright, run in groupby(lines, lambda line: len(line) > 1):
        if upright:
            yield [(boxes[at[line[0]]][0], line[0], line[-1] + 1) for line in run]


def _lines(table: Ruled) -> str:
    """The rows of a table, one a line, and its titles before them; columns from right to left are turned round."""
    if from_right("".join(cell.text for row in table.rows for cell in row)):
        table.rows = [row[::-1] for row in table.rows]
    if table.goes_on:
        return "".join(f"\n{ROW}{pipe_row(row)}" for row in further_rows(table)) + "\n"
    titles, rows = grid_rows(table.rows)
    lines = [*titles, *((ROW if number else FIRST_ROW) + pipe_row(row) for number, row in enumerate(rows))]
    return "".join(f"\n{line}" for line in lines) + "\n"


def _read(glyphs: Glyphs, some: Sequence[int], marks: Mapping[int, tuple[str, str]]) -> str:
    """The text of some characters in their order, those with marks between them; space between them is one space."""
    characters = glyphs.characters
    if from_right("".join(characters[at] for at in some)):
        return " ".join(line_from_right(line, characters, glyphs.boxes) for line in text_lines(some, glyphs.boxes))
    read: list[str] = []
    before = -1
    for at in some:
        if read and at != before + 1 and read[-1] != BREAK:
            read.append(" ")
        one = characters[at]
        ahead, behind = marks.get(at, ("", ""))
        read.append(BREAK if one == HYPHEN else ahead + one + behind)
        before = at
    units = "".join(read)
    return with_marks(units.encode("utf-16", "surrogatepass").decode("utf-16", "replace"))
