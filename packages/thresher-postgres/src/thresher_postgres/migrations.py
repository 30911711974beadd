"""The schema of a collection, brought up to date by the numbered scripts in `scripts/`, each once and wholly."""

from __future__ import annotations

from importlib.resources import files

from psycopg import errors, sql

from thresher.errors import StoreError
from thresher_postgres.connection import Connection, Database
from thresher_postgres.tenants import protect

APPLIED = "migrations"
"""The table of a schema that says which scripts it has."""

LEAST_PGVECTOR = (0, 8)
"""From here on a filtered search goes on in the index until it has enough (iterative scan)."""


def scripts() -> dict[int, str]:
    """The scripts by their numbers, in order."""
    found = (one for one in files("thresher_postgres").joinpath("scripts").iterdir() if one.name[:3].isdigit())
    return {int(one.name[:3]): one.read_text(encoding="utf-8") for one in sorted(found, key=lambda one: one.name)}


def is_made(database: Database, schema: str) -> bool:
    """Whether there is such a schema with anything of ours in it."""
    with database.connection() as connection:
        row = connection.execute("SELECT to_regclass(%s)", [f'"{schema}".{APPLIED}']).fetchone()
    return row is not None and row[0] is not None


def migrate(database: Database, schema: str) -> None:
    """Make a schema or bring it up to date; StoreError for one of a newer version, or where pgvector is missing."""
    known = scripts()
    if _applied(database, schema) != known.keys():
        _bring_up(database, schema, known)
    database.migrated.add(schema)


def _bring_up(database: Database, schema: str, known: dict[int, str]) -> None:
    with database.transaction() as connection:
        # Of several servers that start at once one makes it, the others find it made.
        connection.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", ["thresher migrations"])
        _create_extension(database, connection)
        there = connection.execute("SELECT to_regnamespace(%s) IS NOT NULL", [f'"{schema}"']).fetchone()
        if there is None or not there[0]:  # to ask for one that is there a right would be needed too
            connection.execute(sql.SQL("CREATE SCHEMA {}").format(sql.Identifier(schema)))
        table = sql.Identifier(schema, APPLIED)
        connection.execute(
            sql.SQL(
                "CREATE TABLE IF NOT EXISTS {} (number integer PRIMARY KEY, applied timestamptz DEFAULT now())"
            ).format(table)
        )
        rows = connection.execute(sql.SQL("SELECT number FROM {}").format(table)).fetchall()
        done = {number for (number,) in rows}
        if done - known.keys():
            raise StoreError(
                "was written by a newer version of Thresher", subject=f"schema {schema}", next_step="install that one"
            )
        for number, script in known.items():
            if number not in done:
                _apply(connection, schema, script)
                connection.execute(sql.SQL("INSERT INTO {} (number) VALUES (%s)").format(table), [number])
        protect(connection, schema, database.tenant)


def _applied(database: Database, schema: str) -> set[int]:
    """The scripts that a schema has, none where it is not there."""
    if not is_made(database, schema):
        return set()
    with database.connection() as connection:
        rows = connection.execute(sql.SQL("SELECT number FROM {}").format(sql.Identifier(schema, APPLIED)))
        return {int(number) for (number,) in rows}


def _apply(connection: Connection, schema: str, script: str) -> None:
    """Run a script with the schema's tables in reach by their bare names."""
    connection.execute(sql.SQL("SET LOCAL search_path TO {}, public").format(sql.Identifier(schema)))
    connection.execute(script.encode())
    connection.execute("SET LOCAL search_path TO DEFAULT")


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
