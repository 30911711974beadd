"""The `where` language: comparisons on metadata, joined with AND, OR, NOT and parentheses.

    kind = 'pdf' AND (date >= '2019' OR title LIKE '%BERT%') AND page <= 3 AND year > 2018

`source`, `title`, `kind`, `added`, `date` and `page` are columns of every chunk. Any other name is a field of the
documents' own metadata: such a comparison is evaluated on the documents here, numbers as numbers, and becomes a list of
document ids, so that no table needs a column per field. Parsed by sqlglot; nothing the caller wrote reaches the store
as text.

As in SQL, a comparison with what a document does not have is neither true nor false: `page = 1` and `NOT page = 1` both
leave out documents without pages, `year > 2018` and `NOT year > 2018` documents without a year. In LIKE, % stands for
any run, _ for any one character, and a backslash takes the meaning from the mark after it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from thresher.errors import UnknownSetting, UsageError
from thresher.types import Chunk, Metadata

if TYPE_CHECKING:
    from sqlglot import exp

COLUMNS = ("source", "title", "kind", "added", "date", "page")

MAX_DEPTH = 16
"""Levels of AND, OR and NOT within each other; the store's own parser gives up between 48 and 100."""

MAX_PAGE = 2**53
"""Whole numbers up to here are exact as they come from the parser, and fit the store's column."""

_MARKS = re.compile(r"\\(.)|(.)", re.DOTALL)

MetadataByDocument = Mapping[str, Metadata]


def to_filter(expression: str, metadata: Callable[[], MetadataByDocument]) -> str:
    """The filter in the store's SQL; `metadata` is only called when a field of the documents' own is named.

    Raises UsageError for what is not such an expression and UnknownSetting for a field that no document has.
    """
    import sqlglot
    from sqlglot import errors

    try:
        trees = sqlglot.parse(expression, read="duckdb")
        if len(trees) != 1 or trees[0] is None:
            raise _unusable(expression, "is not one condition")
        return _translate(trees[0], expression, _Fields(metadata), negated=False, depth=0)
    except errors.SqlglotError as error:
        raise _unusable(expression, "cannot be read") from error
    except RecursionError as error:
        raise _unusable(expression, "is nested too deep") from error


class _Fields:
    """The documents' own metadata, fetched once and only when needed."""

    def __init__(self, fetch: Callable[[], MetadataByDocument]) -> None:
        self._fetch = fetch
        self._fetched: MetadataByDocument | None = None

    @property
    def by_document(self) -> MetadataByDocument:
        if self._fetched is None:
            self._fetched = self._fetch()
        return self._fetched

    def documents_where(self, name: str, holds: Callable[[Any], bool]) -> str:
        """An SQL condition that is true for the chunks of the documents whose field `name` passes."""
        known = {field for fields in self.by_document.values() for field in fields}
        if name not in known:
            raise UnknownSetting(name, [*COLUMNS, *known], kind="field in `where`")
        ids = sorted(
            document for document, fields in self.by_document.items() if name in fields and holds(fields[name])
        )
        quoted = ", ".join(f"'{document}'" for document in ids)
        return f"document_id IN ({quoted})" if ids else "false"


def _translate(node: exp.Expression, whole: str, fields: _Fields, *, negated: bool, depth: int) -> str:
    """The store's SQL; NOT is carried down to the comparisons: only there is it known what a document lacks."""
    from sqlglot import exp

    if depth > MAX_DEPTH:
        raise _unusable(whole, "is nested too deep")
    if node.args.get("negate"):  # `x NOT IN (...)` in versions of sqlglot that have no node of its own for it
        node, negated = node.copy(), not negated
        node.set("negate", None)
    match node:
        case exp.Paren():
            return _translate(node.this, whole, fields, negated=negated, depth=depth)
        case exp.Not():
            return _translate(node.this, whole, fields, negated=not negated, depth=depth + 1)
        case exp.And() | exp.Or():
            joiner = " AND " if isinstance(node, exp.And) != negated else " OR "
            # A chain of a thousand ORs is one level here; as nested pairs it would be too deep for the store.
            parts = [
                _translate(part, whole, fields, negated=negated, depth=depth + 1) for part in node.flatten(unnest=False)
            ]
            return f"({joiner.join(parts)})"
        case _:
            return _comparison(node, whole, fields, negated=negated)


def _comparison(node: exp.Expression, whole: str, fields: _Fields, *, negated: bool) -> str:
    """One comparison; every shape is given twice: as the store's SQL and as a test on a Python value."""
    from sqlglot import exp

    column = node.this if isinstance(node.this, exp.Column) else None
    if column is None or column.table:
        raise _unusable(whole, "compares something other than a field with a value")
    name = column.name
    holds: Callable[[Any], bool]
    values: list[str | float | bool]
    match node:
        case exp.In() if node.expressions:
            values = [_literal(value, whole) for value in node.expressions]
            sql, holds = f"IN ({', '.join(map(_quoted, values))})", lambda found: any(_equal(found, v) for v in values)
        case exp.Between():
            low, high = values = [_literal(node.args["low"], whole), _literal(node.args["high"], whole)]
            sql = f"BETWEEN {_quoted(low)} AND {_quoted(high)}"
            holds = lambda found: _ordered(found, low) >= 0 and _ordered(found, high) <= 0  # noqa: E731
        case exp.Like() | exp.ILike():
            values = [pattern := str(_literal(node.expression, whole))]
            sql = f"{'ILIKE' if isinstance(node, exp.ILike) else 'LIKE'} {_quoted(pattern)}"
            matcher = _like(pattern, ignore_case=isinstance(node, exp.ILike))
            holds = lambda found: matcher.fullmatch(_text(found)) is not None  # noqa: E731
        case exp.Is() if isinstance(node.expression, exp.Null):
            null = f"{name} IS NULL" if name in COLUMNS else f"(NOT {fields.documents_where(name, lambda _: True)})"
            return f"(NOT {null})" if negated else null
        case exp.EQ() | exp.NEQ() | exp.LT() | exp.LTE() | exp.GT() | exp.GTE():
            values = [value := _literal(node.expression, whole)]
            sign, holds = _SIGNS[type(node).__name__](value)
            sql = f"{sign} {_quoted(value)}"
        case _:
            raise _unusable(whole, f"uses {type(node).__name__.upper()}, which is not one of = != < <= > >= LIKE IN")
    if name not in COLUMNS:
        return fields.documents_where(name, lambda found: holds(found) != negated)
    for value in values:
        _check_type(name, value, whole)
    return f"(NOT {name} {sql})" if negated else f"{name} {sql}"


def _check_type(name: str, value: str | float | bool, whole: str) -> None:
    """Raise UsageError for a value that the column cannot be compared with."""
    if name != "page" and not isinstance(value, str):
        raise _unusable(whole, f"compares {name}, which is text, with {_quoted(value)} (put it in single quotes)")
    if name == "page" and (isinstance(value, (str, bool)) or not float(value).is_integer() or abs(value) > MAX_PAGE):
        raise _unusable(whole, f"compares page, which is a whole number, with {_quoted(value)}")


_SIGNS: dict[str, Callable[[Any], tuple[str, Callable[[Any], bool]]]] = {
    "EQ": lambda value: ("=", lambda found: _equal(found, value)),
    "NEQ": lambda value: ("!=", lambda found: not _equal(found, value)),
    "LT": lambda value: ("<", lambda found: _ordered(found, value) < 0),
    "LTE": lambda value: ("<=", lambda found: _ordered(found, value) <= 0),
    "GT": lambda value: (">", lambda found: _ordered(found, value) > 0),
    "GTE": lambda value: (">=", lambda found: _ordered(found, value) >= 0),
}


def _literal(node: exp.Expression, whole: str) -> str | float | bool:
    from sqlglot import exp

    if isinstance(node, exp.Neg):
        inner = _literal(node.this, whole)
        if isinstance(inner, (int, float)):
            return -inner
    if isinstance(node, exp.Boolean):
        return bool(node.this)
    if isinstance(node, exp.Literal):
        return str(node.this) if node.is_string else _number(str(node.this), whole)
    raise _unusable(whole, "compares a field with something that is not a value (put text in single quotes)")


def _number(text: str, whole: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise _unusable(whole, f"holds {text}, which is not a finite number")
    return int(value) if value.is_integer() else value


def _quoted(value: str | float | bool) -> str:
    """A value as an SQL literal."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (int, float)):
        return repr(value)
    escaped = value.replace("'", "''")
    return f"'{escaped}'"


def _equal(found: Any, value: Any) -> bool:
    return _ordered(found, value) == 0


def _ordered(found: Any, value: Any) -> int:
    """-1, 0 or 1; as numbers when both are numbers (text that reads as one included), otherwise as text."""
    left, right = _finite(found), _finite(value)
    if left is None or right is None:
        return (_text(found) > _text(value)) - (_text(found) < _text(value))
    return (left > right) - (left < right)


def _finite(value: Any) -> float | None:
    """A value as a number; None for what is none ("nan", which equals nothing and everything, is text here)."""
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def _text(value: Any) -> str:
    """A value as text, true and false as they are written in a filter and in JSON."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _like(pattern: str, *, ignore_case: bool) -> re.Pattern[str]:
    """SQL LIKE as a regular expression: % any run, _ any one character, a backslash makes the next mark plain."""
    parts = []
    for escaped, mark in _MARKS.findall(pattern):
        plain = re.escape(escaped or mark)
        parts.append(plain if escaped else {"%": ".*", "_": "."}.get(mark, plain))
    return re.compile("".join(parts), re.DOTALL | (re.IGNORECASE if ignore_case else 0))


def _unusable(expression: str, what: str) -> UsageError:
    return UsageError(
        f"the filter {what}", subject=f"`where` {expression!r}", next_step="write it like: kind = 'pdf' AND page <= 3"
    )


# --- filters that look among some rows only ---------------------------------------------------------------------------


def within(column: str, values: Sequence[str], where: str | None = None) -> str:
    """The filter that holds for rows with one of the values in a column, and for which `where` holds too."""
    listed = ", ".join("'" + value.replace("'", "''") + "'" for value in values)
    among = f"{column} IN ({listed})"
    return among if where is None else f"({where}) AND {among}"


def children_of(chunks: Sequence[Chunk], where: str | None = None) -> str:
    """The filter that holds for the subchunks of some chunks, and for which `where` holds too."""
    documents = list(dict.fromkeys(chunk.document_id for chunk in chunks))
    # Says nothing new, but documents are in an index and parents are not: half the time at 20,000 subchunks.
    return within("parent_id", [chunk.id for chunk in chunks], within("document_id", documents, where))
