"""Keyed records on PostgreSQL: one table, every change one transaction."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from psycopg import sql

from thresher_postgres.connection import Connection, Database, store_errors

TYPES = {"text": 'text COLLATE "C"', "whole": "bigint"}
"""Text compares by code points, as in Python, whatever the database's language."""


def has(connection: Connection, schema: str, name: str, columns: Iterable[str]) -> bool:
    """Whether the table exists with all columns; needs no right to change anything."""
    query = "SELECT attname FROM pg_attribute WHERE attrelid = to_regclass(%s) AND attnum > 0 AND NOT attisdropped"
    return set(columns) <= {str(column) for (column,) in connection.execute(query, [f'"{schema}"."{name}"'])}


def create(connection: Connection, schema: str, name: str, key: str, columns: Mapping[str, str]) -> None:
    """Make the table, or add missing columns."""
    table = sql.Identifier(schema, name)

    def typed(column: str) -> sql.Composable:
        return sql.SQL("{} {}").format(sql.Identifier(column), sql.SQL(TYPES[columns[column]]))

    listing = sql.SQL("INSERT INTO {} (name) VALUES (%s) ON CONFLICT DO NOTHING")
    # First, as in every change: wait for other writers before locking the table itself.
    connection.execute(listing.format(sql.Identifier(schema, "record_tables")), [name])
    connection.execute(
        sql.SQL("CREATE TABLE IF NOT EXISTS {} ({}, PRIMARY KEY ({}))").format(
            table, sql.SQL(", ").join(map(typed, columns)), sql.Identifier(key)
        )
    )
    for column in columns:
        connection.execute(sql.SQL("ALTER TABLE {} ADD COLUMN IF NOT EXISTS {}").format(table, typed(column)))


class PostgresRecords:
    """Keyed records (implements `Records`)."""

    versions = 1
    """The database keeps only rows that readers still see."""

    def __init__(self, database: Database, schema: str, name: str, *, key: str, columns: Sequence[str]) -> None:
        self._database = database
        self._schema = schema
        self._name = name
        self._key = key
        self._columns = list(columns)
        self._names = {
            "table": sql.Identifier(schema, name),
            "tables": sql.Identifier(schema, "record_tables"),
            "key": sql.Identifier(key),
        }

    def _sql(self, text: str, **more: sql.Composable) -> sql.Composed:
        return sql.SQL(text).format(**self._names, **more)

    @property
    def version(self) -> int:
        """Grows with every change by any process."""
        with store_errors(self._name):
            return self._database.versions(self._schema).get(self._name, 0)

    def rows(self, columns: Sequence[str]) -> list[dict[str, Any]]:
        """All records, with the given columns."""
        wanted = sql.SQL(", ").join(map(sql.Identifier, columns))
        with store_errors(self._name), self._database.connection() as connection:
            found = connection.execute(self._sql("SELECT {wanted} FROM {table}", wanted=wanted)).fetchall()
        return [dict(zip(columns, row, strict=True)) for row in found]

    def get(self, keys: Iterable[str]) -> dict[str, dict[str, Any]]:
        """Whole records by key; missing keys are left out."""
        wanted = list(set(keys))
        if not wanted:
            return {}
        query = self._sql(
            "SELECT {columns} FROM {table} WHERE {key} = ANY(%s)",
            columns=sql.SQL(", ").join(map(sql.Identifier, self._columns)),
        )
        with store_errors(self._name), self._database.connection() as connection:
            found = connection.execute(query, [wanted]).fetchall()
        rows = (dict(zip(self._columns, row, strict=True)) for row in found)
        return {row[self._key]: row for row in rows}

    def merge(self, rows: Sequence[Mapping[str, Any]], *, remove: Iterable[str] = ()) -> None:
        """Insert or replace records by key and remove others, in one transaction."""
        gone = set(remove) - {row[self._key] for row in rows}
        if not rows and not gone:
            return
        with store_errors(self._name), self._database.transaction() as connection:
            self._begin(connection)
            if gone:
                connection.execute(self._sql("DELETE FROM {table} WHERE {key} = ANY(%s)"), [list(gone)])
            if rows:
                connection.cursor().executemany(
                    self._upsert(), [[row.get(name) for name in self._columns] for row in rows]
                )

    def append(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """Add records whose keys are new."""
        self.merge(rows)

    def maintain(self, *, drop_versions: bool = False) -> None:
        """With `drop_versions` rewrite the table, so that its files contain nothing deleted."""
        if drop_versions:
            with store_errors(self._name), self._database.connection() as connection:
                connection.execute(self._sql("VACUUM (FULL, ANALYZE) {table}"))

    def _begin(self, connection: Connection) -> None:
        """Advance the version; other writers of this table wait from here on."""
        connection.execute(self._sql("UPDATE {tables} SET version = version + 1 WHERE name = %s"), [self._name])

    def _upsert(self) -> sql.Composed:
        columns = [sql.Identifier(name) for name in self._columns]
        others = [column for name, column in zip(self._columns, columns, strict=True) if name != self._key]
        replaced = [sql.SQL("{0} = EXCLUDED.{0}").format(column) for column in others or [sql.Identifier(self._key)]]
        return self._sql(
            "INSERT INTO {table} ({columns}) VALUES ({values}) ON CONFLICT ({key}) DO UPDATE SET {replaced}",
            columns=sql.SQL(", ").join(columns),
            values=sql.SQL(", ").join([sql.Placeholder()] * len(columns)),
            replaced=sql.SQL(", ").join(replaced),
        )
