"""Questions that one table or form answers: by a cell, by a few rows with the names of their columns, by a result."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import islice

from thresher.structure.forms import LONGEST_FORM, Form, filled_in, form_of, records_of
from thresher.structure.grid import Cell, Found, Grid, aligned, grid_of, is_money, with_unit
from thresher.structure.lookup import THINGS, YES_OR_NO, Look, is_period, look, terms_of
from thresher.text.answer_types import asks_for_name, is_figure
from thresher.text.terms import among
from thresher.types import Document

_EXPLAINED = re.compile(
    r"\s*(?:how (?!much|many|long|old|far|high|often|big|large|tall|fast|heavy|expensive|late|early)|why|explain"
    r"|describe)",
    re.IGNORECASE,
)
"""Questions for steps, reasons and descriptions, which no cell answers."""

_DEFINED = re.compile(
    r"\s*what(?: do(?:es)? .+ do|(?:'s| is| are| was| were| does| do) (?:(?:an?|some) [\w -]+|[\w-]+)"
    r"(?: mean| stand for)?)\s*\??\s*$",
    re.IGNORECASE,
)
"""Asks for a definition ("What is a transformer?", "What does --hard do?"): a row of that name may give it, a column or
shared words do not."""


def grids_near(document: Document, start: int, end: int) -> Iterator[Grid]:
    """The readable tables and forms of a document that overlap a span of it."""
    for table in document.tables_over(start, end):
        if (grid := grid_of(document, table)) is not None:
            yield grid
    for grid in (*aligned(document, max(0, start), max(0, end)), *records_of(document, max(0, start), max(0, end))):
        if start < grid.end and grid.start < end:
            yield grid


def form_near(document: Document, start: int, end: int) -> Form | None:
    """The form that a document is, if it overlaps a span of it."""
    if len(document.text) > LONGEST_FORM:
        return None
    grids = (grid for table in document.tables if (grid := grid_of(document, table)) is not None)
    form = form_of(document, (*grids, *aligned(document, 0, len(document.text))))
    return form if form is not None and start < form.end and form.start < end else None


def answered(grid: Grid | Form, question: str) -> Found | None:
    """The cell that a question asks for, or what can be worked out from several."""
    if isinstance(grid, Form):
        return filled_in(grid, question)
    seen = look(grid, question)
    is_name = any(match.whole and match.column == 0 for match in seen.named)
    if _EXPLAINED.match(question) or (_DEFINED.match(question) and not is_name):
        return None
    return next((one for one in _answers(seen, look(grid.transposed, question)) if one is not None), None)


def _answers(seen: Look, turned: Look) -> Iterator[Found | None]:
    """What each way of reading a table, and the same with rows and columns exchanged, answers."""
    if len(seen.grid.rows) == 1 and seen.naming and _names_several_columns(seen):
        return  # "Which piers are closed?" of a record with Pier 1 and Pier 2 asks for its labels
    yield looked_up(seen, turned)
    for side in (seen, turned) if seen.grid.whole else ():
        yield extreme(side)
        yield total(side)
    yield row_cells(seen)


_NUMBERED = re.compile(r"\b(?:\d+|[^\W\d_])\b")
"""What distinguishes things of one kind: Pier 1, Lift B."""


def _names_several_columns(seen: Look) -> bool:
    """Whether the question names columns that differ by a number or a letter alone."""
    kinds = Counter(_NUMBERED.sub("", head.text) for head in seen.grid.header)
    return any(count > 1 and not seen.words.places.keys().isdisjoint(terms_of(kind)) for kind, count in kinds.items())


_MANY = re.compile(r"\s*how many\b", re.IGNORECASE)
_MUCH = re.compile(r"\s*how (?:many|much)\b", re.IGNORECASE)


def looked_up(seen: Look, turned: Look) -> Found | None:
    """The cell of the one row and the one column that the question names; None where it does not with certainty."""
    if len(seen.rows) == 1 and len(seen.other_columns) > 1:
        return None  # the row answers, not one of its numbers
    for side in (seen, turned):
        if len(side.rows) == 1 and not side.lacks() and (column := asked_column(side)) is not None:
            return _cell_asked(side, side.rows[0], column)
    return None


def _cell_asked(side: Look, row: int, column: int) -> Found | None:
    """A cell with its unit; None where it does not fit the question."""
    grid, question = side.grid, side.question
    head, cell = grid.header[column], grid.rows[row][column]
    # A number is only the answer where its column is named, or where no other could be meant and one is wanted.
    fits = _MUCH.match(question) or side.other_columns if cell.number is not None else not _MANY.match(question)
    if not fits or not re.search(r"\w", cell.text) or (grid.turned and column == 0):
        return None
    unit, stated = grid.unit(head.text, grid.rows[row][0].text)
    value = with_unit(cell.text, unit)
    return Found(value, (cell,) if stated is None or value == cell.text else (cell, stated))


def asked_column(seen: Look) -> int | None:
    """The one column that is asked for: named, or the only one beside the names."""
    if named := seen.other_columns:
        # "Where is pump 7 installed?" does not name the column of the days on which pumps were.
        figure = len(named) == 1 and seen.rows and is_figure(seen.grid.rows[seen.rows[0]][named[0]].text)
        if not (figure and asks_for_name(seen.question)):
            return named[0] if len(named) == 1 else None
    naming, width = seen.naming, len(seen.grid.header)
    others = [at for at in range(width) if at not in naming]
    return others[0] if len(others) == 1 and width == 2 else None


# --- rows without one column ------------------------------------------------------------------------------------------

ROWS_SHOWN = 4
"""Rows that match a question partly and are shown together: two sizes of a pump, four versions of a product."""
CELLS_SHOWN = 12
"""Cells of an answer; more is a table again."""
_PAYING = re.compile(r"\b(?:costs?|price|pay|expensive|how much (?:is|are))\b", re.IGNORECASE)
_PRICE = re.compile(r"\b(?:price|cost|fare|fee|amount|charge)", re.IGNORECASE)
_PAID = re.compile(rf"{_PRICE.pattern}|\brate", re.IGNORECASE)
"""A rate may be what is paid; beside a price it is that of the tax."""
_NAME_ALONE = re.compile(
    r"\s*(?:(?:and|but|so)\b[\s,]*)?(?:(?:what|how) about\b)?(?!.*\b(?:who|whose|what|which|when|where|why|how)\b)",
    re.IGNORECASE,
)
"""No question word, or one that asks for no part of a row: "and what about Oak?"."""


def row_cells(seen: Look) -> Found | None:
    """The cells of the rows that a question names without one column, each behind its column's name.

    A row is named whole, or by words that one cell holds: "a bilge pump" is both sizes of it.
    """
    grid, question, rows = seen.grid, seen.question, _rows_meant(seen)
    if not rows or YES_OR_NO.match(question) or asks_for_name(question):
        return None
    names = {column for row in rows for column in _naming(seen, row)}
    asked = [at for at in _asked(seen, rows) if at not in names]
    if _MUCH.match(question):
        asked = [at for at in asked if all(grid.rows[row][at].number is not None for row in rows)]
    names = _names_apart(grid, rows, names, asked)
    if not names or not asked or len(rows) * len(asked) > CELLS_SHOWN or not _says_more(seen, rows):
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


def _rows_meant(seen: Look) -> list[int]:
    """Rows named in full, or with one cell that has all remaining words."""
    if seen.named and not seen.lacks():
        return list(seen.rows) if len(seen.rows) <= ROWS_SHOWN else []
    left = [seen.words.tokens[at] for at in seen.unexplained]
    if not any(len(term) > 2 and term.isalpha() for term in left):
        return []
    rows = seen.rows if seen.named else range(len(seen.grid.rows))
    fitting = (at for at in rows if any(_holds(cell, left) for cell in seen.grid.rows[at]))
    found = list(islice(fitting, ROWS_SHOWN + 1))
    return found if len(found) <= ROWS_SHOWN else []


def _holds(cell: Cell, terms: Sequence[str]) -> bool:
    """Whether all terms are words of a cell that is a name, no number and no text."""
    there = terms_of(cell.text)
    return len(there) <= len(terms) + LEFT_OUT and all(among(term, there) for term in terms)


LEFT_OUT = 3
"""Words of a cell that a question may leave out: bilge pump (24 V), Refit (and repair)."""


def _naming(seen: Look, row: int) -> set[int]:
    """The columns by whose cells a row is named."""
    if not seen.lacks():
        return seen.naming
    left = [seen.words.tokens[at] for at in seen.unexplained]
    return {at for at, cell in enumerate(seen.grid.rows[row]) if _holds(cell, left)}


def _names_apart(grid: Grid, rows: Sequence[int], names: set[int], asked: Sequence[int]) -> set[int]:
    """Columns whose cells tell rows from all others: those that name them, of look-alikes others too.

    Empty where none do, where further rows have the same names, and where a kind of row is named.
    """
    columns = [[row[column].text for row in grid.rows] for column in names]
    if 0 not in names and any(len(set(texts)) < len(texts) for texts in columns):
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


def _asked(seen: Look, rows: Sequence[int]) -> list[int]:
    """The columns that a question names, or those that share a word with it, or all."""
    if named := [at for at in seen.other_columns if at]:
        return named
    of_rows = {term for row in rows for cell in seen.grid.rows[row] for term in terms_of(cell.text)}
    telling = {term for term in seen.words.tokens if term not in of_rows}
    heads = list(enumerate(seen.grid.header))
    shared = [at for at, head in heads if at and telling & set(terms_of(head.text))]
    if not shared and _PAYING.search(seen.question):
        money = [at for at, head in heads if is_money(seen.grid.unit(head.text)[0])]
        shared = [at for at in money if _PAID.search(heads[at][1].text)] or money
    if not shared and len(seen.grid.rows) == 1 and not _NAME_ALONE.match(seen.question):
        return []  # of a list of things and their states the others are not what is asked for
    return shared or [at for at, _ in heads]


def _says_more(seen: Look, rows: Sequence[int]) -> bool:
    """Whether a word besides the rows' names is one of the table; a question of one name asks for all of its row."""
    of_rows = [term for row in rows for cell in seen.grid.rows[row] for term in terms_of(cell.text)]
    named = all(among(word, of_rows) for word in seen.words.tokens)
    if len(rows) == 1 and named and _NAME_ALONE.match(seen.question):
        return True
    texts = (*seen.grid.around, *seen.grid.header)
    if _PAYING.search(seen.question):
        return any(_PAID.search(cell.text) for cell in texts)
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


# --- results: the highest and the lowest, sums ------------------------------------------------------------------------

# Each answers only where the question names what it is about with certainty and every cell used is a number; the answer
# shows the computation.

_TOTAL = re.compile(r"(?:sub-?|grand )?totals?|sum|average|mean|overall|all|altogether", re.IGNORECASE)
_HIGHEST = frozenset(terms_of("highest most largest biggest greatest maximum max top expensive dearest longest"))
_LOWEST = frozenset(terms_of("lowest least smallest fewest minimum min cheapest shortest"))
_BEST = frozenset(terms_of("best"))
_LESS_IS_BETTER = re.compile(
    r"\b(?:costs?|price|fee|rate|error|loss|perplexity|times?|rank|age|delay|complaints?)\b", re.IGNORECASE
)
"""Of these the best is not the highest."""
_PRICED = re.compile(r"\b(?:expensive|dearest|cheapest)\b", re.IGNORECASE)
_SUM = frozenset(terms_of("total totals sum altogether combined overall together all whole"))
_PERIOD_NAMES = frozenset(terms_of("quarter month year half"))
NUMBERS_SHOWN = 12
"""Numbers of a sum that are written out."""


@dataclass(frozen=True, slots=True)
class Series:
    """Numbers of one kind: a column of a table, or of its rows exchanged with its columns."""

    names: tuple[str, ...]
    cells: tuple[Cell, ...]
    unit: str
    stated: Cell | None
    """The line that states the unit."""

    @property
    def values(self) -> list[Decimal]:
        """The numbers, exact."""
        return [value for cell in self.cells if (value := cell.number) is not None]

    def formatted(self, value: Decimal) -> str:
        """A number of this kind with its unit."""
        grouped = any("," in cell.text and not cell.decimal_comma for cell in self.cells)
        ends = {re.sub(r"[\d.,\s+−–-]", "", cell.text) for cell in self.cells}
        unit = self.unit or (ends.pop() if len(ends) == 1 else "")
        return with_unit(f"{value:,f}" if grouped else f"{value:f}", unit)

    def found(self, text: str, first: Sequence[Cell] = ()) -> Found:
        """An answer made from these numbers."""
        stated = () if self.stated is None else (self.stated,)
        return Found(text, tuple(dict.fromkeys((*first, *self.cells, *stated))), computed=True)


def extreme(seen: Look) -> Found | None:
    """The row with the highest or lowest number of the column that is named."""
    asked = set(terms_of(seen.question))
    highest, lowest = asked & _HIGHEST, asked & _LOWEST
    highest |= frozenset() if _LESS_IS_BETTER.search(seen.question) else asked & _BEST
    periods = _PERIOD_NAMES if all(is_period(row[0].text) for row in seen.grid.rows) else frozenset()
    if bool(highest) == bool(lowest) or seen.lacks(highest | lowest | THINGS | periods):
        return None
    measure = _measure(seen)
    series = None if measure is None else _series(seen, measure, _counted_rows(seen))
    if series is None or len(series.cells) < 2:
        return None
    best = max(series.values) if highest else min(series.values)
    winners = [at for at, value in enumerate(series.values) if value == best]
    names = " and ".join(series.names[at] for at in winners)
    return series.found(f"{names}: {series.formatted(best)}", [series.cells[at] for at in winners])


def total(seen: Look) -> Found | None:
    """The sum of a column, or of those of its rows that are named."""
    besides, measure = set(terms_of(seen.question)) & _SUM, _measure(seen)
    if not besides or seen.lacks(besides) or measure is None:
        return None
    grid, rows = seen.grid, _counted_rows(seen)
    series = _series(seen, measure, rows)
    whole = series is not None and len(series.cells) == len(rows)
    # Revenue and costs are not added up: rows have to be named one by one, or to be months or quarters, or the
    # column what is counted of things in the rows.
    periods = all(is_period(grid.rows[at][0].text) for at in rows)
    counted = not grid.turned and not any(is_period(head.text) for head in grid.header)
    if series is None or not whole or len(rows) < 2 or not (set(rows) <= set(seen.rows) or periods or counted):
        return None
    numbers = f"the sum of {len(rows)} numbers"
    shown = numbers if len(rows) > NUMBERS_SHOWN else " + ".join(f"{value:f}" for value in series.values)
    return series.found(f"{shown} = {series.formatted(sum(series.values, Decimal(0)))}")


def _measure(seen: Look) -> int | None:
    """The one column of numbers that is named; that of prices for what is expensive."""
    named = [match.column for match in seen.columns if match.column not in seen.naming]
    if _PRICED.search(seen.question):
        named = [at for at, head in enumerate(seen.grid.header) if _PRICE.search(head.text)]
    named = [at for at in named if _counts(seen.grid, at)]
    return named[0] if len(named) == 1 else None


def _counts(grid: Grid, column: int) -> bool:
    """Whether a column holds numbers that are no names of rows."""
    return column > 0 and sum(row[column].number is not None for row in grid.rows) * 2 >= len(grid.rows)


def _counted_rows(seen: Look) -> tuple[int, ...]:
    """The rows that are named, or all where none is; those of totals never."""
    rows = seen.grid.rows
    named = tuple(at for at in seen.rows if not _TOTAL.fullmatch(rows[at][0].text))
    return named or tuple(at for at, row in enumerate(rows) if not _TOTAL.fullmatch(row[0].text))


def _series(seen: Look, column: int, rows: Sequence[int]) -> Series | None:
    """The numbers of a column; None where one of them is something else, or of another unit than the others."""
    grid = seen.grid
    filled = [at for at in rows if grid.rows[at][column].text not in ("", "-", "–", "—")]
    cells = tuple(grid.rows[at][column] for at in filled)
    units = [grid.unit(grid.header[column].text, grid.rows[at][0].text) for at in filled]
    if not cells or any(cell.number is None for cell in cells) or len(set(units)) > 1:
        return None
    return Series(tuple(grid.rows[at][0].text for at in filled), cells, *units[0])
