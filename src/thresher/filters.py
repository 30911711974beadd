"""Filters: what a search is restricted to, as a small tree that each store renders in its own language.

    kind = 'pdf' AND (date >= '2019' OR title LIKE '%BERT%') AND page <= 3 AND year > 2018

`parse` reads the `where` of a caller (by sqlglot; nothing that was written reaches a store as text). `source`, `title`,
`kind`, `added`, `date` and `page` are columns of every chunk. Any other name is a field of the documents' own metadata:
`resolve` evaluates such a comparison on the documents, numbers as numbers, and puts the list of their ids in its place,
so that no store needs a column per field. `holds` evaluates a filter on a row, for stores without a language.

As in SQL, a comparison with what is not there is neither true nor false: `page = 1` and `NOT page = 1` both leave out
documents without pages, `year > 2018` and `NOT year > 2018` documents without a year. In LIKE, % stands for any run, _
for any one character, and a backslash takes the meaning from the mark after it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Mapping
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

from thresher.errors import UnknownSetting, UsageError
from thresher.types import And, Comparison, Filter, In, IsNull, Like, Not, Operator, Or, Value

if TYPE_CHECKING:
    from sqlglot import exp

__all__ = ["COLUMNS", "IDS", "fields_of", "holds", "narrowed", "of_documents", "parse", "resolve"]

COLUMNS = ("source", "title", "kind", "added", "date", "page")
"""Columns of every chunk that a caller may name."""

IDS = ("id", "document_id", "parent_id")
"""Columns of every chunk that only filters made by parts name."""

MAX_DEPTH = 16
"""Levels of AND, OR and NOT within each other; Lance's own parser gives up between 48 and 100."""

MAX_PATTERN = 1000
"""Characters of a LIKE pattern: with it a match takes time in proportion to the text."""

MAX_PAGE = 2**53
"""Whole numbers up to here are exact as they come from the parser, and fit a store's column."""


def narrowed(where: Filter | None, to: Filter) -> Filter:
    """Both of two filters; the second alone where there is no first."""
    return to if where is None else And((where, to))


# --- evaluated --------------------------------------------------------------------------------------------------------


def holds(where: Filter, row: Mapping[str, Any]) -> bool:
    """Whether a row passes; one of which the filter is neither true nor false does not."""
    return _truth(where, row, _order) is True


def resolve(
    where: Filter, metadata: Callable[[], Mapping[str, Mapping[str, Value]]], *, columns: Collection[str] = COLUMNS
) -> Filter:
    """The filter in columns of chunks only; `metadata` (by document id) is called for a field that is not in `columns`.

    Raises UnknownSetting for a field that no document has.
    """
    documents = cache(metadata)

    def resolved(node: Filter, *, negated: bool) -> Filter:
        # NOT is carried down to the comparisons: only there is it known what a document lacks.
        match node:
            case Not(operand):
                return resolved(operand, negated=not negated)
            case And(operands) | Or(operands):
                parts = tuple(resolved(operand, negated=negated) for operand in operands)
                return And(parts) if isinstance(node, And) != negated else Or(parts)
            case _ if node.field in columns:
                return Not(node) if negated else node
            case IsNull() if not negated:
                return Not(resolved(node, negated=True))  # those that have a field are usually fewer
        known = {field for fields in documents().values() for field in fields}
        if node.field not in known:
            raise UnknownSetting(node.field, {*COLUMNS, *known}.difference(IDS), kind="field in `where`")
        wanted = not negated
        ids = (id_ for id_, fields in documents().items() if _truth(node, fields, _loose_order) is wanted)
        return In("document_id", tuple(sorted(ids)))

    return resolved(where, negated=False)


def _truth(where: Filter, row: Mapping[str, Any], order: Callable[[Any, Any], int]) -> bool | None:
    """True, false or neither; `order(one, other)` is -1, 0 or 1."""
    match where:
        case Not(operand):
            inner = _truth(operand, row, order)
            return None if inner is None else not inner
        case And(operands) | Or(operands):
            decisive = isinstance(where, Or)
            truths = {_truth(operand, row, order) for operand in operands}
            return decisive if decisive in truths else None if None in truths else not decisive
        case IsNull(field):
            return row.get(field) is None
        case In(_, ()):
            return False
    stored = row.get(where.field)
    if stored is None:
        return None
    match where:
        case In(_, values):
            return any(order(stored, value) == 0 for value in values)
        case Like(_, pattern, ignore_case):
            return _like(pattern, ignore_case).fullmatch(_text(stored)) is not None
        case Comparison(_, operator, value):
            signs = {"=": (0,), "!=": (-1, 1), "<": (-1,), "<=": (-1, 0), ">": (1,), ">=": (0, 1)}
            return order(stored, value) in signs[operator]


def _order(stored: Any, value: Any) -> int:
    return int(stored > value) - int(stored < value)


def _loose_order(stored: Any, value: Any) -> int:
    """As numbers when both are finite numbers (text that reads as one included), otherwise as text."""
    try:
        left, right = float(stored), float(value)
        if math.isfinite(left) and math.isfinite(right):
            return _order(left, right)
    except (TypeError, ValueError, OverflowError):
        pass
    return _order(_text(stored), _text(value))


def _text(value: Any) -> str:
    """A value as text, true and false as they are written in a filter and in JSON."""
    return str(value).lower() if isinstance(value, bool) else str(value)


_MARKS = re.compile(r"\\(.)|(.)", re.DOTALL)


@lru_cache(maxsize=128)
def _like(pattern: str, ignore_case: bool) -> re.Pattern[str]:
    """A LIKE pattern as a regular expression: what stands between two % is found leftmost, and never looked for again.

    So the time is at most (characters of the text) x (characters of the pattern).
    """
    segments = [""]
    for escaped, mark in _MARKS.findall(pattern):
        if mark == "%":
            segments.append("")
        else:
            segments[-1] += "." if mark == "_" else re.escape(escaped or mark)
    first, *between = segments
    last = f".*{between.pop()}" if between else ""
    atomic = "".join(f"(?>.*?{segment})" for segment in between if segment)
    return re.compile(f"{first}{atomic}{last}", re.DOTALL | (re.IGNORECASE if ignore_case else 0))


# --- parsed -----------------------------------------------------------------------------------------------------------


class _Unusable(Exception):
    """The fault of a filter, as the rest of a sentence that begins with "the filter"."""


def parse(text: str) -> Filter:
    """The filter that a caller wrote; UsageError for what is not such an expression."""
    import sqlglot
    from sqlglot.errors import SqlglotError

    try:
        trees = sqlglot.parse(text, read="duckdb")
        if len(trees) != 1 or trees[0] is None:
            raise _Unusable("is not one condition")
        return _parsed(trees[0], depth=0)
    except (_Unusable, SqlglotError, RecursionError) as error:
        deep = isinstance(error, RecursionError)
        what = str(error) if isinstance(error, _Unusable) else "is nested too deep" if deep else "cannot be read"
        example = "write it like: kind = 'pdf' AND page <= 3"
        raise UsageError(f"the filter {what}", subject=f"`where` {text!r}", next_step=example) from error


def of_documents(text: str) -> Filter:
    """The filter of documents that somebody wrote; UsageError for what is none, and for one of pages."""
    where = parse(text)
    if "page" in fields_of(where):
        step = "name source, title, kind, added, date or a field of the metadata"
        raise UsageError("is no field of whole documents", subject="page", next_step=step)
    return where


def fields_of(where: Filter) -> set[str]:
    """The fields that a filter names."""
    match where:
        case Not(operand):
            return fields_of(operand)
        case And(operands) | Or(operands):
            return {field for operand in operands for field in fields_of(operand)}
    return {where.field}


def _parsed(node: exp.Expression, *, depth: int) -> Filter:
    from sqlglot import exp

    if depth > MAX_DEPTH:
        raise _Unusable("is nested too deep")
    if node.args.get("negate"):  # `x NOT IN (...)` in versions of sqlglot that have no node of its own for it
        node = node.copy()
        node.set("negate", None)
        return Not(_parsed(node, depth=depth))
    match node:
        case exp.Paren():
            return _parsed(node.this, depth=depth)
        case exp.Not():
            return Not(_parsed(node.this, depth=depth + 1))
        case exp.And() | exp.Or():
            # A chain of a thousand ORs is one level here; as nested pairs it would be too deep for a store.
            parts = tuple(_parsed(part, depth=depth + 1) for part in node.flatten(unnest=False))
            return And(parts) if isinstance(node, exp.And) else Or(parts)
        case _:
            return _condition(node)


def _condition(node: exp.Expression) -> Filter:
    from sqlglot import exp

    if not isinstance(node.this, exp.Column) or node.this.table:
        raise _Unusable("compares something other than a field with a value")
    field = node.this.name
    match node:
        case exp.In() if node.expressions:
            return In(field, tuple(_value(field, value) for value in node.expressions))
        case exp.Between():
            low, high = (_value(field, node.args[bound]) for bound in ("low", "high"))
            return And((Comparison(field, ">=", low), Comparison(field, "<=", high)))
        case exp.Like() | exp.ILike():
            pattern = str(_checked(field, str(_literal(node.expression))))
            if len(pattern) > MAX_PATTERN:
                raise _Unusable(f"has a LIKE pattern of more than {MAX_PATTERN:,} characters")
            return Like(field, pattern, ignore_case=isinstance(node, exp.ILike))
        case exp.Is() if isinstance(node.expression, exp.Null):
            return IsNull(field)
        case exp.EQ() | exp.NEQ() | exp.LT() | exp.LTE() | exp.GT() | exp.GTE():
            return Comparison(field, _OPERATORS[type(node).__name__], _value(field, node.expression))
        case _:
            raise _Unusable(f"uses {type(node).__name__.upper()}, which is not one of = != < <= > >= LIKE IN")


_OPERATORS: dict[str, Operator] = {"EQ": "=", "NEQ": "!=", "LT": "<", "LTE": "<=", "GT": ">", "GTE": ">="}


def _value(field: str, node: exp.Expression) -> Value:
    return _checked(field, _literal(node))


def _literal(node: exp.Expression) -> Value:
    from sqlglot import exp

    match node:
        case exp.Neg():
            inner = _literal(node.this)
            if isinstance(inner, (int, float)):
                return -inner
        case exp.Boolean():
            return bool(node.this)
        case exp.Literal() if node.is_string:
            return str(node.this)
        case exp.Literal():
            number = float(node.this)
            if not math.isfinite(number):
                raise _Unusable(f"holds {node.this}, which is not a finite number")
            return int(number) if number.is_integer() else number
    raise _Unusable("compares a field with something that is not a value (put text in single quotes)")


def _checked(field: str, value: Value) -> Value:
    """A value that the field can be compared with; fields of the documents' own can with any."""
    if field == "page":
        if isinstance(value, (str, bool)) or not float(value).is_integer() or abs(value) > MAX_PAGE:
            raise _Unusable(f"compares page, which is a whole number, with {value!r}")
    elif field in COLUMNS and not isinstance(value, str):
        raise _Unusable(f"compares {field}, which is text, with {value!r} (put it in single quotes)")
    return value
