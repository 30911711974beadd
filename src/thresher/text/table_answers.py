"""Questions that one table answers: the cell of the row and column that are named."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from thresher.text.table_lookup import Look, look
from thresher.text.tables import Cell, Grid, with_unit


@dataclass(frozen=True, slots=True)
class Found:
    """An answer and the cells it was made from."""

    text: str
    cells: tuple[Cell, ...]
    facts: Mapping[str, str]


_WHO = re.compile(r"\bwho(?:m|se)?\b", re.IGNORECASE)
_KINDS = (
    (_WHO, re.compile(r"\b(?:name|owner|manager|person|speaker|author|contact|lead|head|director|responsible)", re.I)),
    (
        re.compile(r"\bwhere\b", re.I),
        re.compile(r"\b(?:city|place|room|location|site|country|address|warehouse|venue)", re.I),
    ),
    (
        re.compile(r"\bwhen\b|\bwhat time\b", re.I),
        re.compile(r"\b(?:date|time|day|deadline|due|year|month|opened|closed)", re.I),
    ),
)
"""What a question word asks for, by names of columns; used where only one column has such a name."""


def looked_up(grid: Grid, question: str) -> Found | None:
    """The cell of the one row and the one column that the question names; None where it does not with certainty."""
    for side in (grid, grid.transposed):
        seen = look(side, question)
        if len(seen.rows) == 1 and not seen.unexplained and (column := asked_column(seen, question)) is not None:
            row = side.rows[seen.rows[0]]
            cell = row[column]
            if not re.search(r"\w", cell.text):
                return None
            unit, stated = grid.unit(side.header[column].text, row[0].text)
            said = with_unit(cell.text, unit)
            used = (cell, *([stated] if stated is not None and said != cell.text else []))
            names = {"row": row[0].text, "column": side.header[column].text}
            return Found(said, used, names)
    return None


def asked_column(seen: Look, question: str) -> int | None:
    """The one column that is asked for: named, or of the question word's kind, or the only one beside the names."""
    conditions = {match.column for match in seen.named}
    named = [match.column for match in seen.columns if match.column not in conditions]
    if named:
        return named[0] if len(named) == 1 else None
    for asks, names in _KINDS:
        if asks.search(question):
            fitting = [
                at for at, head in enumerate(seen.grid.header) if at not in conditions and names.search(head.text)
            ]
            return fitting[0] if len(fitting) == 1 else None
    others = [at for at in range(len(seen.grid.header)) if at not in conditions]
    return others[0] if len(others) == 1 and len(seen.grid.header) == 2 else None
