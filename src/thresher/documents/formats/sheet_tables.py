"""Where the tables of a sheet lie: each block of cells under names of its own, with the labels above it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from thresher.documents.assembly import Assembly
from thresher.documents.formats.cells import Cell, laid_out
from thresher.structure.locators import column_name

Corner = tuple[int, int]
Grid = dict[Corner, tuple[str, str | None]]
"""By row and column, from 1: what a cell shows, and its value where that has more digits."""
Range = tuple[int, int, int, int]  # first row and column, last row and column
FAR = 8  # empty columns in a row that no table has within


def add_tables(assembly: Assembly, cells: Grid, merged: Sequence[Range]) -> None:
    """Each table of a sheet in the order of its corner, its title before it."""
    spans = {(top, left): (bottom - top + 1, right - left + 1) for top, left, bottom, right in merged}
    covered = _covered(cells, merged)
    for top, left, bottom, right in tables_of(covered, merged):
        rows = [_row(cells, covered, spans, number, left, right, bottom) for number in range(top, bottom + 1)]
        _add(assembly, cells, rows, top, left)


def _covered(cells: Grid, merged: Sequence[Range]) -> Grid:
    """The cells with those that a merged one stands for."""
    full = dict(cells)
    for top, left, bottom, right in merged:
        if (top, left) in cells:
            for row in range(top, bottom + 1):
                for column in range(left, right + 1):
                    full[row, column] = cells[top, left]
    return full


def _row(
    cells: Grid, covered: Grid, spans: Mapping[Corner, tuple[int, int]], row: int, left: int, right: int, bottom: int
) -> list[Cell]:
    """The cells that begin in a row, with what they span."""
    found, column = [], left
    while column <= right:
        at = (row, column)
        if at in cells or at not in covered:
            rows, columns = spans.get(at, (1, 1)) if at in cells else (1, 1)
            text, _ = cells.get(at, ("", None))
            found.append(Cell(text, min(columns, right - column + 1), min(rows, bottom - row + 1)))
            column += columns
        else:
            column += 1
    return found


def _add(assembly: Assembly, cells: Grid, rows: Sequence[Sequence[Cell]], top: int, left: int) -> None:
    labels = 0
    width = max(sum(cell.columns for cell in row) for row in rows)
    while labels < len(rows) - 1 and width > 1 and _is_label(rows[labels]):
        labels += 1
    for at in range(labels):
        column = left
        for cell in rows[at]:
            if cell.text:
                assembly.mark("cells", f"{column_name(column)}{top + at}")
                assembly.paragraph(cell.text)
            column += cell.columns
    rows, top = rows[labels:], top + labels
    if width < 2 and len(rows) == 1:
        assembly.mark("cells", f"{column_name(left)}{top}")
        assembly.paragraph(rows[0][0].text if rows[0] else "")
        return
    laid = laid_out(rows)
    assembly.paragraph(*laid.titles)
    assembly.table(laid.rows, name=lambda at: ("cells", f"{column_name(left)}{top + at}"), at=laid.at)


def _is_label(row: Sequence[Cell]) -> bool:
    """Whether a row holds one text and nothing else, or nothing."""
    filled = [cell for cell in row if cell.text]
    return not filled or (len(filled) == 1 and not _is_number(filled[0].text))


def _is_number(text: str) -> bool:
    return re.fullmatch(r"[^\w]*\d[\d.,:/' ]*[^\w]*\w{0,3}", text) is not None


def tables_of(cells: Grid, merged: Sequence[Range] = ()) -> Iterator[Range]:
    """The tables, by their corners; blocks side by side come from left to right, and each from top to bottom."""
    if not cells:
        return
    rows, columns = sorted({row for row, _ in cells}), sorted({column for _, column in cells})
    for left, right in _bands(cells, columns, rows):
        is_all = (left, right) == (columns[0], columns[-1])
        yield from _stacked(cells if is_all else {at: cell for at, cell in cells.items() if left <= at[1] <= right})


def _bands(cells: Grid, columns: Sequence[int], rows: Sequence[int]) -> Iterator[tuple[int, int]]:
    """First and last column of what stands side by side: apart by an empty column, each with names of its own."""
    first = columns[0]
    for before, column in pairwise(columns):
        gap = column - before - 1
        if gap > FAR or (gap and _begins(cells, column, columns, rows) and _begins(cells, first, columns, rows)):
            yield first, before
            first = column
    yield first, columns[-1]


def _begins(cells: Grid, left: int, columns: Sequence[int], rows: Sequence[int]) -> bool:
    """Whether from a column on to the next empty one lies a table: names over at least two columns, and numbers below
    or a title above.
    """
    band = [left]
    for column in columns:
        if column == band[-1] + 1:
            band.append(column)
    if len(band) < 2:
        return False
    filled = [row for row in rows if sum((row, column) in cells for column in band) > 1]
    if len(filled) < 2:
        return False
    head = [cells[filled[0], column][0] for column in band if (filled[0], column) in cells]
    below = [cells[row, column][0] for row in filled[1:] for column in band if (row, column) in cells]
    first = next(row for row in rows if any((row, column) in cells for column in band))
    titled = first < filled[0] and (first, left) in cells
    return not any(map(_is_number, head)) and (titled or any(map(_is_number, below)))


def _stacked(cells: Grid) -> Iterator[Range]:
    """What stands one below the other: apart by an empty row, where what follows has a title or names of its own."""
    by_row: dict[int, list[int]] = {}
    for row, column in cells:
        by_row.setdefault(row, []).append(column)
    rows, start = sorted(by_row), 0
    for at in range(1, len(rows)):
        if rows[at] > rows[at - 1] + 1 and _is_new(cells, by_row, rows, start, at):
            yield _shrunk(by_row, rows[start:at])
            start = at
    yield _shrunk(by_row, rows[start:])


def _shrunk(by_row: dict[int, list[int]], rows: Sequence[int]) -> Range:
    return rows[0], min(min(by_row[row]) for row in rows), rows[-1], max(max(by_row[row]) for row in rows)


def _is_new(cells: Grid, by_row: dict[int, list[int]], rows: Sequence[int], start: int, at: int) -> bool:
    """Whether a table begins at a row behind an empty one: a title over several columns, or names over numbers."""
    head, below = by_row[rows[at]], by_row[rows[at + 1]] if at + 1 < len(rows) else []
    if any(_is_number(cells[rows[at], column][0]) for column in head):
        return False
    if len(head) == 1:
        return len(below) > 1 or any(len(by_row[row]) > 1 for row in rows[start:at])
    return any(_is_number(cells[rows[at + 1], column][0]) for column in below)
