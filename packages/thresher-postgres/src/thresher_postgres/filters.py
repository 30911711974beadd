"""Filters as PostgreSQL's SQL; values are always parameters, never part of the text."""

from __future__ import annotations

from typing import Any

from psycopg import sql

from thresher.errors import StoreError
from thresher.filters import COLUMNS, IDS
from thresher.types import And, Comparison, Filter, In, IsNull, Like, Not, Or, Value

FOLDING = 170_000
"""First server version with a collation that folds case on every machine."""

Condition = tuple[sql.Composable, list[Any]]
"""The text of a condition and the values of its parameters, in order."""


def to_sql(where: Filter, *, server: int = FOLDING) -> Condition:
    """The SQL of a filter on the columns of a chunk table; `server` is the server's version in psycopg's form."""
    match where:
        case Not(operand):
            text, values = to_sql(operand, server=server)
            return sql.SQL("(NOT {})").format(text), values
        case And(()):
            return sql.SQL("true"), []
        case Or(()) | In(_, ()):
            return sql.SQL("false"), []
        case And(operands):
            return _joined(" AND ", operands, server)
        case Or(operands):
            return _joined(" OR ", operands, server)
    if where.field not in (*COLUMNS, *IDS):
        raise StoreError("is not a column", subject=f"filter on {where.field!r}", next_step="resolve the filter first")
    field = sql.Identifier(where.field)
    match where:
        case IsNull():
            return sql.SQL("({} IS NULL)").format(field), []
        case In(_, wanted):
            return sql.SQL("({} = ANY({}))").format(field, sql.Placeholder()), [_alike(wanted)]
        case Like(_, pattern, ignore_case):
            folding = sql.SQL("pg_c_utf8" if server >= FOLDING else '"default"')
            form = "({} COLLATE {} ILIKE {})" if ignore_case else "({} LIKE {})"
            parts = (field, folding, sql.Placeholder()) if ignore_case else (field, sql.Placeholder())
            return sql.SQL(form).format(*parts), [_closed(pattern)]
        case Comparison(_, operator, value):
            return sql.SQL("({} {} {})").format(field, sql.SQL(operator), sql.Placeholder()), [value]


def _joined(word: str, operands: tuple[Filter, ...], server: int) -> Condition:
    conditions = [to_sql(operand, server=server) for operand in operands]
    text = sql.SQL(word).join(text for text, _ in conditions)
    return sql.SQL("({})").format(text), [value for _, values in conditions for value in values]


def _alike(values: tuple[Value, ...]) -> list[Value]:
    """Values of one type: with a fraction among them all are floats."""
    return [float(value) for value in values] if any(isinstance(value, float) for value in values) else list(values)


def _closed(pattern: str) -> str:
    """A pattern in which a single backslash at the end means itself."""
    trailing = len(pattern) - len(pattern.rstrip("\\"))
    return f"{pattern}\\" if trailing % 2 else pattern
