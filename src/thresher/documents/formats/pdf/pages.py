"""The texts of the pages of a PDF by where its characters are: raised and struck ones, tables, fields, other orders."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

from pypdfium2 import PdfDocument

from thresher.documents.assembly import grid_rows, pipe_row
from thresher.documents.cleaning import BREAK, FIRST_ROW, RAISED, ROW, STRUCK, with_marks
from thresher.documents.formats.pdf.fields import Written, labelled, written_on
from thresher.documents.formats.pdf.glyphs import Glyphs, glyphs_of, joined
from thresher.documents.formats.pdf.headings import largest, lines_of, marked_lines
from thresher.documents.formats.pdf.order import (
    FROM_RIGHT,
    Boxes,
    from_right,
    line_from_right,
    stands_below,
    text_lines,
)
from thresher.documents.formats.pdf.raised import raised_figures
from thresher.documents.formats.pdf.tables import Ruled, ends_page, further_rows, tables_of

WIDE_BREAK = re.compile(
    r"(?<=[\u3001-\u9fff\uf900-\ufaff\uff01-\uff60])(\s*\r?\n\s*)(?=[\u3001-\u9fff\uf900-\ufaff\uff01-\uff60])"
)
"""A line end between two characters of scripts that may run from top to bottom."""
TITLE_WITHIN = 15  # lines from the top of the first page, which are looked at one by one


@dataclass(frozen=True, slots=True)
class PageRead:
    """The text of a page, and what else stands on it."""

    text: str
    """Rows of ruled tables are on lines of their own that begin with `FIRST_ROW` or `ROW`."""
    filled: bool
    """Whether the text has a value of a form."""
    aside: Sequence[Written]
    """Values of a form without a label, and what was written over the page; not in the text."""
    marked: bool
    """Whether a reader of the file marked something on the page."""


def read_pages(document: PdfDocument) -> tuple[list[PageRead], list[str]]:
    """The pages in order, and what the first one is headed with, the largest first."""
    pages: list[PageRead] = []
    headings: list[str] = []
    before: Ruled | None = None
    for glyphs in glyphs_of(document):
        written, marked = written_on(glyphs.page)
        values, aside = labelled(written, glyphs)
        lines, usual = lines_of(glyphs)
        if not pages:
            headings = largest(lines, usual, glyphs)
        heads = marked_lines(lines, usual, glyphs)
        text, before = _corrected(glyphs, heads, values, before, first=not pages)
        pages.append(PageRead(text, bool(values), aside, marked))
    return pages, headings


def with_written(texts: Sequence[str], pages: Sequence[PageRead]) -> list[str]:
    """The texts of the pages with what stands aside at the end; without notes where a reader marked the file."""
    marked = any(page.marked for page in pages)
    filled = []
    for text, page in zip(texts, pages, strict=True):
        aside = [f"{one.name}: {one.text}" if one.name else one.text for one in page.aside if one.name or not marked]
        filled.append("\n".join([text, *aside]))
    return filled


def _corrected(
    glyphs: Glyphs, heads: Iterable[tuple[int, str]], values: Mapping[int, str], before: Ruled | None, *, first: bool
) -> tuple[str, Ruled | None]:
    """The text of a page, and the table that ends it; `values` stand behind characters."""
    text = glyphs.characters
    figures = list(raised_figures(glyphs))
    struck = glyphs.struck.values()
    ahead = dict.fromkeys((begin for begin, _, _ in figures), RAISED) | dict.fromkeys((at for at, _ in struck), STRUCK)
    behind = {**values, **{last: STRUCK + values.get(last, "") for _, last in struck}}
    tables = tables_of(glyphs, before, lambda some: _read(glyphs, some, ahead, behind))
    pieces = list(text)
    inside = {at for table in tables for at in table.glyphs}
    for start, mark in heads:
        if start not in inside:
            if mark != " ":
                pieces[start] = mark + pieces[start]
            elif not first or text.count("\n", 0, start) > TITLE_WITHIN:  # lines of a title are looked at one by one
                end = len(text[:start].rstrip())
                pieces[end:start] = [" ", *[""] * (start - end - 1)]
    if FROM_RIGHT.search(text) or WIDE_BREAK.search(text):
        _reorder(pieces, text, glyphs.boxes)
    for begin, last, goes_on in figures:
        end = len(text[:begin].rstrip("\r\n"))
        pieces[end:begin] = [""] * (begin - end)
        if goes_on and (gap := re.compile(r"[ \t]*\r?\n[ \t]*").match(text, last + 1)):
            # PDFium ends a line at some raised figures.
            pieces[gap.start() : gap.end()] = [" ", *[""] * (gap.end() - gap.start() - 1)]
    for at, mark in ahead.items():
        pieces[at] = mark + pieces[at]
    for at, mark in behind.items():
        pieces[at] += mark
    for table in tables:
        held = sorted(table.glyphs)
        for here, following in pairwise(held):
            end = following if not text[here + 1 : following].strip(f"\r\n\t {BREAK}") else here + 1
            pieces[here:end] = [""] * (end - here)
        pieces[held[-1]] = ""
        pieces[held[0]] = _lines(table)
    corrected = joined("".join(pieces))
    ending = next((table for table in tables[-1:] if ends_page(table, glyphs.boxes)), None)
    return with_marks(corrected) if figures or struck else corrected, ending


def _reorder(pieces: list[str], text: str, boxes: Boxes) -> None:
    """Lines from right to left in the order in which they are read, and those from top to bottom on one line."""
    mostly = from_right(text)
    for line in re.finditer(r"[^\r\n]+", text):
        if FROM_RIGHT.search(line[0]) and (mostly or from_right(line[0])):
            read = line_from_right(range(*line.span()), text, boxes)
            pieces[line.start() : line.end()] = [read, *[""] * (len(line[0]) - 1)]
    for gap in WIDE_BREAK.finditer(text):
        above, below = gap.start(1) - 1, gap.end(1)
        if above in boxes and below in boxes and stands_below(above, below, boxes):
            pieces[gap.start(1) : below] = [""] * len(gap[1])
    for columns in _upright_lines(boxes):
        texts = ["".join(pieces[begin:end]) for _, begin, end in sorted(columns, reverse=True)]
        for (_, begin, end), one in zip(columns, texts, strict=True):
            pieces[begin:end] = [one, *[""] * (end - begin - 1)]


def _upright_lines(boxes: Boxes) -> Iterator[list[tuple[float, int, int]]]:
    """Lines from top to bottom that follow each other: how far to the right each stands, and its place in the text."""
    lines: list[list[int]] = []
    for at in boxes:
        if lines and stands_below(lines[-1][-1], at, boxes):
            lines[-1].append(at)
        else:
            lines.append([at])
    for upright, run in groupby(lines, lambda line: len(line) > 1):
        if upright:
            yield [(boxes[line[0]][0], line[0], line[-1] + 1) for line in run]


def _lines(table: Ruled) -> str:
    """The rows of a table, one a line, and its titles before them; columns from right to left are turned round."""
    if from_right("".join(cell.text for row in table.rows for cell in row)):
        table.rows = [row[::-1] for row in table.rows]
    if table.goes_on:
        return "".join(f"\n{ROW}{pipe_row(row)}" for row in further_rows(table)) + "\n"
    titles, rows = grid_rows(table.rows)
    lines = [*titles, *((ROW if number else FIRST_ROW) + pipe_row(row) for number, row in enumerate(rows))]
    return "".join(f"\n{line}" for line in lines) + "\n"


def _read(glyphs: Glyphs, some: Sequence[int], ahead: Mapping[int, str], behind: Mapping[int, str]) -> str:
    """The text of some characters in their order with the marks of each; space between them is one space."""
    characters, numbers = glyphs.characters, glyphs.numbers
    if from_right("".join(characters[at] for at in some)):
        return " ".join(line_from_right(line, characters, glyphs.boxes) for line in text_lines(some, glyphs.boxes))
    read: list[str] = []
    before = -1
    for at in some:
        if read and numbers[at] != numbers[before] + 1 and read[-1] != BREAK:
            read.append(" ")
        read.append(ahead.get(at, "") + characters[at] + behind.get(at, ""))
        before = at
    return with_marks(joined("".join(read)))
