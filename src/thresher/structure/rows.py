"""Questions that a table answers by more than one cell: a row with its column names, a few rows alike, a whole list."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import islice

from thresher.structure.grid import Cell, Found, Grid, is_money, is_prose, number_in, with_unit
from thresher.structure.lookup import YES_OR_NO, Look, is_period, look, terms_of
from thresher.text.terms import among

MOST_ROWS = 4
"""Rows that match a question partly and are shown together: two sizes of a pump, four versions of a product."""
MOST_CELLS = 12
"""Cells of an answer; more is a table again."""
MOST_LISTED = 30
LONGEST_CELL = 80
"""Characters of a cell that stands behind the name of its row in a list."""
_NUMBER = re.compile(r"(?<![\w.])\d[\d.,]*(?<![.,])(?!\w)")
_HOW_MUCH = re.compile(r"\s*how (?:many|much)\b", re.IGNORECASE)
_PAYING = re.compile(r"\b(?:costs?|price|pay|expensive|how much (?:is|are))\b", re.IGNORECASE)
_PRICE = re.compile(r"\b(?:price|cost|fare|fee|charge|rate)", re.IGNORECASE)
_NAME_ALONE = re.compile(
    r"\s*(?:(?:and|but|so)\b[\s,]*)?(?:(?:what|how) about\b)?(?!.*\b(?:who|whose|what|which|when|where|why|how)\b)",
    re.IGNORECASE,
)
"""No question word, or one that asks for no part of a row: "and what about Oak?"."""
_LIST = re.compile(
    r"\s*(?:list|name|enumerate|show|give|what are|which are|what were|what is in|which .* are there)\b", re.I
)


def row_cells(grid: Grid, question: str, columns: Sequence[int] | None = None) -> Found | None:
    """The cells of the rows that a question names without one column, each behind its column's name.

    A row is named whole, or by words that one cell holds: "a bilge pump" is both sizes of it. `columns` are those of a
    question word's kind; None where it has none.
    """
    seen = look(grid, question)
    rows = _rows(seen)
    if not rows or YES_OR_NO.match(question) or columns == []:
        return None
    names = {column for row in rows for column in _naming(seen, row)}
    asked = [at for at in _asked(seen, rows, question) if at not in names] if columns is None else list(columns)
    if _HOW_MUCH.match(question):
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


def listed(grid: Grid, question: str) -> Found | None:
    """The names of all rows, where a question asks for the list of what the first column holds."""
    if not _LIST.match(question) or grid.turned:
        return None
    seen = look(grid, question)
    keyed = any(match.column == 0 and match.whole for match in seen.columns)
    others = seen.named or seen.unexplained or any(match.column > 0 for match in seen.columns)
    if others or not keyed or not 2 <= len(grid.rows) <= MOST_LISTED:
        return None
    entries = []
    for row in grid.rows:
        beside = next((cell.text for cell in row[1:] if cell.number is None and cell.text), "")
        entries.append(f"{row[0].text} ({beside})" if 0 < len(beside) <= LONGEST_CELL else row[0].text)
    return Found("; ".join(entries), tuple(row[0] for row in grid.rows))


def column_cells(grid: Grid, question: str) -> Found | None:
    """The numbers of the one column that a question names without a row, by row; prose above the table names none."""
    seen = look(replace(grid, around=tuple(cell for cell in grid.around if not is_prose(cell.text))), question)
    named = seen.columns_but({0})
    if len(named) != 1 or seen.named or seen.unexplained or len(grid.rows) > MOST_CELLS or YES_OR_NO.match(question):
        return None
    rows = [row for row in grid.rows if row[named[0]].number is not None]
    if len(rows) < 2 or len(rows) * 2 < len(grid.rows) or not _tells_apart(grid, 0):
        return None
    counted = [at for at, row in enumerate(grid.rows) if row in rows]
    entries = (f"{grid.rows[at][0].text}: {_with_unit(grid, at, named[0], alone=True)}" for at in counted)
    return Found("; ".join(entries), tuple(row[named[0]] for row in rows))


def confirmed(looked_up: Callable[[Grid, str], Found | None], grid: Grid, question: str) -> Found | None:
    """Yes or no to a question that names a cell and states a number for it: "Is the limit for Norway 205?"."""
    if not YES_OR_NO.match(question):
        return None
    for number in _NUMBER.finditer(question):
        found = looked_up(grid, question[: number.start()] + question[number.end() :])
        if found is not None and (value := found.cells[0].number) is not None:
            return Found(f"{'Yes' if value == number_in(number.group()) else 'No'}: {found.text}", found.cells)
    return None


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
