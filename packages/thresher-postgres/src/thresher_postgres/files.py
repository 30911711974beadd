"""Small files as rows of a table: what a collection or a home keeps besides its tables, shared by all its servers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import psycopg
from psycopg import sql

from thresher.home.files import check_name, held_too_long
from thresher.protocols import StoredFile
from thresher_postgres import migrations
from thresher_postgres.connection import Database, locked, store_errors

_WRITE = """
INSERT INTO {files} AS held (name, content) VALUES (%s, %s)
ON CONFLICT (name) DO UPDATE SET content = EXCLUDED.content, modified = clock_timestamp()
"""

_FIND = "SELECT octet_length(content), extract(epoch FROM modified)::float8 FROM {files} WHERE name = %s"

_LIST = """
SELECT name, octet_length(content), extract(epoch FROM modified)::float8 FROM {files}
WHERE starts_with(name, %s) ORDER BY modified, name
"""


class PostgresFiles:
    """The files of a schema, or of a folder among them (implements `Files`); the schema is made with the first one."""

    def __init__(self, database: Database, schema: str, folder: str = "") -> None:
        """`folder` is empty, or ends in a slash."""
        self._database = database
        self._schema = schema
        self._folder = folder

    def read(self, name: str) -> bytes | None:
        """The content; None where there is no such file."""
        row = self._execute("SELECT content FROM {files} WHERE name = %s", [self._path(name)], subject=name)
        return bytes(row[0][0]) if row else None

    def write(self, name: str, content: bytes, *, durable: bool = False) -> None:
        """In one transaction, which the database keeps as it keeps all others."""
        self._execute(_WRITE, [self._path(name), content], subject=name, make=True)

    def create(self, name: str, content: bytes) -> bool:
        """Write a file that is not there yet; False where it is."""
        inserting = "INSERT INTO {files} (name, content) VALUES (%s, %s) ON CONFLICT DO NOTHING RETURNING name"
        return bool(self._execute(inserting, [self._path(name), content], subject=name, make=True))

    def find(self, name: str) -> StoredFile | None:
        """What is known of a file without its content; None where there is no such file."""
        rows = self._execute(_FIND, [self._path(name)], subject=name)
        return StoredFile(name, *rows[0]) if rows else None

    def list(self, prefix: str = "") -> Sequence[StoredFile]:
        """The files whose names begin with the prefix, the oldest first."""
        rows = self._execute(_LIST, [self._folder + prefix], subject=prefix or "the files")
        return [StoredFile(name[len(self._folder) :], size, modified) for name, size, modified in rows]

    def remove(self, names: Iterable[str]) -> None:
        """Remove files; those that are not there are passed over."""
        paths = [self._path(name) for name in names]
        if paths:
            self._execute("DELETE FROM {files} WHERE name = ANY(%s) RETURNING name", [paths], subject="the files")

    @contextmanager
    def lock(self, name: str, seconds: float) -> Iterator[None]:
        """An advisory lock on a connection of its own, with which it goes, however that ends."""
        key = f"{self._schema}/{self._path(name)}"
        try:
            held = locked(self._database, key, seconds, kind=3)
        except psycopg.errors.LockNotAvailable as error:
            raise held_too_long(self.where(name), seconds) from error
        try:
            yield
        finally:
            held.close()

    def below(self, name: str) -> PostgresFiles:
        """The files in a folder."""
        return PostgresFiles(self._database, self._schema, f"{self._path(name)}/")

    def where(self, name: str) -> str:
        """The schema, and the name in it."""
        return f"{self._path(name)} in schema {self._schema}"

    def _path(self, name: str) -> str:
        check_name(name)
        return self._folder + name

    def _execute(
        self, statement: str, values: Sequence[Any], *, subject: str, make: bool = False
    ) -> Sequence[tuple[Any, ...]]:
        """The rows of a statement; what reads or removes finds nothing in a schema that is not there and makes none."""
        with store_errors(subject):
            if self._schema not in self._database.migrated:
                if not make and not migrations.is_made(self._database, self._schema):
                    return []
                migrations.migrate(self._database, self._schema)
            try:
                return self._rows(statement, values)
            except (psycopg.errors.UndefinedTable, psycopg.errors.InvalidSchemaName):  # another dropped it meanwhile
                self._database.migrated.discard(self._schema)
                if not make:
                    return []
            migrations.migrate(self._database, self._schema)
            return self._rows(statement, values)

    def _rows(self, statement: str, values: Sequence[Any]) -> Sequence[tuple[Any, ...]]:
        query = sql.SQL(statement).format(files=sql.Identifier(self._schema, "files"))
        with self._database.connection() as connection:
            cursor = connection.execute(query, values, binary=True)
            return cursor.fetchall() if cursor.description else []
