"""Tenants of one database: what is one's, another neither reads nor changes, whatever it sends as its own role."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from time import monotonic
from uuid import uuid4

import pytest

import thresher
from tests.indexing.making import ENCODER
from tests.servers.postgres import why_not
from thresher.errors import StoreError
from thresher.testing.fakes import HashEncoder
from thresher.types import Comparison
from thresher_testing.store_contract import StoreContract
from thresher_testing.store_samples import row

pytestmark = pytest.mark.skipif(bool(why_not()), reason=why_not())

if not why_not():
    import psycopg

    from thresher_postgres.store import PostgresStore

SECRET = "The vault opens at 06:40."


@pytest.fixture(scope="session")
def roles(dsn: str) -> tuple[str, str]:
    """Two roles without any right but to make schemas."""
    names = (f"acme{uuid4().hex[:8]}", f"bolt{uuid4().hex[:8]}")
    with psycopg.connect(dsn, autocommit=True) as root:
        root.execute("CREATE EXTENSION IF NOT EXISTS vector")
        for name in names:
            root.execute(f"CREATE ROLE {name} LOGIN; GRANT CREATE ON DATABASE postgres TO {name}".encode())
    return names


def as_role(dsn: str, role: str) -> str:
    return dsn.replace("user=thresher", f"user={role}")


@pytest.fixture
def acme(dsn: str, roles: tuple[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The schemas of a tenant whose home is on the database, with a document, a trace and a key of the server."""
    from thresher_server.security.keys import Keys, Scope

    monkeypatch.setenv("THRESHER_STORE", "postgres")
    monkeypatch.setenv("THRESHER_POSTGRES__DSN", as_role(dsn, roles[0]))
    monkeypatch.setenv("THRESHER_POSTGRES__TENANT", roles[0])
    home = tmp_path / "home"
    (tmp_path / "vault.md").write_text(SECRET, encoding="utf-8")
    with thresher.open(home, encoder=HashEncoder()) as collection:
        collection.add(tmp_path / "vault.md", recipe="rag")
        assert SECRET in collection.ask("When does the vault open?", recipe="rag").evidence[0].text
    Keys(home).make("ann", [Scope.ASK], None)
    with psycopg.connect(dsn, autocommit=True) as root:
        rows = root.execute("SELECT nspname FROM pg_namespace WHERE nspname LIKE %s", [f"%{roles[0]}%"]).fetchall()
        schemas = [str(name) for (name,) in rows]
        assert sorted(schemas) == [f"thresher${roles[0]}$home", f"thresher${roles[0]}_default"]
        yield schemas
        for schema in schemas:
            root.execute(f'DROP SCHEMA "{schema}" CASCADE'.encode())


def tables(asking: psycopg.Connection, schema: str) -> list[str]:
    rows = asking.execute(
        "SELECT relname FROM pg_class WHERE relnamespace = %s::regnamespace AND relkind IN ('r', 'v')", [f'"{schema}"']
    ).fetchall()
    return [f'"{schema}"."{name}"' for (name,) in rows]


def test_another_tenant_has_no_right_to_anything(dsn: str, roles: tuple[str, str], acme: list[str]) -> None:
    with psycopg.connect(as_role(dsn, roles[1]), autocommit=True) as other:
        for schema in acme:
            found = tables(other, schema)
            assert found
            for table in found:
                for statement in (
                    f"SELECT * FROM {table}",
                    f"DELETE FROM {table}",
                    f"INSERT INTO {table} DEFAULT VALUES",
                    f"TRUNCATE {table}",
                    f"COPY {table} TO STDOUT",
                ):
                    with pytest.raises(psycopg.errors.InsufficientPrivilege):
                        other.execute(statement.encode())
            for statement in (f'CREATE TABLE "{schema}".mine (id int)', f'DROP SCHEMA "{schema}" CASCADE'):
                with pytest.raises(psycopg.errors.InsufficientPrivilege):
                    other.execute(statement.encode())
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            other.execute(f"SET ROLE {roles[0]}".encode())


def test_a_right_that_was_granted_by_mistake_shows_no_row_and_changes_none(
    dsn: str, roles: tuple[str, str], acme: list[str]
) -> None:
    owned = {}
    with psycopg.connect(as_role(dsn, roles[0]), autocommit=True) as owner:
        for schema in acme:
            for table in tables(owner, schema):
                owned[table] = owner.execute(f"SELECT * FROM {table}".encode()).fetchall()
            owner.execute(f'GRANT USAGE ON SCHEMA "{schema}" TO {roles[1]}'.encode())
            rights = "SELECT, INSERT, UPDATE, DELETE"
            owner.execute(f'GRANT {rights} ON ALL TABLES IN SCHEMA "{schema}" TO {roles[1]}'.encode())
    assert sum(map(bool, owned.values())) >= 10  # documents, chunks, postings, traces, keys
    with psycopg.connect(as_role(dsn, roles[1]), autocommit=True) as other:
        for setting in ("SET row_security = on", f"SET thresher.tenant = '{roles[0]}'", "RESET ALL"):
            other.execute(setting.encode())
            for table in owned:
                assert other.execute(f"SELECT count(*) FROM {table}".encode()).fetchone() == (0,), table
        for table in owned:
            if "document_chunk" not in table:
                assert other.execute(f"DELETE FROM {table}".encode()).rowcount == 0
        files, documents = f'"{acme[0]}".files', next(table for table in owned if table.endswith('"documents"'))
        assert other.execute(f"UPDATE {documents} SET title = 'mine'".encode()).rowcount == 0
        for statement in (
            f"INSERT INTO {files} (name, content) VALUES ('server/keys.json', '[]')",
            f"INSERT INTO {documents} (id) VALUES ('mine')",
            f"ALTER TABLE {files} DISABLE ROW LEVEL SECURITY",
            f"CREATE POLICY mine ON {files} USING (true)",
            f"DROP POLICY tenant ON {files}",
        ):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                other.execute(statement.encode())
    with psycopg.connect(as_role(dsn, roles[0]), autocommit=True) as owner:
        assert {table: owner.execute(f"SELECT * FROM {table}".encode()).fetchall() for table in owned} == owned


def test_a_store_cannot_be_opened_as_another_tenant(dsn: str, roles: tuple[str, str], acme: list[str]) -> None:
    store = PostgresStore(as_role(dsn, roles[1]), acme[-1], tenant=roles[0])
    with pytest.raises(StoreError, match=f"cannot be used as the role {roles[0]} .*log in as it"):
        store.chunk_tables()


def test_two_tenants_have_collections_of_one_name(dsn: str, roles: tuple[str, str], tmp_path: Path) -> None:
    for role in roles:
        settings = {"store": "postgres", "postgres.dsn": as_role(dsn, role), "postgres.tenant": role}
        (tmp_path / role).mkdir()
        (tmp_path / role / "note.md").write_text(f"The key word of {role} is sesame.", encoding="utf-8")
        with thresher.open(tmp_path / role / "home", encoder=HashEncoder()) as collection:
            collection.add(tmp_path / role / "note.md", recipe="rag", settings=settings)
            found = collection.search("key word", recipe="rag", settings=settings).hits
            assert [role in hit.chunk.text for hit in found] == [True]
        collection.opened.store._store.drop()  # type: ignore[attr-defined]


@pytest.mark.slow
class TestTenant(StoreContract):
    """With policies on its tables the store does all that a store has to."""

    @pytest.fixture(autouse=True)
    def _tenant(self, dsn: str, roles: tuple[str, str]) -> None:
        self.dsn, self.role = as_role(dsn, roles[0]), roles[0]

    def open_store(self, folder: Path) -> PostgresStore:
        return PostgresStore(self.dsn, f"tenants_{uuid4().hex[:12]}", tenant=self.role)


@pytest.mark.parametrize("has_tenant", [False, True])
@pytest.mark.parametrize("exact_rows", [0, 10_000])
def test_the_vector_index_is_used_where_many_rows_pass_a_filter_and_only_there(
    dsn: str, roles: tuple[str, str], has_tenant: bool, exact_rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether or not there are policies on the tables."""
    monkeypatch.setattr("thresher_postgres.chunks.EXACT_ROWS", exact_rows)
    schema = f"tenants_{uuid4().hex[:12]}"
    address, tenant = (as_role(dsn, roles[0]), roles[0]) if has_tenant else (dsn, "")
    store = PostgresStore(
        f"{address}&options=-cenable_seqscan%3Doff%20-cenable_sort%3Doff", schema, tenant=tenant, ann_rows=300
    )
    store.create("chunks_a", dimension=ENCODER.dimension)
    table = store.open("chunks_a")
    table.append([row(f"c{n}", f"word{n} filler{n % 9}", kind=("text", "pdf")[n % 2]) for n in range(1000)])
    table.maintain()
    found = table.nearest(ENCODER.encode_query("word8 filler8"), limit=6, where=Comparison("kind", "=", "text"))
    assert found[0][0].text == "word8 filler8"
    assert len(found) == 6
    assert len(table.matching("word7", limit=5)) == 1
    store.close()  # a connection that ends tells what it used
    used = "SELECT relid::regclass, idx_scan FROM pg_stat_user_indexes WHERE schemaname = %s AND indexrelname = %s"
    with psycopg.connect(dsn, autocommit=True) as root:

        def scans(index: str) -> int:
            root.execute("SELECT pg_stat_clear_snapshot()")
            return int(root.execute(used, [schema, index]).fetchone()[1])  # type: ignore[index]

        deadline = monotonic() + 10
        while not scans("chunks_a_pkey"):  # of the rows that were found
            assert monotonic() < deadline
        assert scans("chunks_a_near") == (0 if exact_rows else 1)
        root.execute(f"DROP SCHEMA {schema} CASCADE".encode())
