"""Connections to a database, opened on demand and reused; errors are ours and never contain the password."""

from __future__ import annotations

import weakref
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from math import inf
from threading import RLock
from time import monotonic

import psycopg
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict
from psycopg.rows import TupleRow

from thresher.errors import StoreError, UsageError
from thresher_postgres import values

Connection = psycopg.Connection[TupleRow]

CONNECT_SECONDS = 10
"""Default connection timeout: a running server answers in milliseconds."""

DATABASES = 8
"""Addresses with cached connections; a server has one, tests a few."""

IDLE_SECONDS = 5.0
"""A connection idle for longer is checked before reuse."""

KNOWN_SECONDS = 0.05
"""Validity of versions that were read: one question asks for them up to twenty times while it begins."""

_VERSIONS = """
SELECT name, version FROM {records} UNION ALL SELECT name, version FROM {chunks} UNION ALL
SELECT name || '_near', 1 FROM {chunks}
JOIN pg_index ON indexrelid = to_regclass(format('%%I.%%I', %s::text, name || '_near')) WHERE indisvalid
"""

SESSION = "SET jit = off; SET hnsw.iterative_scan = relaxed_order; SET hnsw.ef_search = 100"
"""Compilation takes longer than these queries. Filtered index searches continue in any order; results are sorted."""


NOTICED = "SET tcp_keepalives_idle = 30; SET tcp_keepalives_interval = 10; SET tcp_keepalives_count = 3"
"""The database frees a lock within a minute, not hours, after its holder's machine loses power."""


def store_error(subject: str, error: Exception) -> StoreError:
    """The database's error in our words."""
    match error:
        case psycopg.errors.DiskFull():
            what, then = "the disk of the database is full", "free some space and run again: what was committed is kept"
        case psycopg.errors.InsufficientPrivilege():
            what, then = f"is not allowed ({_first_line(error)})", "grant the role of `postgres.dsn` what it lacks"
        case _:
            what, then = f"cannot be read or written ({_first_line(error)})", "call `doctor()`"
    return StoreError(what, subject=subject, next_step=then)


@contextmanager
def store_errors(subject: str) -> Iterator[None]:
    """Raise errors of the database in the block as StoreError about the subject."""
    try:
        yield
    except (psycopg.Error, UnicodeEncodeError) as error:
        raise store_error(subject, error) from error


def _first_line(error: Exception) -> str:
    return " ".join(str(error).split("\n", 1)[0].split())[:300]


def _close_all(idle: deque[tuple[float, Connection]]) -> None:
    while idle:
        idle.pop()[1].close()


class Database:
    """One database, with one connection for each thread that uses it at a time."""

    def __init__(self, dsn: str, tenant: str = "") -> None:
        """`tenant` is the role that owns the data; if empty, the role of the dsn."""
        try:
            parts = conninfo_to_dict(dsn)
        except psycopg.ProgrammingError:  # without the cause: its text contains the password
            raise UsageError(
                "is not an address of a database",
                subject="setting postgres.dsn",
                next_step="write it like postgresql://USER:PASSWORD@HOST/DATABASE",
            ) from None
        self.name = f"database {parts.get('dbname', '')} on {parts.get('host', 'this machine')}"
        self.tenant = tenant
        self._dsn = dsn
        self._seconds = int(parts.get("connect_timeout") or CONNECT_SECONDS)
        self._vector: int | None = None
        self._idle: deque[tuple[float, Connection]] = deque()
        self._closing = weakref.finalize(self, _close_all, self._idle)
        self._versions: dict[str, tuple[float, Mapping[str, int]]] = {}
        self.migrated: set[str] = set()
        """Schemas known to be up to date."""

    def close(self) -> None:
        """Close idle connections."""
        _close_all(self._idle)

    @contextmanager
    def connection(self) -> Iterator[Connection]:
        """A connection in autocommit mode; errors pass through."""
        connection = self._taken()
        try:
            yield connection
        finally:
            self._back(connection)

    @contextmanager
    def transaction(self, *, snapshot: bool = False) -> Iterator[Connection]:
        """A connection in a transaction, rolled back on an error; with `snapshot` all reads see one state."""
        try:
            with self.connection() as connection:
                connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ if snapshot else None
                with connection.transaction():  # the level is part of its first statement
                    yield connection
        finally:
            if not snapshot:
                self.forget_versions()

    def versions(self, schema: str, *, now: bool = False) -> Mapping[str, int]:
        """The versions of a schema's tables and the names of its vector indexes, at most `KNOWN_SECONDS` old.

        A question begins with those of `now`, so that it sees what was committed before. Own changes are always seen.
        """
        known, asked = self._versions, monotonic()
        if now or asked - known.get(schema, (-inf,))[0] > KNOWN_SECONDS:
            records, chunks = (sql.Identifier(schema, name) for name in ("record_tables", "chunk_tables"))
            query = sql.SQL(_VERSIONS).format(records=records, chunks=chunks)
            with self.connection() as connection:
                read = dict(connection.execute(query, [schema]).fetchall())
            if asked >= known.get(schema, (-inf,))[0]:  # no other thread read them since
                known[schema] = asked, read
        return known[schema][1]

    def forget_versions(self) -> None:
        """Read the versions again; who reads them now keeps them for itself."""
        self._versions = {}

    def _taken(self) -> Connection:
        while self._idle:
            try:
                since, connection = self._idle.pop()
            except IndexError:  # another thread was faster
                break
            if monotonic() - since < IDLE_SECONDS or _alive(connection):
                if self._vector is not None:  # it may be older than the type
                    values.register_vectors(connection, self._vector)
                return connection
            connection.close()
        return self.opened()

    def _back(self, connection: Connection) -> None:
        if connection.closed or connection.broken or not self._closing.alive:
            connection.close()
        else:
            self._idle.append((monotonic(), connection))

    def opened(self) -> Connection:
        """A new connection, which the caller closes."""
        try:
            connection = psycopg.connect(self._dsn, autocommit=True, connect_timeout=self._seconds)
        except psycopg.OperationalError as error:
            raise StoreError(
                f"cannot be reached ({_first_line(error)})",
                subject=self.name,
                next_step="see that it runs and that `postgres.dsn` is its address",
            ) from error
        connection.execute(SESSION)
        if self.tenant:
            self._become(connection, self.tenant)
        values.register_texts(connection)
        self.know_vectors(connection)
        return connection

    def _become(self, connection: Connection, tenant: str) -> None:
        try:
            connection.execute(sql.SQL("SET ROLE {}").format(sql.Identifier(tenant)))
        except psycopg.Error as error:
            connection.close()
            raise StoreError(
                f"cannot be used as the role {tenant} ({_first_line(error)})",
                subject=self.name,
                next_step="create that role, and let `postgres.dsn` log in as it",
            ) from error

    def know_vectors(self, connection: Connection) -> bool:
        """Register the type `vector` for a connection; returns whether the database has it."""
        self._vector = self._vector or values.vector_oid(connection)
        if self._vector is not None:
            values.register_vectors(connection, self._vector)
        return self._vector is not None


def _alive(connection: Connection) -> bool:
    try:
        connection.execute("SELECT 1")
    except psycopg.OperationalError:
        return False
    return True


def connected(dsn: str, tenant: str = "") -> Database:
    """The database of an address and tenant, shared by all stores of this process."""
    return _kept(dsn, tenant)


_kept = lru_cache(maxsize=DATABASES)(Database)


def locked(database: Database, name: str, seconds: float, *, kind: int) -> Connection:
    """A dedicated connection that holds the lock of a name and kind. Raises `filelock.Timeout` after `seconds`."""
    from filelock import Timeout

    connection = database.opened()
    try:
        connection.execute(NOTICED)
        milliseconds = max(1, int(seconds * 1000))  # 0 would mean no limit
        connection.execute("SELECT set_config('lock_timeout', %s, false)", [str(milliseconds)])
        connection.execute("SELECT pg_advisory_lock(hashtextextended(%s, %s))", [name, kind])
    except psycopg.Error as error:
        connection.close()
        is_held = isinstance(error, psycopg.errors.LockNotAvailable)
        raise (Timeout(name) if is_held else store_error(name, error)) from error
    return connection


class SharedLock:
    """A lock for one purpose in a schema, held by one thread of any process on any machine.

    A dedicated connection holds it, and its end, however it comes, frees the lock.
    """

    def __init__(self, database: Database, schema: str, name: str, seconds: float) -> None:
        self._database = database
        self._schema = schema
        self._key = schema if name == "commit" else f"{schema} {name}"
        self._seconds = seconds
        self._thread = RLock()
        self._depth = 0
        self._held: Connection | None = None

    def acquire(self) -> None:
        """Take the lock; reentrant. Raises `filelock.Timeout` if another one holds it for too long."""
        from filelock import Timeout

        if not self._thread.acquire(timeout=self._seconds):
            raise Timeout(self._schema)
        try:
            if self._depth == 0:
                self._held = locked(self._database, self._key, self._seconds, kind=1)
                self._database.forget_versions()  # its holder before has changed some
        except BaseException:
            self._thread.release()
            raise
        self._depth += 1

    def release(self) -> None:
        """Release it once for each `acquire`."""
        self._depth -= 1
        if self._depth == 0 and self._held is not None:
            self._held.close()
            self._held = None
        self._thread.release()
