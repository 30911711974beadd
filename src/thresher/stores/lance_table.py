"""Common to all Lance tables: version, errors in our words, upkeep, filters as Lance's SQL.

Lance appends and merges are atomic: a reader never sees half of a change, a killed writer leaves the version before.
"""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from datetime import UTC, datetime, timedelta
from functools import wraps
from pathlib import Path
from typing import Any, ClassVar, Concatenate, ParamSpec, TypeAlias, TypeVar

from thresher.errors import StoreError
from thresher.stores.lance_upkeep import bring_up, drop_versions_before, join_files, rewrite, tidy
from thresher.types import And, Comparison, Filter, In, IsNull, Like, Not, Or

_log = logging.getLogger(__name__)

RETENTION = timedelta(hours=1)
"""Old versions are kept this long, for readers that began with them, but no more of a table than `KEPT_VERSIONS`."""

KEPT_VERSIONS = 30
"""Versions of a table that upkeep keeps, about five changes of a file; a reader of an older one begins again. After 100
changes of one small file 544 files and 0.5 MB are left, 6122 and 6.2 without this bound."""

KEY_INDEX_ROWS = 5000
"""Records from which their key is indexed; fewer are looked through in a few milliseconds."""

READ_ATTEMPTS = 20
"""Upkeep takes the version away that a slow reader is looking at; the reader starts again with the newest."""

P = ParamSpec("P")
R = TypeVar("R")


# --- errors -----------------------------------------------------------------------------------------------------------

_WHERE_IN_LANCE = re.compile(r", \S+\.rs:\d+.*")
_DISK_FULL = re.compile("No space left|File too large|[Qq]uota exceeded")


def store_error(subject: str, error: Exception) -> StoreError:
    """Lance's errors in our words. It has one class for everything from a full disk to a damaged file."""
    text = str(error)
    if _DISK_FULL.search(text):
        advice = "free some space and run again: what was committed is kept"
        return StoreError("the disk is full", subject=subject, next_step=advice)
    what = _WHERE_IN_LANCE.sub("", " ".join(text.split()).removeprefix("lance error: "))
    return StoreError(f"cannot be read or written ({what[:300]})", subject=subject, next_step="call `doctor()`")


InOurWords: TypeAlias = Callable[[str, Exception], StoreError]
"""What makes an error about a subject of one that Lance raised."""


@contextmanager
def store_errors(subject: str, in_our_words: InOurWords = store_error) -> Iterator[None]:
    """Turn Lance's errors into a StoreError about the subject."""
    try:
        yield
    except (RuntimeError, OSError, ValueError) as error:
        raise in_our_words(subject, error) from error


def attempts(table: LanceTable) -> Iterator[AbstractContextManager[None]]:
    """Blocks to read a table in, until one ends well: each begins at the newest version, if the one before went."""
    for attempt in range(READ_ATTEMPTS):
        last = attempt == READ_ATTEMPTS - 1
        if attempt:
            with _attempt(table, last=last):  # the newest may go, too
                table.refresh()  # a bucket is asked for a newer version every few seconds only
        yield _attempt(table, last=last)


@contextmanager
def _attempt(table: LanceTable, *, last: bool) -> Iterator[None]:
    try:
        yield
    except (RuntimeError, OSError, ValueError) as error:
        words = str(error).lower()
        is_gone = "not found" in words or "no fragment with id" in words
        if last or not is_gone:
            raise table.in_our_words(table.name, error) from error


def reading(method: Callable[Concatenate[Any, P], R]) -> Callable[Concatenate[Any, P], R]:
    """A read that begins again, at the newest version, when the one it was reading is purged meanwhile."""

    @wraps(method)
    def read(self: Any, /, *args: P.args, **options: P.kwargs) -> R:
        for attempt in attempts(self):
            with attempt:
                return method(self, *args, **options)
        raise AssertionError("the last attempt returns or raises")

    return read


def writing(method: Callable[Concatenate[Any, P], R]) -> Callable[Concatenate[Any, P], R]:
    """A change whose failure is a StoreError."""

    @wraps(method)
    def write(self: Any, /, *args: P.args, **options: P.kwargs) -> R:
        self.check()
        with store_errors(self.name, self.in_our_words):
            return method(self, *args, **options)

    return write


# --- filters ----------------------------------------------------------------------------------------------------------


def to_sql(where: Filter) -> str:
    """A filter in the SQL of Lance's `where`."""
    match where:
        case Not(operand):
            return f"(NOT {to_sql(operand)})"
        case And(()):
            return "true"
        case Or(()) | In(_, ()):
            return "false"
        case And(operands):
            return f"({' AND '.join(map(to_sql, operands))})"
        case Or(operands):
            return f"({' OR '.join(map(to_sql, operands))})"
    if not where.field.isidentifier():
        raise StoreError("is not a column", subject=f"filter on {where.field!r}", next_step="resolve the filter first")
    match where:
        case IsNull(field):
            return f"{field} IS NULL"
        case In(field, values):
            return f"{field} IN ({', '.join(map(_literal, values))})"
        case Like(field, pattern, ignore_case):
            return f"{field} {'ILIKE' if ignore_case else 'LIKE'} {_literal(pattern)}"
        case Comparison(field, operator, value):
            return f"{field} {operator} {_literal(value)}"


def one_of(field: str, values: Iterable[str]) -> str:
    """The SQL for rows with one of the values, at least one, in a column."""
    return to_sql(In(field, tuple(sorted(values))))


def _literal(value: str | float | bool) -> str:
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    return repr(value).lower()


# --- tables -----------------------------------------------------------------------------------------------------------


class LanceTable:
    """What records and chunks have in common."""

    FILE_ROWS: ClassVar[int]
    """Rows of a file at most that is joined from smaller ones."""

    _key: str
    """A text column that every row has."""

    in_our_words: InOurWords = staticmethod(store_error)
    """How its errors are worded."""

    check: Callable[[], None] = staticmethod(lambda: None)
    """Raises StoreError where nothing may be written here any more, such as when a lease was lost."""

    check_upkeep: Callable[[], None] = staticmethod(lambda: None)
    """The same of upkeep, which has a lock of its own."""

    def __init__(self, table: Any, folder: Path) -> None:
        self._table = table
        self._manifests = folder / f"{table.name}.lance" / "_versions"
        self.large_rows = self.FILE_ROWS
        """A table of more rows is kept up by increments, for which pylance is needed."""
        self._seen: tuple[frozenset[str], int] = frozenset(), -1
        """What was in the folder of versions, and which was the newest then."""

    @property
    def name(self) -> str:
        """Name of the table."""
        return str(self._table.name)

    def refresh(self) -> None:
        """Let the next read show the newest version, where that is looked for every few seconds only."""
        self._table.checkout_latest()

    @property
    def version(self) -> int:
        """Grows with every change, whoever made it; Lance is asked only when the folder of versions has changed."""
        with store_errors(self.name, self.in_our_words):
            try:
                # Listed before Lance is asked: a commit in between is then seen at the next call, never overlooked.
                names = frozenset(os.listdir(self._manifests))
            except OSError:  # a bucket
                return int(self._table.version)
            if not names or names != self._seen[0]:
                self._seen = names, int(self._table.version)
            return self._seen[1]

    @property
    def is_foreign(self) -> bool:
        """Whether a version of it refers to data outside of its own folder, which no table of ours does."""
        from thresher.stores.lance_manifest import names_other_places  # not by who asks

        with store_errors(self.name, self.in_our_words):
            return any(names_other_places(file.read_bytes()) for file in self._manifests.glob("*.manifest"))

    @property
    @reading
    def versions(self) -> int:
        """How many versions are kept, the newest included; upkeep of another process may drop some meanwhile."""
        return len(list(self._table.list_versions()))

    def maintain(self, *, drop_versions: bool = False) -> None:
        """Bring the indexes up to date, join small files and drop old versions; one process at a time.

        `drop_versions` drops all versions and every deleted row: then nobody else may change the table. Raises
        MissingExtra for one of more than `large_rows` where pylance is not installed.
        """
        with store_errors(self.name, self.in_our_words):
            self.check_upkeep()
            large = int(self._table.count_rows()) > self.large_rows
            if drop_versions and not large:
                rewrite(self._table, self._key)
            self._mend_indexes(anew=drop_versions, large=large)
            self.check_upkeep()
            if large:
                join_files(self._table, rows=self.FILE_ROWS, every_deletion=drop_versions)
                self.check_upkeep()
            retention = timedelta(0) if drop_versions else self._retention()
            _log.debug("%s: compacting; versions older than %.1f s go", self.name, retention.total_seconds())
            # A reader of another version begins again (`reading`).
            (drop_versions_before if large else tidy)(self._table, retention, unfinished=drop_versions)

    def _retention(self) -> timedelta:
        """The age from which versions are dropped: `KEPT_VERSIONS` stay, none for longer than `RETENTION`."""
        versions = self._table.list_versions()
        if len(versions) <= KEPT_VERSIONS:
            return RETENTION
        oldest_kept: datetime = versions[-KEPT_VERSIONS]["timestamp"]  # local time without a zone
        age = datetime.now(UTC) - oldest_kept.astimezone(UTC)
        return min(max(age, timedelta(milliseconds=1)), RETENTION)  # a clock may have been set back

    def _mend_indexes(self, *, anew: bool, large: bool) -> None:
        """Bring the indexes up to the newest row, but those that `tidy` brings up unless the table is `large`.

        `anew` builds them without a trace of deleted rows.
        """
        raise NotImplementedError

    def _indexes(self) -> dict[str, Any]:
        """Lance's report of each index, by its column."""
        return {index.columns[0]: index for index in self._table.list_indices()}

    def _index_by_value(self, columns: Iterable[str], *, anew: bool, large: bool) -> None:
        self._create_by_value(columns, anew=anew)
        if large:
            bring_up(self._table, [f"{column}_idx" for column in columns])

    def _create_by_value(self, columns: Iterable[str], *, anew: bool = False) -> None:
        from lancedb.index import BTree

        there = {} if anew else self._indexes()
        for column in columns:
            if column not in there:
                self._table.create_index(column, config=BTree(), replace=True)


class LanceRecords(LanceTable):
    """Records with a key (implements `Records`)."""

    FILE_ROWS = 8192
    """About 40 MB of documents: what one upkeep writes again at most after a few have changed."""

    def __init__(self, table: Any, folder: Path, *, key: str, again: Callable[[], Any]) -> None:
        """`again` opens the table another time."""
        super().__init__(table, folder)
        self._key = key
        self._again = again

    @reading
    def rows(self, columns: Sequence[str]) -> list[dict[str, Any]]:
        """All rows, the given columns only."""
        rows: list[dict[str, Any]] = self._table.search().select(list(columns)).limit(None).to_list()
        return rows

    @reading
    def get(self, keys: Iterable[str]) -> dict[str, dict[str, Any]]:
        """Whole rows by key; missing keys are left out."""
        wanted = set(keys)
        rows = self._table.search().where(one_of(self._key, wanted)).limit(None).to_list() if wanted else []
        return {row[self._key]: row for row in rows}

    @reading
    def past(self, column: str) -> set[str]:
        """The values of a text column in the versions that are kept besides the newest."""
        other = self._again()
        *older, _ = other.list_versions()
        values: set[str] = set()
        for version in older:
            other.checkout(version["version"])
            values.update(other.search().select([column]).limit(None).to_arrow()[column].unique().to_pylist())
        return values

    @writing
    def merge(self, rows: Sequence[Mapping[str, Any]], *, remove: Iterable[str] = ()) -> None:
        """Insert or replace rows by key and remove others, in one transaction."""
        gone = set(remove)
        if rows:
            merge = self._table.merge_insert(self._key).when_matched_update_all().when_not_matched_insert_all()
            if gone:
                merge = merge.when_not_matched_by_source_delete(one_of(self._key, gone))
            merge.execute(self._arrow(rows))
        elif gone:
            self._table.delete(one_of(self._key, gone))

    @writing
    def append(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """Add rows whose keys are known to be new (cheaper than a merge)."""
        if rows:
            self._table.add(self._arrow(rows))

    def _mend_indexes(self, *, anew: bool, large: bool) -> None:
        if int(self._table.count_rows()) >= KEY_INDEX_ROWS:
            self._index_by_value([self._key], anew=anew, large=large)

    def _arrow(self, rows: Sequence[Mapping[str, Any]]) -> Any:
        import pyarrow as pa

        return pa.Table.from_pylist([dict(row) for row in rows], schema=self._table.schema)
