"""Questions that one table or form answers: by a cell, by a few rows with the names of their columns, by a result."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice

from thresher.structure.compute import worked_out
from thresher.structure.forms import Form, asks_total, filled_in, form_of, records_of
from thresher.structure.grid import Cell, Found, Grid, aligned, grid_of, is_money, with_unit
from thresher.structure.lookup import YES_OR_NO, Look, is_period, look, still_to_come, terms_of
from thresher.text.terms import among
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
    ways = (looked_up, worked_out, row_cells)
    answers = (found for way in ways if (found := way(grid, question)) is not None)
    return next((found for found in answers if not (asks_total(question) and _is_dated(found.cells[0]))), None)


def _is_dated(cell: Cell) -> bool:
    """Whether a cell has figures and is no number: a date, a code."""
    return cell.number is None and re.search(r"\d", cell.text) is not None


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


# --- rows without one column ------------------------------------------------------------------------------------------

MOST_ROWS = 4
"""Rows that match a question partly and are shown together: two sizes of a pump, four versions of a product."""
MOST_CELLS = 12
"""Cells of an answer; more is a table again."""
_PAYING = re.compile(r"\b(?:costs?|price|pay|expensive|how much (?:is|are))\b", re.IGNORECASE)
_PRICE = re.compile(r"\b(?:price|cost|fare|fee|charge|rate)", re.IGNORECASE)
_NAME_ALONE = re.compile(
    r"\s*(?:(?:and|but|so)\b[\s,]*)?(?:(?:what|how) about\b)?(?!.*\b(?:who|whose|what|which|when|where|why|how)\b)",
    re.IGNORECASE,
)
"""No question word, or one that asks for no part of a row: "and what about Oak?"."""


def row_cells(grid: Grid, question: str) -> Found | None:
    """The cells of the rows that a question names without one column, each behind its column's name.

    A row is named whole, or by words that one cell holds: "a bilge pump" is both sizes of it.
    """
    kind = next((names for word, names in _KINDS if word.search(question)), None)
    columns = None if kind is None else [at for at, head in enumerate(grid.header) if kind.search(head.text)]
    seen = look(grid, question)
    rows = _rows(seen)
    if not rows or YES_OR_NO.match(question) or columns == []:
        return None
    names = {column for row in rows for column in _naming(seen, row)}
    asked = [at for at in _asked(seen, rows, question) if at not in names] if columns is None else list(columns)
    if _MUCH.match(question):
        asked = [at for at in asked if all(grid.rows[row][at].number is not None for row in rows)]
    names = _names_apart(grid, rows, names, asked)
    if not names or not asked or len(rows) * len(asked) > MOST_CELLS or not _says_more(seen, rows, question):
        return None
    entries, used = [], list[Cell]()
    for row in rows:
        cells = [at for at in asked if re.search(r"\w", grid.rows[row][at].text)]
        if not cells:
            return None
        name = " ".join(grid.rows[row][at].text for at in sorted(names))
        entries.append(f"{name}: " + ", ".join(_with_unit(grid, row, at, alone=len(asked) == 1) for at in cells))
        used += [grid.rows[row][at] for at in cells]
    return Found("; ".join(entries), tuple(used))


def _rows(seen: Look) -> list[int]:
    """Rows that are named whole by a question without another word to explain, or that hold all words that are left."""
    if seen.named and not seen.unexplained:
        return list(seen.rows[: MOST_ROWS + 1]) if len(seen.rows) <= MOST_ROWS else []
    left = [seen.words.tokens[at] for at in seen.unexplained]
    if not any(len(term) > 2 and term.isalpha() for term in left):
        return []
    rows = seen.rows if seen.named else range(len(seen.grid.rows))
    fitting = (at for at in rows if any(_holds(cell, left) for cell in seen.grid.rows[at]))
    found = list(islice(fitting, MOST_ROWS + 1))
    return found if len(found) <= MOST_ROWS else []


def _holds(cell: Cell, terms: Sequence[str]) -> bool:
    """Whether all terms are words of a cell that is a name, no number and no text."""
    there = terms_of(cell.text)
    return len(there) <= len(terms) + LEFT_OUT and all(among(term, there) for term in terms)


LEFT_OUT = 3
"""Words of a cell that a question may leave out: bilge pump (24 V), Refit (and repair)."""


def _naming(seen: Look, row: int) -> set[int]:
    """The columns by whose cells a row is named."""
    if not seen.unexplained:
        return {match.column for match in seen.named}
    left = [seen.words.tokens[at] for at in seen.unexplained]
    return {at for at, cell in enumerate(seen.grid.rows[row]) if _holds(cell, left)}


def _names_apart(grid: Grid, rows: Sequence[int], names: set[int], asked: Sequence[int]) -> set[int]:
    """Columns whose cells tell rows from all others: those that name them, of look-alikes others too.

    Empty where none do, where further rows have the same names, and where a kind of row is named.
    """
    if 0 not in names and not all(_tells_apart(grid, column) for column in names):
        return set()

    def named(row: int, columns: set[int]) -> tuple[str, ...]:
        return tuple(grid.rows[row][column].text for column in sorted(columns))

    ours = {named(row, names) for row in rows}
    if sum(named(row, names) in ours for row in range(len(grid.rows))) > len(rows):
        return set()
    for column in (at for at in range(len(grid.header)) if at not in asked):
        if len({named(row, names) for row in rows}) == len(rows):
            break
        names = names | {column}
    return names if len({named(row, names) for row in rows}) == len(rows) else set()


def _tells_apart(grid: Grid, column: int) -> bool:
    """Whether the cells of a column are names: no two of them are the same."""
    texts = [row[column].text for row in grid.rows]
    return len(set(texts)) == len(texts)


def _asked(seen: Look, rows: Sequence[int], question: str) -> list[int]:
    """The columns that a question names, or those that share a word with it, or all."""
    if named := seen.columns_but({0, *(match.column for match in seen.named)}):
        return named
    of_rows = {term for row in rows for cell in seen.grid.rows[row] for term in terms_of(cell.text)}
    telling = {term for term in seen.words.tokens if term not in of_rows}
    heads = list(enumerate(seen.grid.header))
    shared = [at for at, head in heads if at and telling & set(terms_of(head.text))]
    if not shared and _PAYING.search(question):
        money = [at for at, head in heads if is_money(seen.grid.unit(head.text)[0])]
        shared = [at for at in money if _PRICE.search(heads[at][1].text)] or money
    return shared or [at for at, _ in heads]


def _says_more(seen: Look, rows: Sequence[int], question: str) -> bool:
    """Whether a word besides the rows' names is one of the table; a question of one name asks for all of its row."""
    of_rows = [term for row in rows for cell in seen.grid.rows[row] for term in terms_of(cell.text)]
    named = all(among(word, of_rows) for word in seen.words.tokens)
    if len(rows) == 1 and named and _NAME_ALONE.match(question):
        return True
    texts = (*seen.grid.around, *seen.grid.header)
    if _PAYING.search(question):
        return any(_PRICE.search(cell.text) for cell in texts)
    around = [term for cell in texts for term in terms_of(cell.text)]
    return any(among(word, around) and not among(word, of_rows) for word in seen.words.tokens)


def _with_unit(grid: Grid, row: int, column: int, *, alone: bool) -> str:
    """A cell with its unit, behind the name of its column where there are several."""
    head, cell = grid.header[column], grid.rows[row][column]
    unit, stated = grid.unit(head.text, grid.rows[row][0].text)
    named = not alone or is_period(head.text)
    own = named and stated is None and unit  # stands in the name
    value = with_unit(cell.text, unit) if cell.number is not None and not own else cell.text
    return f"{head.text} {value}" if named else value
