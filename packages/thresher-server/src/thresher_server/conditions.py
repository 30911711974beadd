"""Translates conditions on metadata from other tools into filters (`thresher.filters`)."""

from __future__ import annotations

from collections.abc import Sequence

from thresher.filters import COLUMNS
from thresher_server.problems import Problem

Value = str | int | float | bool


def compared(field: str, operator: str, value: Value) -> str:
    """A field compared with a value by `=`, `!=`, `<`, `<=`, `>` or `>=`."""
    return f"{_name(field)} {operator} {_literal(field, value)}"


def among(field: str, values: Sequence[Value]) -> str:
    """A field equal to one of several values. Raises Problem 422 for no values."""
    if not values:
        raise Problem(422, "is compared with no value at all", subject=f"field {field}", next_step="give some values")
    return f"{_name(field)} IN ({', '.join(_literal(field, value) for value in values)})"


def holding(field: str, text: str, *, before: bool = True, after: bool = True) -> str:
    """A field that contains a text, optionally with other text before and after it."""
    marked = "".join(f"\\{mark}" if mark in "\\%_" else mark for mark in text)
    pattern = f"{'%' if before else ''}{marked}{'%' if after else ''}"
    return f"{_name(field)} LIKE {_quoted(pattern)}"


def lacking(field: str) -> str:
    """A field without a value."""
    return f"{_name(field)} IS NULL"


def negated(condition: str) -> str:
    """The opposite of a condition."""
    return f"NOT ({condition})"


def joined(conditions: Sequence[str], operator: str) -> str | None:
    """All conditions (`and`) or at least one (`or`); None for no conditions."""
    return f" {operator.upper()} ".join(f"({one})" for one in conditions) or None


def _name(field: str) -> str:
    return '"' + field.replace('"', '""') + '"'


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _literal(field: str, value: Value) -> str:
    """A value in the type of its field: `page` is a number, our other columns are text."""
    if field == "page" and isinstance(value, str) and value.strip().isdecimal():
        return value.strip()
    written = str(value).lower() if isinstance(value, bool) else str(value)
    as_text = isinstance(value, str) or (field in COLUMNS and field != "page")
    return _quoted(written) if as_text else written
