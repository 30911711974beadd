"""Translates Haystack's filters into Thresher's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from haystack.errors import FilterError

_COMPARED = {"==": "=", "!=": "!=", ">": ">", ">=": ">=", "<": "<", "<=": "<="}


def where_of(filters: Mapping[str, Any]) -> str:
    """A filter as the `where` of a search. Raises FilterError for an invalid filter, or one without a counterpart.

    Comparing a field that a document lacks is neither true nor false, as in SQL: `!=` excludes that document.
    """
    match filters:
        case {"field": str() as field, "operator": str() as operator, "value": value}:
            return _comparison(_named(field), operator, value)
        case {"operator": "AND" | "OR" as operator, "conditions": [_, *_] as conditions}:
            return "(" + f" {operator} ".join(map(where_of, conditions)) + ")"
        case {"operator": "NOT", "conditions": [_, *_] as conditions}:
            return "NOT (" + " AND ".join(map(where_of, conditions)) + ")"
    raise FilterError(f"{filters!r} is no filter: give field, operator and value, or operator and conditions")


def _named(field: str) -> str:
    name = field.removeprefix("meta.")
    if not name or '"' in name:
        raise FilterError(f"{field!r} is no name of a field")
    return f'"{name}"'


def _comparison(field: str, operator: str, value: Any) -> str:
    match operator, value:
        case "==", None:
            return f"{field} IS NULL"
        case "!=", None:
            return f"NOT {field} IS NULL"
        case "in" | "not in", [_, *_]:
            among = f"{field} IN ({', '.join(map(_literal, value))})"
            return among if operator == "in" else f"NOT {among}"
        case _ if operator in _COMPARED and not isinstance(value, list):
            return f"{field} {_COMPARED[operator]} {_literal(value)}"
    raise FilterError(
        f"{field} {operator} {value!r} cannot be compared: operators are ==, !=, >, >=, <, <=, in, not in"
    )


def _literal(value: Any) -> str:
    match value:
        case bool():
            return "TRUE" if value else "FALSE"
        case int() | float():
            return repr(value)
        case str():
            return "'" + value.replace("'", "''") + "'"
    raise FilterError(f"{value!r} cannot be compared: give a text, a number, True or False")
