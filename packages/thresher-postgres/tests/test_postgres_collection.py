"""A collection on PostgreSQL: chosen by settings, shared by homes, asked, purged and dropped as any other."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from uuid import uuid4

import httpx
import pytest

import thresher
from tests.servers.own import BATCH_CHARACTERS, Served
from tests.servers.own import notes as notes_of
from tests.servers.own_api import DEFAULT, ended
from tests.servers.postgres import why_not
from thresher.errors import UsageError
from thresher.testing.fakes import HashEncoder
from thresher.trusted import guarded, shown
from thresher_postgres.settings import PostgresSettings, of
from thresher_server.conversations import Conversations, forget_collection
from thresher_server.jobs.store import Jobs
from thresher_server.security.access import Askers
from thresher_server.security.keys import Keys, Scope
from thresher_testing.llm_server import Reply, ScriptedServer

pytestmark = pytest.mark.skipif(bool(why_not()), reason=why_not())

QUESTION = "When was the lighthouse built?"


@pytest.fixture
def settings(dsn: str) -> dict[str, str]:
    return {"store": "postgres", "postgres.dsn": dsn, "postgres.prefix": f"t{uuid4().hex[:12]}"}


@pytest.fixture
def around(settings: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    """The same settings in the environment, as a second machine has them."""
    monkeypatch.setenv("THRESHER_STORE", "postgres")
    monkeypatch.setenv("THRESHER_POSTGRES__DSN", settings["postgres.dsn"])
    monkeypatch.setenv("THRESHER_POSTGRES__PREFIX", settings["postgres.prefix"])


@pytest.mark.usefixtures("around")
def test_two_machines_share_it_and_see_each_others_changes(notes: Path, tmp_path: Path) -> None:
    with thresher.open(tmp_path / "one") as one, thresher.open(tmp_path / "two") as two:
        one.add(notes / "lighthouse.md", recipe="rag")
        assert [record.source for record in two.documents()] == [str(notes / "lighthouse.md")]
        assert two.search(QUESTION, recipe="rag").hits[0].chunk.source == str(notes / "lighthouse.md")
        two.add(notes / "railway.txt", recipe="rag")
        assert len(one.documents()) == 2
        assert one.search("Semmering railway", recipe="rag").hits[0].chunk.source == str(notes / "railway.txt")
        assert one.doctor() == []
    assert not (one.folder / "lance").exists()
    assert not (one.folder / "commit.lock").exists()


def test_what_was_deleted_before_is_purged_by_its_name(notes: Path, tmp_path: Path, settings: dict[str, str]) -> None:
    with thresher.open(tmp_path / "home") as shared:
        shared.add(notes, recipe="rag", settings=settings)
        trace = shared.ask(QUESTION, recipe="rag").trace
        source = str(notes / "lighthouse.md")
        assert shared.delete("lighthouse.md") == [source]
        assert shared.delete("lighthouse.md", purge=True) == [source]
        assert trace not in [one for one, _ in shared.traces.asked()]
        assert shared.holding("lighthouse") == []
        # Without a trace nothing knows the name: this store cannot show what its old rows held.
        shared.delete("railway.txt")
        assert shared.delete("railway.txt", purge=True) == ["railway.txt"]
        assert shared.holding("Semmering") == []


@pytest.mark.usefixtures("around")
def test_traces_labels_and_collections_are_shared(notes: Path, tmp_path: Path) -> None:
    first, second = tmp_path / "one", tmp_path / "two"
    with thresher.open(first) as one, thresher.open(second) as two:
        one.add(notes / "lighthouse.md", recipe="rag")
        assert thresher.collections(second).names == ["default"]
        answer = one.ask("When was the lighthouse built?", recipe="rag")
        assert two.traces.load()["question"] == answer.question
        one.feedback(answer.trace, right=True)
        assert [label.trace for label in two.labels.labels()] == [answer.trace]
        two.delete("lighthouse.md", purge=True)
        assert one.traces.asked() == []
        assert one.labels.labels() == []
    assert not first.exists() or not [file for file in first.rglob("*") if file.is_file()]
    thresher.collections(second).drop("default")
    assert thresher.collections(first).names == []


@pytest.mark.usefixtures("around")
def test_a_collection_on_lance_stays_in_its_folder(notes: Path, tmp_path: Path) -> None:
    first, second = tmp_path / "one", tmp_path / "two"
    with thresher.open(first, "own") as own:
        own.add(notes / "lighthouse.md", recipe="rag", settings={"store": "lance"})
        own.ask(QUESTION, recipe="rag")
    assert list((first / "collections" / "own" / "traces").glob("*.json"))
    assert thresher.collections(first).names == ["own"]
    assert thresher.collections(second).names == []


@pytest.mark.usefixtures("around")
def test_keys_conversations_and_who_asked_are_shared(tmp_path: Path) -> None:
    first, second = tmp_path / "one", tmp_path / "two"
    secret = Keys(first).make("ann", [Scope.ASK], None)
    keys = Keys(second)
    caller = keys.caller(secret)
    assert caller is not None
    Keys(first).revoke("ann")
    assert keys.caller(secret) is None
    begun = Conversations(first, caller).begin("default")
    Conversations(second, caller).add("default", begun.id, {"question": "Why?", "text": "Because.", "citations": []})
    assert Conversations(first, caller).get("default", begun.id).history(bool) == [("Why?", "Because.")]
    forget_collection(first, "default")
    assert Conversations(second, caller).of("default") == []
    Askers(first).note(caller, "default", "ab12")
    Askers(second).rename("default", "other")
    assert Askers(first).may_see(caller, "other", "ab12")
    assert not Askers(first).may_see(caller, "default", "ab12")


@pytest.mark.usefixtures("around")
def test_a_job_is_worked_on_where_its_files_are_and_by_one_at_a_time(tmp_path: Path) -> None:
    first, second = (Jobs(tmp_path / name) for name in ("one", "two"))
    elsewhere = tmp_path / "on another machine.txt"
    waiting = first.make("add", "default", "ann", {"sources": [str(elsewhere)]})
    job = first.make("add", "default", "ann", {"sources": ["https://example.org/"]})
    with first.claimed() as claim, second.claimed() as none:
        assert claim is not None
        assert none is None
        claim = claim.told(state="running")
        assert second.cancel(job.id).state == "running"
        assert claim.is_cancelled
        claim.told(state="cancelled", ended="2026-01-05T10:15:00+00:00")
    assert {one.id: one.state for one in second.all()} == {job.id: "cancelled", waiting.id: "queued"}
    elsewhere.write_text("x")
    with second.claimed() as claim:
        assert claim is not None
        assert claim.job.id == waiting.id


@pytest.mark.slow
@pytest.mark.usefixtures("around")
def test_a_job_whose_server_was_killed_is_taken_up_by_another_machines(tmp_path: Path) -> None:
    homes = tmp_path / "one", tmp_path / "two"
    padding = " The rest is sand." * (2 * BATCH_CHARACTERS // 40 // 18)  # two batches in forty files
    files = notes_of(tmp_path / "notes", 40, padding)
    pages: dict[str, str | Reply] = {"/buoy.txt": Reply("The buoy.", seconds=60)}
    with ScriptedServer(pages=pages) as slow:
        first = Served(homes[0])
        job = Jobs(homes[0]).make("add", "default", "ann", {"sources": [*files, f"{slow.address}/buoy.txt"]})
        with first.client.stream("GET", f"/api/jobs/{job.id}/events") as reply:
            for _ in reply.iter_lines():
                if httpx.get(f"{first.client.base_url}{DEFAULT}").json()["documents"]:
                    break
        second = Served(homes[1])
        try:
            with thresher.open(homes[1]) as collection:
                committed = len(collection.documents())
            assert 0 < committed < 41
            assert second.client.get(f"/api/jobs/{job.id}").json()["state"] == "running"
            pages["/buoy.txt"] = "The buoy."
            first.kill()
            told = ended(second, job.id)
            assert told["state"] == "done", told
            assert told["result"]["added"] == 41 - told["result"]["unchanged"]
            assert told["result"]["unchanged"] >= committed
            assert second.client.get(DEFAULT).json()["documents"] == 41
        finally:
            second.stop()


@pytest.mark.usefixtures("around")
def test_dropping_it_empties_the_database_and_moving_it_is_refused(notes: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    with thresher.open(home) as collection:
        collection.add(notes, recipe="rag")
    there = thresher.collections(home)
    for change in (lambda: there.rename("default", "other"), lambda: there.copy("default", "other")):
        with pytest.raises(UsageError, match="keeps its tables in a database"):
            change()
    there.drop("default")
    with thresher.open(tmp_path / "elsewhere") as collection, pytest.raises(thresher.StoreError, match="no documents"):
        collection.documents()


@pytest.mark.slow
@pytest.mark.usefixtures("around")
def test_a_process_that_is_killed_loses_nothing_and_leaves_no_half(tmp_path: Path) -> None:
    corpus = tmp_path / "corpus.jsonl"
    text = " ".join(f"Line {n} of coal." for n in range(45))  # so long that a commit is about 320 of them
    lines = (f'{{"_id": "d{n}", "title": "", "text": "Paragraph {n} of storm{n % 7}. {text}"}}' for n in range(700))
    corpus.write_text("\n".join(lines) + "\n", encoding="utf-8")
    code = f"""
import os, signal, itertools
import thresher
from thresher.testing.fakes import HashEncoder
calls = itertools.count()
stop = lambda: next(calls) > 600 and os.kill(os.getpid(), signal.SIGKILL)
thresher.open({str(tmp_path / "home")!r}, encoder=HashEncoder()).add({str(corpus)!r}, recipe="rag", stop=stop)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == -9, done.stderr
    with thresher.open(tmp_path / "home", encoder=HashEncoder()) as collection:
        before = len(collection.documents())
        assert 0 < before < 700
        report = collection.add(corpus, recipe="rag")
        assert (report.added, report.failed) == (700 - before, [])
        assert [table["chunks"] for table in collection.tables()] == [700]
        assert collection.doctor() == []


def test_a_collection_whose_database_nobody_names_says_so(
    notes: Path, tmp_path: Path, settings: dict[str, str]
) -> None:
    home = tmp_path / "home"
    with thresher.open(home) as collection, pytest.raises(UsageError, match=r"nothing says where; set `postgres.dsn`"):
        collection.add(notes, recipe="rag", settings={"store": "postgres"})


@pytest.mark.usefixtures("around")
@pytest.mark.parametrize("given", ["", None])
def test_an_empty_address_given_in_a_call_leaves_that_of_the_home(tmp_path: Path, given: str | None) -> None:
    PostgresSettings.model_validate({"dsn": given, "tenant": "acme"}).heed(tmp_path / "collections" / "default")
    found = of(tmp_path / "collections" / "default")
    assert (found.dsn is not None, found.tenant) == (True, "acme")


def test_the_address_is_guarded_and_never_shown() -> None:
    address = {"postgres.dsn": "host=db password=sesame"}
    assert guarded(address) == address
    assert "sesame" not in str(shown(address))
