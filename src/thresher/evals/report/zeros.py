"""Tables without columns that say nothing: calls that were not made and failures that were not there."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from thresher.evals.report.outcomes import LACKS
from thresher.evals.report.section import Cell, Measured, Table

RARE = re.compile(r"llm_calls|\w+_tokens|web_requests|failed|judge_failed|timed.out|unreadable|unparsed|degraded")
"""Columns that may go where all is nothing; elsewhere a nothing is a result."""
SEPARATOR = " / "


def without_zeros(table: Table) -> Table:
    """The same table; what none of its rows has is said in its note."""
    table = split_lacks(table)
    empty = [
        place
        for place, column in enumerate(table.columns)
        if table.rows and RARE.fullmatch(column) and all(nothing(row[place]) for row in table.rows)
    ]
    if not empty:
        return table
    kept = [place for place in range(len(table.columns)) if place not in empty]
    columns = table.columns
    names = ", ".join(dict.fromkeys(columns[place].replace("_", " ") for place in empty))
    return replace(
        table,
        columns=[columns[place] for place in kept],
        rows=[[row[place] for place in kept] for row in table.rows],
        note=f"{table.note} None in any row: {names}.".strip(),
    )


def split_lacks(table: Table) -> Table:
    """The column that counts what was refused, failed, late and unreadable as four, where only refusals are there."""
    if LACKS not in table.columns or any(str(row[at(table)]).split(SEPARATOR)[1:] != ["0"] * 3 for row in table.rows):
        return table
    place = at(table)
    names = LACKS.split(SEPARATOR)
    rows: list[Sequence[Cell]] = [
        [*row[:place], *map(int, str(row[place]).split(SEPARATOR)), *row[place + 1 :]] for row in table.rows
    ]
    return replace(table, columns=[*table.columns[:place], *names, *table.columns[place + 1 :]], rows=rows)


def at(table: Table) -> int:
    """Where that column stands."""
    return list(table.columns).index(LACKS)


def nothing(cell: Cell) -> bool:
    """Whether a cell says none."""
    match cell:
        case None:
            return True
        case Measured():
            return not cell.value
        case _:
            return cell == 0
