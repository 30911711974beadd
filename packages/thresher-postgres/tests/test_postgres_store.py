"""The store on PostgreSQL: writers beside each other, upkeep, the view for others, and errors in words."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from uuid import uuid4

import pytest

from tests.indexing.making import ENCODER, row
from tests.servers.postgres import running, why_not
from thresher.errors import StoreError, UsageError
from thresher.text.terms import chunk_terms
from thresher.types import Comparison, Like

pytestmark = pytest.mark.skipif(bool(why_not()), reason=why_not())

if not why_not():
    import psycopg

    from thresher_postgres import connection
    from thresher_postgres.chunks import PostgresChunkTable
    from thresher_postgres.connection import Database
    from thresher_postgres.store import PostgresStore, schema_name
    from thresher_postgres.values import kept, read

MARK = "\U0010fffe"
TEXTS = {"c1": "Ships carry coal at night.", "c2": "A lighthouse guides ships.", "c3": "Trains carry grain."}


@pytest.fixture
def schema() -> str:
    return f"t_{uuid4().hex[:16]}"


@pytest.fixture
def store(dsn: str, schema: str) -> PostgresStore:
    return PostgresStore(dsn, schema)


@pytest.fixture
def table(store: PostgresStore) -> PostgresChunkTable:
    store.create("chunks_t", dimension=ENCODER.dimension)
    opened = store.open("chunks_t")
    opened.append([row(id_, text, document_id=f"d{id_}") for id_, text in TEXTS.items()])
    return opened


@pytest.fixture
def asking(dsn: str) -> Iterator[psycopg.Connection]:
    with psycopg.connect(dsn, autocommit=True) as connection:
        yield connection


# --- names ------------------------------------------------------------------------------------------------------------


def test_a_plain_name_is_the_schemas_and_any_other_is_told_apart_by_a_hash() -> None:
    assert schema_name("thresher", "papers_2024") == "thresher_papers_2024"
    others = [
        schema_name("thresher", name) for name in ("Papers", "papers!", "papers?", "größe", "p" * 100, 'a"; DROP')
    ]
    assert len(set(others)) == len(others)
    assert all(len(name) <= 63 and name.replace("_", "").isalnum() and name.isascii() for name in others)


# --- writers ----------------------------------------------------------------------------------------------------------


def assert_counted_right(table: PostgresChunkTable) -> None:
    """What is counted is what a recount finds."""
    chunks = [chunk for batch in table.chunks() for chunk, _ in batch]
    terms = [chunk_terms(chunk.title, chunk.text) for chunk in chunks]
    holding = Counter(term for of_one in terms for term in set(of_one))
    assert table.count() == len(chunks)
    assert table.average_terms() == pytest.approx(sum(map(len, terms)) / max(1, len(terms)))
    assert table.document_frequencies(" ".join(holding)) == {term: holding[term] for term in holding}


def test_writers_beside_each_other_lose_nothing_and_count_right(
    store: PostgresStore, table: PostgresChunkTable
) -> None:
    def write(writer: int) -> None:
        own = store.open("chunks_t")
        for turn in range(8):
            id_ = f"w{writer}-{turn}"
            own.append([row(id_, f"coal storm{writer} turn{turn}", document_id=id_)])
            if turn % 2:
                own.delete([f"w{writer}-{turn - 1}"])

    before = table.version
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(write, range(4)))
    assert table.version == before + 4 * 12
    assert table.count() == len(TEXTS) + 4 * 4
    assert_counted_right(table)


def test_a_writer_that_is_killed_leaves_nothing_behind(
    dsn: str, schema: str, table: PostgresChunkTable, asking: psycopg.Connection
) -> None:
    code = f"""
import os, signal
from tests.indexing.making import row
from thresher_postgres.postings import Postings
from thresher_postgres.store import PostgresStore
Postings.add = lambda *given: os.kill(os.getpid(), signal.SIGKILL)  # rows and vectors are sent, postings are not
PostgresStore({dsn!r}, {schema!r}).open("chunks_t").append([row("lost", "A zeppelin", document_id="lost")])
"""
    assert subprocess.run([sys.executable, "-c", code]).returncode == -9
    assert table.count() == len(TEXTS)
    assert "lost" not in table.document_ids()
    table.append([row("next", "A zeppelin", document_id="next")])  # and holds no lock
    assert [chunk.id for chunk, _ in table.matching("zeppelin", limit=5)] == ["next"]
    assert_counted_right(table)


def test_a_change_that_fails_changes_nothing(table: PostgresChunkTable) -> None:
    before = table.version
    with pytest.raises(StoreError, match="chunks_t: cannot be read or written"):
        table.append([row("good", "fine"), row("bad", "half of a pair: \ud800")])
    assert (table.version, table.count()) == (before, len(TEXTS))
    assert_counted_right(table)


def test_one_holds_the_commit_lock_and_may_take_it_again(dsn: str, schema: str, store: PostgresStore) -> None:
    from filelock import Timeout

    first, second = store.shared_lock("commit", 5), PostgresStore(dsn, schema).shared_lock("commit", 0.2)
    first.acquire()
    first.acquire()
    with pytest.raises(Timeout):
        second.acquire()
    first.release()
    with pytest.raises(Timeout):
        second.acquire()
    first.release()
    second.acquire()
    second.release()


@pytest.mark.parametrize("text", ["a\0b", "\0", f"{MARK}0", f"{MARK}\0{MARK}{MARK}0\0", f"0{MARK}{MARK}\0\0"])
def test_a_text_with_a_nul_comes_back_as_it_was(store: PostgresStore, table: PostgresChunkTable, text: str) -> None:
    assert "\0" not in kept(text)
    assert read(kept(text)) == text
    added = row(f"i{text}", f"coal {text}", document_id=f"d{text}", title=text, kind=text)
    table.append([added])
    ((chunk, _),) = next(iter(table.chunks([f"d{text}"])))
    assert chunk == added.chunk
    assert table.nearest(added.vector, limit=1, where=Comparison("kind", "=", text))[0][0] == added.chunk
    assert table.vectors([f"i{text}"]).shape == (1, ENCODER.dimension)
    records = store.records("things", key="id", columns={"id": "text", "note": "text"})
    for change in (records.append, records.merge):
        change([{"id": text, "note": text}])
        assert records.get([text]) == {text: {"id": text, "note": text}}
        assert records.rows(["note"]) == [{"note": text}]
        records.merge([], remove=[text])
    table.delete([f"d{text}"])
    assert table.count() == len(TEXTS)


def test_the_commit_lock_goes_with_a_process_that_is_killed(dsn: str, schema: str, store: PostgresStore) -> None:
    code = f"""
import os, signal
from thresher_postgres.store import PostgresStore
PostgresStore({dsn!r}, {schema!r}).shared_lock("commit", 5).acquire()
os.kill(os.getpid(), signal.SIGKILL)
"""
    assert subprocess.run([sys.executable, "-c", code]).returncode == -9
    lock = store.shared_lock("commit", 5)
    lock.acquire()
    lock.release()


def test_a_role_that_may_not_write_reads_and_is_told_what_it_lacks(
    dsn: str, schema: str, table: PostgresChunkTable, asking: psycopg.Connection
) -> None:
    role = f"reader_{schema}"
    asking.execute(f"CREATE ROLE {role} LOGIN; GRANT USAGE ON SCHEMA {schema} TO {role}".encode())
    asking.execute(f"GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO {role}".encode())
    reader = PostgresStore(dsn.replace("user=thresher", f"user={role}"), schema)
    opened = reader.open("chunks_t")
    assert [chunk.id for chunk, _ in opened.matching("lighthouse", limit=3)] == ["c2"]
    with pytest.raises(StoreError, match=r"chunks_t: is not allowed .*grant the role"):
        opened.delete(["dc1"])
    reader.close()


# --- upkeep -----------------------------------------------------------------------------------------------------------


def test_an_approximate_index_is_built_above_its_number_of_rows_and_hides_nothing(dsn: str, schema: str) -> None:
    store = PostgresStore(dsn, schema, ann_rows=300)
    store.create("chunks_a", dimension=ENCODER.dimension)
    table = store.open("chunks_a")
    kinds = ("pdf", *["text"] * 49)
    table.append([row(f"c{n}", f"word{n} filler{n % 9}", kind=kinds[n % 50], document_id=f"d{n}") for n in range(300)])
    vector = ENCODER.encode_query("word7 filler7")
    exact = table.nearest(vector, limit=10)
    assert table.stale() == ["the vector index is missing"]
    table.maintain()
    assert table.stale() == []
    assert len({c.id for c, _ in exact} & {c.id for c, _ in table.nearest(vector, limit=10)}) >= 9
    table.append([row("new", "something quite different", document_id="new")])
    ((found, cosine),) = table.nearest(ENCODER.encode_query("something quite different"), limit=1)
    assert (found.id, cosine) == ("new", pytest.approx(1.0, abs=1e-5))
    rare = table.nearest(vector, limit=6, where=Comparison("kind", "=", "pdf"))
    assert len(rare) == 6
    table.delete(["dnew", "new"])
    assert "new" not in {chunk.id for chunk, _ in table.nearest(vector, limit=300)}


def test_a_purge_leaves_no_byte_of_the_deleted_text_in_the_tables(
    dsn: str, store: PostgresStore, table: PostgresChunkTable, asking: psycopg.Connection
) -> None:
    records = store.records("documents", key="id", columns={"id": "text", "text": "text"})
    texts = {f"d{n}": f"Paragraph {n} says unmistakable{n}word and more." for n in range(20)}
    table.append([row(f"c{id_}", text, document_id=id_) for id_, text in texts.items()])
    records.append([{"id": id_, "text": text} for id_, text in texts.items()])
    folder = Path(str(asking.execute("SHOW data_directory").fetchone()[0])) / "base"  # type: ignore[index]

    def holding(word: bytes) -> list[Path]:
        asking.execute("CHECKPOINT")
        return [file for file in folder.rglob("*") if file.is_file() and word in file.read_bytes()]

    assert holding(b"unmistakable7word")
    table.delete(["d7"])
    records.merge([], remove=["d7"])
    for one in (table, records):
        one.maintain(drop_versions=True)
    assert holding(b"unmistakable7word") == []
    assert holding(b"unmistakable8word")
    assert [chunk.id for chunk, _ in table.matching("unmistakable8word", limit=3)] == ["cd8"]


def test_letters_are_folded_as_people_do(table: PostgresChunkTable) -> None:
    table.append([row("u", "text", title="Größe", document_id="du")])
    for pattern, ignore_case, found in [("GRÖ%", True, True), ("GRÖ%", False, False), ("größe\\", True, False)]:
        where = Like("title", pattern, ignore_case=ignore_case)
        assert bool(table.nearest(ENCODER.encode_query("text"), limit=3, where=where)) is found, pattern


# --- the schema -------------------------------------------------------------------------------------------------------


def test_several_that_begin_at_once_make_one_schema(dsn: str, schema: str) -> None:
    def begin(number: int) -> int:
        own = PostgresStore(dsn, schema)
        records = own.records("things", key="id", columns={"id": "text"})
        records.merge([{"id": str(number)}])
        own.create("chunks_x", dimension=4)
        return number

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(begin, range(4))) == [0, 1, 2, 3]
    store = PostgresStore(dsn, schema)
    assert store.chunk_tables() == {"chunks_x"}
    assert len(store.records("things", key="id", columns={"id": "text"}).rows(["id"])) == 4


def test_a_schema_of_a_newer_version_is_refused(
    dsn: str, schema: str, store: PostgresStore, asking: psycopg.Connection
) -> None:
    store.chunk_tables()
    asking.execute(f"INSERT INTO {schema}.migrations (number) VALUES (999)".encode())
    with pytest.raises(StoreError, match="was written by a newer version of Thresher"):
        store.chunk_tables()


def test_a_column_that_a_later_version_has_is_added(store: PostgresStore) -> None:
    store.records("things", key="id", columns={"id": "text"}).append([{"id": "a"}])
    wider = store.records("things", key="id", columns={"id": "text", "size": "whole"})
    assert wider.get(["a"]) == {"a": {"id": "a", "size": None}}


def test_what_another_server_dropped_is_made_again(dsn: str, schema: str, store: PostgresStore) -> None:
    store.chunk_tables()
    store.files.write("a", b"x")
    code = f"from thresher_postgres.store import PostgresStore; PostgresStore({dsn!r}, {schema!r}).drop()"
    subprocess.run([sys.executable, "-c", code], check=True)
    assert store.files.read("a") is None
    store.files.write("a", b"y")
    assert store.files.read("a") == b"y"
    assert store.chunk_tables() == set()


# --- versions ---------------------------------------------------------------------------------------------------------


def test_a_question_asks_for_the_versions_once_and_sees_what_was_committed_before_it(
    dsn: str, schema: str, store: PostgresStore, table: PostgresChunkTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "KNOWN_SECONDS", 60.0)
    elsewhere = PostgresStore(dsn, schema)
    monkeypatch.setattr(elsewhere, "_database", Database(dsn))  # as of another process
    theirs = elsewhere.open("chunks_t")

    def changed(number: int) -> int:
        theirs.append([row(f"n{number}", "coal", document_id=f"n{number}")])
        return theirs.version

    assert store.exists
    before = table.version
    assert changed(1) == before + 1
    assert table.version == before  # within a question nothing is read again
    assert store.exists  # the next question begins
    assert table.version == before + 1
    after = changed(2)
    lock = store.shared_lock("commit", 5)
    lock.acquire()
    assert table.version == after  # a writer continues from what was written before
    lock.release()
    after = changed(3)
    table.append([row("own", "coal", document_id="own")])
    assert table.version == after + 1
    monkeypatch.setattr(connection, "KNOWN_SECONDS", 0.0)
    assert changed(4) == table.version
    elsewhere.drop()
    assert not store.exists


# --- others -----------------------------------------------------------------------------------------------------------


def test_the_view_answers_what_open_webui_asks(
    schema: str, store: PostgresStore, table: PostgresChunkTable, asking: psycopg.Connection
) -> None:
    store.create("chunks_other", dimension=3)  # vectors of another length beside it
    store.open("chunks_other")
    vector = str(ENCODER.encode_query(TEXTS["c2"]).tolist())
    found = asking.execute(
        f"SELECT id, text, vmetadata, vector <=> %s::vector AS distance FROM {schema}.document_chunk"
        " WHERE collection_name = %s ORDER BY distance LIMIT 2".encode(),
        [vector, "chunks_t"],
    ).fetchall()
    id_, text, metadata, distance = found[0]
    assert (id_, text, distance) == ("c2", TEXTS["c2"], pytest.approx(0, abs=1e-6))
    assert metadata["source"]
    assert metadata["document_id"] == "dc2"
    assert len(found) == 2


# --- errors -----------------------------------------------------------------------------------------------------------


def test_a_server_that_is_not_there_is_an_error_without_the_password() -> None:
    store = PostgresStore("postgresql://me:sesame@127.0.0.1:1/papers", "thresher_x")
    with pytest.raises(StoreError, match=r"database papers on 127.0.0.1: cannot be reached .*`postgres.dsn`") as error:
        store.chunk_tables()
    assert "sesame" not in str(error.value)


def test_what_is_no_address_is_told_without_it() -> None:
    with pytest.raises(UsageError, match=r"setting postgres.dsn: is not an address") as error:
        PostgresStore("sesame open", "thresher_x")
    assert "sesame" not in str(error.value)


def test_a_server_that_was_started_again_is_found_again(schema: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with running() as dsn:
        store = PostgresStore(dsn, schema)
        store.create("chunks_t", dimension=ENCODER.dimension)
        table = store.open("chunks_t")
        monkeypatch.setattr("thresher_postgres.connection.IDLE_SECONDS", 0.0)
        with psycopg.connect(dsn, autocommit=True) as other:
            other.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"
            )
        assert table.count() == 0
        store.close()
