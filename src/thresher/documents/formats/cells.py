"""Tables as formats write them - cells that span rows and columns, headers of several rows - to rows of plain cells."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise

from thresher.documents.assembly import Assembly
from thresher.documents.cleaning import clean_inline
from thresher.errors import DocumentError

MOST_CELLS = 2_000_000  # of a table, those that stand for spans included
MOST_HEADS = 4  # rows of a header; a table of nothing but header cells is none


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell as it is written, with the columns and rows it spans."""

    text: str = ""
    columns: int = 1
    rows: int = 1
    head: bool = False  # whether the format says that it is one of a header


@dataclass(frozen=True, slots=True)
class Laid:
    """A table laid out: what stands over its header, and its rows with their positions in the file, from 0."""

    titles: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    at: tuple[int, ...]


def laid_out(full: Sequence[Sequence[Cell]]) -> Laid:
    """Rows with a cell in each column that it spans: those above the header that are one cell over the whole width are
    titles, header rows are joined from the top, and a cell over the whole width stands once.
    """
    width = max(map(len, full), default=0)
    first = 0
    while first < len(full) - 1 and _across(full[first], width) and full[first][0].rows == 1:
        first += 1
    depth = _header_rows(full[first:])
    titles = tuple(full[at][0].text for at in range(first) if full[at] and full[at][0].text)
    head = _joined(full[first : first + depth])
    texts = [tuple(cell.text for cell in (row[:1] if _across(row, width) else row)) for row in full[first + depth :]]
    positions = (first, *range(first + depth, len(full)))
    return Laid(titles, (head, *texts), positions) if depth else Laid(titles, (), ())


def spread(rows: Sequence[Sequence[Cell]]) -> list[list[Cell]]:
    """The rows with a cell for each column, the same one where it spans several."""
    laid: list[list[Cell]] = []
    below: dict[int, tuple[Cell, int]] = {}  # by column: what reaches down, and into how many rows more
    total = 0
    for row in rows:
        line: list[Cell] = []
        waiting = iter(row)
        cell = next(waiting, None)
        while cell is not None or any(column >= len(line) for column in below):
            if len(line) in below:
                held, left = below.pop(len(line))
                if left > 1:
                    below[len(line)] = (held, left - 1)
                line.append(held)
            elif cell is None:
                line.append(Cell())
            else:
                for _ in range(max(1, cell.columns)):
                    if cell.rows > 1:
                        below[len(line)] = (cell, cell.rows - 1)
                    line.append(cell)
                    if total + len(line) > MOST_CELLS:
                        raise DocumentError(
                            f"a table has more than {MOST_CELLS:,} cells", next_step="split it, or leave it out"
                        )
                cell = next(waiting, None)
        total += len(line)
        laid.append(line)
    return laid


def _across(row: Sequence[Cell], width: int) -> bool:
    """Whether a row is one cell over the whole width of a table of several columns."""
    return width > 1 and len(row) == width and all(cell is row[0] for cell in row)


def _header_rows(rows: Sequence[Sequence[Cell]]) -> int:
    """How many rows name the columns: those that the format says, else one, and those below a name over several."""
    if not rows:
        return 0
    stated = 0
    while stated < len(rows) and rows[stated] and all(cell.head or not cell.text for cell in rows[stated]):
        stated += 1
    if 1 < stated < len(rows) and stated <= MOST_HEADS:
        return stated
    depth = 1
    while depth < min(len(rows) - 1, MOST_HEADS) and _groups(rows[depth - 1]) and _names(rows[depth]):
        depth += 1
    return depth


def _groups(row: Sequence[Cell]) -> bool:
    """Whether a name of a row stands over several columns."""
    return any(one is other and one.text for one, other in pairwise(row))


def _names(row: Sequence[Cell]) -> bool:
    """Whether no cell of a row is a number other than a year."""
    numbers = [cell.text for cell in row if re.fullmatch(r"[\W\d]*\d[\W\d]*", cell.text)]
    return all(re.fullmatch(r"(?:19|20)\d\d", text.strip()) for text in numbers)


def _joined(rows: Sequence[Sequence[Cell]]) -> tuple[str, ...]:
    """The names of the columns: what stands above each, from the top, each once."""
    names = []
    for column in range(max(map(len, rows), default=0)):
        above = [clean_inline(row[column].text) for row in rows if column < len(row)]
        names.append(" / ".join(dict.fromkeys(text for text in above if text)))
    return tuple(names)


def add_table(assembly: Assembly, rows: Sequence[Sequence[Cell]], *, number: int = 0) -> None:
    """Add a table, its titles before it; one of a single column is layout, and its cells are paragraphs."""
    kept = [[replace(cell, text=clean_inline(cell.text)) for cell in row] for row in rows]
    if max((sum(cell.columns for cell in row) for row in kept), default=0) < 2:
        assembly.paragraph(*(cell.text for row in kept for cell in row))
        return
    laid = laid_out(spread(kept))
    assembly.paragraph(*laid.titles)
    assembly.table(laid.rows, number=number, at=laid.at)


def add_tabbed(assembly: Assembly, lines: Sequence[str]) -> None:
    """Lines that follow each other, some with tabs: as tables where tabs part columns, else as paragraphs."""

    def columns_of(line: str) -> int:
        return 0 if "\n" in line else line.strip("\t").count("\t") + 1

    for columns, group in groupby((line.strip("\n ") for line in lines), columns_of):
        run = list(group)
        if columns > 1 and is_tabbed_table(run):
            assembly.table([line.split("\t") for line in run])
        else:
            assembly.paragraph(*run)


def is_tabbed_table(lines: Sequence[str]) -> bool:
    """Whether lines of as many cells each are a table: two lines or more, and, of two columns, numbers below a name.

    Two columns are as often "label: value", where the first line names nothing.
    """
    cells = [[cell.strip() for cell in line.strip("\t").split("\t")] for line in lines]
    if len(cells) < 2 or any(cell.endswith(":") for row in cells for cell in row[:-1]):
        return False
    if len(cells[0]) > 2:
        return all(cells[0]) or sum(map(bool, cells[0])) >= 2
    return not re.search(r"\d", cells[0][1]) and all(re.search(r"\d", row[1]) for row in cells[1:])
