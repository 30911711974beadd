"""Makes and migrates the schema of a collection, by the numbered scripts in `scripts/`, each once and atomically.

Tenants are roles: each owns the schemas of its collections, and row-level policies protect every table. Two barriers:
other roles lack the right to use the schema, and with an accidental grant they see no rows and may add none. The
policies also apply to the owner, and only the owner can change them.
"""

from __future__ import annotations

from importlib.resources import files

from psycopg import errors, sql

from thresher.errors import StoreError
from thresher_postgres.connection import Connection, Database

APPLIED = "migrations"
"""Table with a schema's applied scripts."""

LEAST_PGVECTOR = (0, 8)
"""First version with iterative index scans, which continue a filtered search until it has enough."""


def scripts() -> dict[int, str]:
    """Scripts by number, in order."""
    found = (one for one in files("thresher_postgres").joinpath("scripts").iterdir() if one.name[:3].isdigit())
    return {int(one.name[:3]): one.read_text(encoding="utf-8") for one in sorted(found, key=lambda one: one.name)}


def is_made(database: Database, schema: str) -> bool:
    """Whether the schema exists with our tables."""
    with database.connection() as connection:
        row = connection.execute("SELECT to_regclass(%s)", [f'"{schema}".{APPLIED}']).fetchone()
    return row is not None and row[0] is not None


def migrate(database: Database, schema: str) -> None:
    """Make or update a schema. Raises StoreError for a newer version's schema, or without pgvector."""
    known = scripts()
    if _applied(database, schema) != known.keys():
        _bring_up(database, schema, known)
    database.migrated.add(schema)


def _bring_up(database: Database, schema: str, known: dict[int, str]) -> None:
    with database.transaction() as connection:
        # One of several starting servers makes it; the others then find it.
        connection.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", ["thresher migrations"])
        _create_extension(database, connection)
        there = connection.execute("SELECT to_regnamespace(%s) IS NOT NULL", [f'"{schema}"']).fetchone()
        if there is None or not there[0]:  # IF NOT EXISTS would need the right even for an existing schema
            connection.execute(sql.SQL("CREATE SCHEMA {}").format(sql.Identifier(schema)))
        table = sql.Identifier(schema, APPLIED)
        connection.execute(
            sql.SQL(
                "CREATE TABLE IF NOT EXISTS {} (number integer PRIMARY KEY, applied timestamptz DEFAULT now())"
            ).format(table)
        )
        done = _numbers(connection, table)
        if done - known.keys():
            raise StoreError(
                "was written by a newer version of Thresher", subject=f"schema {schema}", next_step="install that one"
            )
        connection.execute(sql.SQL("SET LOCAL search_path TO {}, public").format(sql.Identifier(schema)))
        for number in sorted(known.keys() - done):
            connection.execute(known[number].encode())
            connection.execute(sql.SQL("INSERT INTO {} (number) VALUES (%s)").format(table), [number])
        connection.execute("SET LOCAL search_path TO DEFAULT")
        protect(connection, schema, database.tenant)


def _applied(database: Database, schema: str) -> set[int]:
    if not is_made(database, schema):
        return set()
    with database.connection() as connection:
        return _numbers(connection, sql.Identifier(schema, APPLIED))


def _numbers(connection: Connection, applied: sql.Identifier) -> set[int]:
    rows = connection.execute(sql.SQL("SELECT number FROM {}").format(applied))
    return {int(number) for (number,) in rows}


def _create_extension(database: Database, connection: Connection) -> None:
    advice = "install pgvector 0.8 or newer on its server and call CREATE EXTENSION vector there"
    try:
        with connection.transaction():
            connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
    except (errors.InsufficientPrivilege, errors.UndefinedFile, errors.FeatureNotSupported) as error:
        raise StoreError("has no pgvector", subject=database.name, next_step=advice) from error
    row = connection.execute("SELECT extversion FROM pg_extension WHERE extname = 'vector'").fetchone()
    version = "" if row is None else str(row[0])
    if tuple(int(part) for part in version.split(".")[:2]) < LEAST_PGVECTOR:
        raise StoreError(f"has pgvector {version}, which is too old", subject=database.name, next_step=advice)
    if not database.know_vectors(connection):
        what = "has pgvector in a schema that is not searched"
        raise StoreError(
            what, subject=database.name, next_step="add `?options=-csearch_path%3Dpublic,SCHEMA` to the dsn"
        )


_UNPROTECTED = """
SELECT relname FROM pg_class WHERE relnamespace = %s::regnamespace AND relkind = 'r' AND NOT relforcerowsecurity
"""

# In a separate SELECT the role is checked once per statement, not per row.
_POLICY = """
ALTER TABLE {table} ENABLE ROW LEVEL SECURITY;
ALTER TABLE {table} FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON {table} USING ((SELECT pg_has_role(current_user, {tenant}, 'usage')))
    WITH CHECK ((SELECT pg_has_role(current_user, {tenant}, 'usage')))
"""


def protect(connection: Connection, schema: str, tenant: str) -> None:
    """Add the tenant's policy to the schema's tables that lack it; nothing without a tenant."""
    if not tenant:
        return
    for (name,) in connection.execute(_UNPROTECTED, [f'"{schema}"']).fetchall():
        table = sql.Identifier(schema, name)
        connection.execute(sql.SQL(_POLICY).format(table=table, tenant=sql.Literal(tenant)))
