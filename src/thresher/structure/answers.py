"""Questions that one table answers: the cell of the row and column that are named, or what follows from several."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial

from thresher.structure.compute import worked_out
from thresher.structure.forms import Form, asks_total, filled_in, form_of
from thresher.structure.grid import Cell, Found, Grid, grid_of, with_unit
from thresher.structure.lookup import Look, look
from thresher.structure.records import aligned, records_of
from thresher.structure.rows import column_cells, confirmed, listed, row_cells
from thresher.text.labels import still_to_come
from thresher.types import Document

_EXPLAINED = re.compile(
    r"\s*(?:how (?!much|many|long|old|far|high|often|big|large|tall|fast|heavy|expensive|late|early)|why|explain"
    r"|describe)",
    re.IGNORECASE,
)
"""Questions for steps, reasons and descriptions, which no cell answers."""

_DEFINED = re.compile(
    r"\s*what(?:'s| is| are| was| were| does| do) (?:(?:an?|some) [\w -]+|[\w-]+)(?: mean| stand for)?\s*\??\s*$",
    re.IGNORECASE,
)
"""Asks for a definition ("What is a transformer?"): a row of that name may give it, a column or shared words do not."""


def grids_near(document: Document, start: int, end: int) -> Iterator[Grid]:
    """The readable tables and forms of a document that overlap a span of it."""
    for table in document.tables:
        if start < table.end and table.start < end and (grid := grid_of(document, table)) is not None:
            yield grid
    for grid in (*aligned(document, max(0, start), max(0, end)), *records_of(document, max(0, start), max(0, end))):
        if start < grid.end and grid.start < end:
            yield grid


def form_near(document: Document, start: int, end: int) -> Form | None:
    """The form that a document is, if it overlaps a span of it."""
    grids = (grid for table in document.tables if (grid := grid_of(document, table)) is not None)
    form = form_of(document, (*grids, *aligned(document, 0, len(document.text))))
    return form if form is not None and start < form.end and form.start < end else None


def answered(grid: Grid | Form, question: str) -> Found | None:
    """The cell that a question asks for, or what can be worked out from several."""
    if isinstance(grid, Form):
        return filled_in(grid, question)
    if _EXPLAINED.match(question):
        return None
    if _DEFINED.match(question) and not any(match.whole for match in look(grid, question).named):
        return None
    ways = (partial(confirmed, looked_up), looked_up, worked_out, listed, column_cells, _rows_that_fit)
    answers = (found for way in ways if (found := way(grid, question)) is not None)
    return next((found for found in answers if not (asks_total(question) and _is_dated(found.cells[0]))), None)


def _is_dated(cell: Cell) -> bool:
    """Whether a cell has figures and is no number: a date, a code."""
    return cell.number is None and re.search(r"\d", cell.text) is not None


def _rows_that_fit(grid: Grid, question: str) -> Found | None:
    """The rows that a question names without one column, those columns alone that fit its question word."""
    asks = next((names for word, names in _KINDS if word.search(question)), None)
    fitting = None if asks is None else [at for at, head in enumerate(grid.header) if asks.search(head.text)]
    return row_cells(grid, question, fitting)


_MANY = re.compile(r"\s*how many\b", re.IGNORECASE)
_MUCH = re.compile(r"\s*how (?:many|much)\b", re.IGNORECASE)
_KINDS = tuple(
    (re.compile(rf"\b(?:{asks})\b", re.IGNORECASE), re.compile(rf"\b(?:{names})", re.IGNORECASE))
    for asks, names in (
        ("who(?:m|se)?", "name|owner|manager|person|speaker|author|contact|lead|head|director|responsible"),
        ("where", "city|place|room|location|site|country|address|warehouse|venue"),
        ("when|what time", "date|time|day|deadline|due|year|month|opened|closed"),
    )
)
"""What a question word asks for, by names of columns; used where only one column has such a name."""


def looked_up(grid: Grid, question: str) -> Found | None:
    """The cell of the one row and the one column that the question names; None where it does not with certainty."""
    for side in (grid, grid.transposed):
        seen = look(side, question)
        if not side.turned and len(seen.rows) == 1 and len(seen.columns_but({one.column for one in seen.named})) > 1:
            return None  # the row answers, not one of its numbers
        if len(seen.rows) == 1 and not seen.unexplained and (column := asked_column(seen, question)) is not None:
            row = side.rows[seen.rows[0]]
            cell = row[column]
            # A number is only the answer where its column is named, or where no other could be meant and one is wanted.
            named = bool(seen.columns_but({match.column for match in seen.named}))
            fits = _MUCH.match(question) or named if cell.number is not None else not _MANY.match(question)
            fits = fits and not (_MUCH.match(question) and _is_dated(cell))
            fits = fits and not still_to_come(question, side.header[column].text)
            if not fits or not re.search(r"\w", cell.text) or (side.turned and column == 0):
                return None
            unit, stated = grid.unit(side.header[column].text, row[0].text)
            value = with_unit(cell.text, unit)
            return Found(value, (cell,) if stated is None or value == cell.text else (cell, stated))
    return None


def asked_column(seen: Look, question: str) -> int | None:
    """The one column that is asked for: named, or of the question word's kind, or the only one beside the names."""
    conditions = {match.column for match in seen.named}
    if named := seen.columns_but(conditions):
        return named[0] if len(named) == 1 else None
    others = [at for at in range(len(seen.grid.header)) if at not in conditions]
    for asks, names in _KINDS:
        if asks.search(question):
            fitting = [at for at in others if names.search(seen.grid.header[at].text)]
            return fitting[0] if len(fitting) == 1 else None
    return others[0] if len(others) == 1 and len(seen.grid.header) == 2 else None
