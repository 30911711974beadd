"""Small files as rows of a table: data of a collection or home beside its tables, shared by all its servers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import psycopg
from psycopg import sql

from thresher.home.places import check_name, held_too_long
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
    """The files of a schema or a folder in it (implements `Files`); the first file makes the schema."""

    def __init__(self, database: Database, schema: str, folder: str = "") -> None:
        """`folder` is empty or ends with a slash."""
        self._database = database
        self._schema = schema
        self._folder = folder

    def read(self, name: str) -> bytes | None:
        """The content; None if there is no such file."""
        row = self._execute("SELECT content FROM {files} WHERE name = %s", [self._path(name)], subject=name)
        return bytes(row[0][0]) if row else None

    def write(self, name: str, content: bytes, *, durable: bool = False) -> None:
        """Write in one transaction, as durable as all others."""
        self._execute(_WRITE, [self._path(name), content], subject=name, make=True)

    def create(self, name: str, content: bytes) -> bool:
        """Write a new file; False if it exists."""
        inserting = "INSERT INTO {files} (name, content) VALUES (%s, %s) ON CONFLICT DO NOTHING RETURNING name"
        return bool(self._execute(inserting, [self._path(name), content], subject=name, make=True))

    def find(self, name: str) -> StoredFile | None:
        """Metadata of a file; None if there is no such file."""
        rows = self._execute(_FIND, [self._path(name)], subject=name)
        return StoredFile(name, *rows[0]) if rows else None

    def list(self, prefix: str = "") -> Sequence[StoredFile]:
        """The files whose names begin with the prefix, the oldest first."""
        rows = self._execute(_LIST, [self._folder + prefix], subject=prefix or "the files")
        return [StoredFile(name[len(self._folder) :], size, modified) for name, size, modified in rows]

    def remove(self, names: Iterable[str]) -> None:
        """Remove files; missing ones are ignored."""
        paths = [self._path(name) for name in names]
        if paths:
            self._execute("DELETE FROM {files} WHERE name = ANY(%s) RETURNING name", [paths], subject="the files")

    @contextmanager
    def lock(self, name: str, seconds: float) -> Iterator[None]:
        """An advisory lock on a dedicated connection, freed at its end, however it comes."""
        from filelock import Timeout

        key = f"{self._schema}/{self._path(name)}"
        try:
            held = locked(self._database, key, seconds, kind=3)
        except Timeout as error:
            raise held_too_long(self.where(name), seconds) from error
        try:
            yield
        finally:
            held.close()

    def below(self, name: str) -> PostgresFiles:
        """The files in a folder."""
        return PostgresFiles(self._database, self._schema, f"{self._path(name)}/")

    def where(self, name: str) -> str:
        """The name and its schema."""
        return f"{self._path(name)} in schema {self._schema}"

    def _path(self, name: str) -> str:
        check_name(name)
        return self._folder + name

    def _execute(
        self, statement: str, values: Sequence[Any], *, subject: str, make: bool = False
    ) -> Sequence[tuple[Any, ...]]:
        """The rows of a statement; reading and removing find nothing in a missing schema and do not make it."""
        with store_errors(subject):
            if self._schema not in self._database.migrated:
                if not make and not migrations.is_made(self._database, self._schema):
                    return []
                migrations.migrate(self._database, self._schema)
            try:
                return self._rows(statement, values)
            except (psycopg.errors.UndefinedTable, psycopg.errors.InvalidSchemaName):  # dropped meanwhile
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
