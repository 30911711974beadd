"""What is remembered of a database: forgotten with every change, whoever makes it, and never while nobody listens."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from time import monotonic, sleep
from uuid import uuid4

import pytest

from tests.indexing.making import ENCODER, row
from tests.servers.postgres import running, why_not

pytestmark = pytest.mark.skipif(bool(why_not()), reason=why_not())

if not why_not():
    import psycopg

    from thresher_postgres.chunks import PostgresChunkTable
    from thresher_postgres.connection import Database, connected
    from thresher_postgres.store import PostgresStore


@pytest.fixture
def warm(dsn: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Database]:
    """A database to whose changes this process listens."""
    monkeypatch.setattr("thresher_postgres.changes.WARM", 0)
    monkeypatch.setattr("thresher_postgres.changes.AGAIN_SECONDS", 0.05)
    database = connected(dsn)
    database.changes.known("anything", int)
    wait(lambda: database.changes.is_listening)
    yield database
    database.close()


@pytest.fixture
def table(dsn: str, warm: Database) -> Iterator[PostgresChunkTable]:
    store = PostgresStore(dsn, f"c_{uuid4().hex[:16]}")
    store.create("chunks_t", dimension=ENCODER.dimension)
    opened = store.open("chunks_t")
    opened.append([row("c1", "coal", document_id="d1")])
    yield opened
    store.drop()


def wait(holds: Callable[[], object], seconds: float = 10) -> None:
    deadline = monotonic() + seconds
    while not holds():
        assert monotonic() < deadline
        sleep(0.01)


def test_what_nobody_changed_is_not_asked_again(table: PostgresChunkTable, warm: Database) -> None:
    asked = []

    def ask() -> int:
        asked.append(table.version)
        return 1

    wait(lambda: warm.changes.is_listening)
    for _ in range(50):
        assert warm.changes.known("here", ask) == 1
    assert len(asked) <= 3  # a sign of life forgets all, and may fall into this


def test_a_change_of_another_process_is_seen_by_the_next_question(dsn: str, table: PostgresChunkTable) -> None:
    schema = table._schema  # type: ignore[attr-defined]
    command = [sys.executable, "-c", OTHER.format(dsn=dsn, schema=schema)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        follow(other, table)
    assert other.returncode == 0


def follow(other: subprocess.Popen[str], table: PostgresChunkTable) -> None:
    """Let another process change a table turn by turn, and see each change."""
    assert other.stdin is not None
    assert other.stdout is not None
    assert other.stdout.readline() == "ready\n"
    for turn in range(2, 12):
        assert table.count() == turn - 1
        assert table.document_frequencies("coal") == {"coal": turn - 1}
        version = table.version
        other.stdin.write(f"{turn}\n")
        other.stdin.flush()
        assert other.stdout.readline() == "done\n"
        assert len(table.matching("coal", limit=99)) == turn  # what is found is never remembered
        wait(lambda turn=turn: table.count() == turn, 1)  # milliseconds: what the database tells has to arrive
        assert table.version > version
        assert table.document_frequencies("coal") == {"coal": turn}


OTHER = """
import sys
from tests.indexing.making import row
from thresher_postgres.store import PostgresStore
table = PostgresStore({dsn!r}, {schema!r}).open("chunks_t")
print("ready", flush=True)
for line in sys.stdin:
    turn = int(line)
    table.append([row(f"c{{turn}}", "coal", document_id=f"d{{turn}}")])
    print("done", flush=True)
"""


def test_an_answer_that_a_change_overtook_is_not_remembered(warm: Database) -> None:
    def overtaken() -> str:
        warm.changes.forget()
        return "old"

    assert warm.changes.known("overtaken", overtaken) == "old"
    assert warm.changes.known("overtaken", lambda: "new") == "new"


def test_nothing_is_remembered_while_nobody_listens_and_listening_begins_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("thresher_postgres.changes.WARM", 0)
    monkeypatch.setattr("thresher_postgres.changes.AGAIN_SECONDS", 0.05)
    with running() as dsn:
        changes = Database(dsn).changes
        changes.known("a", int)
        wait(lambda: changes.is_listening)
        changes.known("a", lambda: 1)
        with psycopg.connect(dsn, autocommit=True) as root:
            ended = (
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'SELECT 1' OR query LIKE %s"
            )
            root.execute(ended, ["LISTEN%"])
            wait(lambda: changes.known("a", lambda: 2) == 2)
            wait(lambda: changes.is_listening)
            assert changes.known("b", lambda: 1) == changes.known("b", lambda: 1) == 1
    wait(lambda: not changes.is_listening)
    answers = iter(range(9))
    assert [changes.known("c", lambda: next(answers)) for _ in range(3)] == [0, 1, 2]
    changes.close()
