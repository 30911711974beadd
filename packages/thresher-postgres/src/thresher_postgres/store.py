"""The store on PostgreSQL: a collection's tables in their own schema, shared by several servers."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from re import fullmatch

from psycopg import errors, sql

from thresher.errors import StoreError
from thresher_postgres import chunks, migrations, records, views
from thresher_postgres.chunks import ANN_ROWS, PostgresChunkTable
from thresher_postgres.connection import Connection, SharedLock, connected, store_errors
from thresher_postgres.files import PostgresFiles
from thresher_postgres.records import PostgresRecords

LONGEST_NAME = 63
"""Longest name in PostgreSQL, in bytes; longer ones are truncated and may collide."""


def schema_name(prefix: str, collection: str, tenant: str = "") -> str:
    """The schema of a collection: plain and short names as they are, others with a hash."""
    name = f"{_with_tenant(prefix, tenant)}_{collection}"
    if fullmatch("[a-z_][a-z0-9_]*", f"{prefix}_{collection}") and len(name) <= LONGEST_NAME:
        return name
    kept = "".join(mark if mark.isascii() and mark.isalnum() else "_" for mark in name.lower())  # no dollar
    return f"{kept[:40]}_{sha256(name.encode()).hexdigest()[:16]}"


def _with_tenant(prefix: str, tenant: str) -> str:
    """The prefix with the tenant; no collection's name contributes a dollar sign."""
    return f"{prefix}${tenant}" if tenant else prefix


def home_files(dsn: str, prefix: str, tenant: str = "") -> PostgresFiles:
    """Files shared by all homes of a database, prefix and tenant, in a schema that no collection has."""
    return PostgresFiles(connected(dsn, tenant), f"{_with_tenant(prefix, tenant)}$home")


class PostgresStore:
    """A schema of a database (implements `Store`); every read sees the last committed state."""

    def __init__(self, dsn: str, schema: str, *, tenant: str = "", ann_rows: int = ANN_ROWS) -> None:
        """`tenant` is the role that owns the schema; if empty, the role of the dsn."""
        self._database = connected(dsn, tenant)
        self._schema = schema
        self._ann_rows = ann_rows

    @property
    def exists(self) -> bool:
        """Whether anything was ever stored here; a question asks first, and sees the versions of this moment."""
        with store_errors(self._schema):
            if self._schema not in self._database.migrated:
                return migrations.is_made(self._database, self._schema)
            try:
                self._database.versions(self._schema, now=True)
            except errors.UndefinedTable:  # dropped by another process
                return False
        return True

    @property
    def files(self) -> PostgresFiles:
        """The collection's other files, in the same schema."""
        return PostgresFiles(self._database, self._schema)

    def close(self) -> None:
        """Close idle connections; the store stays usable."""
        self._database.close()

    def shared_lock(self, name: str, seconds: float) -> SharedLock:
        """The lock `commit` or `upkeep`, held by one process on any machine; waits up to `seconds`."""
        self._migrate()
        return SharedLock(self._database, self._schema, name, seconds)

    def drop(self) -> None:
        """Remove the schema and its contents."""
        dropping = sql.SQL("DROP SCHEMA IF EXISTS {} CASCADE").format(sql.Identifier(self._schema))
        with store_errors(self._schema), self._database.transaction() as connection:
            connection.execute(dropping)
        self._database.migrated.discard(self._schema)

    def records(self, name: str, *, key: str, columns: Mapping[str, str]) -> PostgresRecords:
        """A table of records, made if missing; columns that an older table lacks are added."""
        self._migrate()
        with store_errors(name), self._database.transaction() as connection:
            if not records.has(connection, self._schema, name, columns):
                self._alone(connection)
                if not records.has(connection, self._schema, name, columns):  # still missing
                    records.create(connection, self._schema, name, key, columns)
                    migrations.protect(connection, self._schema, self._database.tenant)
        return PostgresRecords(self._database, self._schema, name, key=key, columns=list(columns))

    def chunk_tables(self) -> set[str]:
        """Names of the chunk tables."""
        self._migrate()
        return set(self._dimensions())

    def create(self, name: str, *, dimension: int) -> None:
        """Make an empty chunk table; an existing one does not change."""
        self._migrate()
        with store_errors(name), self._database.transaction() as connection:
            self._alone(connection)
            if chunks.create(connection, self._schema, name, dimension):
                views.create(connection, self._schema, sorted({*self._dimensions(connection), name}))
                migrations.protect(connection, self._schema, self._database.tenant)

    def open(self, name: str) -> PostgresChunkTable:
        """An existing chunk table. Raises StoreError."""
        self._migrate()
        dimension = self._dimensions().get(name)
        if dimension is None:
            raise StoreError("no such table", subject=name, next_step="index the documents again")
        return PostgresChunkTable(self._database, self._schema, name, dimension=dimension, ann_rows=self._ann_rows)

    def discard(self, name: str) -> None:
        """Remove a chunk table; nothing where it is not there."""
        self._migrate()
        with store_errors(name), self._database.transaction() as connection:
            self._alone(connection)
            if left := sorted(self._dimensions(connection).keys() - {name}):
                views.create(connection, self._schema, left)
                migrations.protect(connection, self._schema, self._database.tenant)
            chunks.discard(connection, self._schema, name)  # with the view, where it was of this table alone

    def bytes_of(self, name: str) -> int:
        """What a chunk table that exists takes on disk, with its indexes."""
        size = "pg_total_relation_size(to_regclass(format('%%I.%%I', %s::text, part)))"
        query = f"SELECT sum({size}) FROM unnest(%s::text[]) AS part"
        parts = [name, *(f"{name}_{part}" for part in ("vectors", "terms", "postings"))]
        with store_errors(name), self._database.connection() as connection:
            row = connection.execute(query, [self._schema, parts]).fetchone()
        return int((row and row[0]) or 0)

    def _migrate(self) -> None:
        with store_errors(self._schema):
            migrations.migrate(self._database, self._schema)

    def _alone(self, connection: Connection) -> None:
        """Exclude other makers of tables in this schema until the transaction ends: equal tables would collide."""
        connection.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 2))", [self._schema])

    def _dimensions(self, connection: Connection | None = None) -> dict[str, int]:
        if connection is None:
            with store_errors(self._schema), self._database.connection() as own:
                return self._dimensions(own)
        query = sql.SQL("SELECT name, dimension FROM {}").format(sql.Identifier(self._schema, "chunk_tables"))
        return {str(name): int(dimension) for name, dimension in connection.execute(query)}
