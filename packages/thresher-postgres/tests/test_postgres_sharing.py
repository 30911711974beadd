"""Homes of several machines over one database: what one keeps the others have, and one stands in for another."""

from __future__ import annotations

from pathlib import Path
from uuid import uuid4

import httpx
import pytest

import thresher
from tests.server.jobs.test_worker import BATCH_CHARACTERS, DEFAULT, Served
from tests.server.jobs.test_worker import notes as notes_of
from tests.server.own_api import ended
from tests.servers.postgres import why_not
from thresher_server.conversations import Conversations, forget_collection
from thresher_server.jobs.store import Jobs
from thresher_server.security.access import Askers
from thresher_server.security.keys import Keys, Scope
from thresher_testing.llm_server import Reply, ScriptedServer

pytestmark = pytest.mark.skipif(bool(why_not()), reason=why_not())


@pytest.fixture
def prefix() -> str:
    return f"s{uuid4().hex[:12]}"


@pytest.fixture
def homes(dsn: str, prefix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """Two machines' homes, with the same settings in their environment."""
    monkeypatch.setenv("THRESHER_STORE", "postgres")
    monkeypatch.setenv("THRESHER_POSTGRES__DSN", dsn)
    monkeypatch.setenv("THRESHER_POSTGRES__PREFIX", prefix)
    return tmp_path / "one", tmp_path / "two"


def test_traces_labels_and_collections_are_shared(notes: Path, homes: tuple[Path, Path]) -> None:
    first, second = homes
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


def test_a_collection_on_lance_stays_in_its_folder(notes: Path, homes: tuple[Path, Path]) -> None:
    first, second = homes
    with thresher.open(first, "own") as own:
        own.add(notes / "lighthouse.md", recipe="rag", settings={"store": "lance"})
        own.ask("When was the lighthouse built?", recipe="rag")
    assert list((first / "collections" / "own" / "traces").glob("*.json"))
    assert thresher.collections(first).names == ["own"]
    assert thresher.collections(second).names == []


def test_keys_conversations_and_who_asked_are_shared(homes: tuple[Path, Path]) -> None:
    first, second = homes
    secret = Keys(first).make("ann", [Scope.ASK], None)
    keys = Keys(second)
    caller = keys.caller(secret)
    assert caller is not None
    assert (caller.name, caller.scopes) == ("ann", frozenset({Scope.ASK}))
    Keys(first).revoke("ann")
    assert keys.caller(secret) is None
    begun = Conversations(first, "ann").begin("default")
    turn = {"question": "Why?", "text": "Because.", "citations": []}
    Conversations(second, "ann").add("default", begun.id, turn)
    assert Conversations(first, "ann").get("default", begun.id).history == [("Why?", "Because.")]
    forget_collection(first, "default")
    assert Conversations(second, "ann").of("default") == []
    Askers(first).note(caller, "default", "ab12")
    Askers(second).rename("default", "other")
    assert Askers(first).may_see(caller, "other", "ab12")
    assert not Askers(first).may_see(caller, "default", "ab12")


def test_a_job_is_worked_on_where_its_files_are_and_by_one_at_a_time(homes: tuple[Path, Path], tmp_path: Path) -> None:
    first, second = (Jobs(home) for home in homes)
    gone = first.make("add", "default", "ann", {"sources": [str(tmp_path / "on another machine.txt")]})
    job = first.make("add", "default", "ann", {"sources": ["https://example.org/"]})
    with first.claimed() as claim, second.claimed() as none:
        assert claim is not None
        assert none is None
        claim = claim.told(state="running")
        claim.log("begun")
        assert second.log(job.id)[0].endswith("begun")
        assert second.cancel(job.id).state == "running"
        assert claim.is_cancelled
        claim.told(state="cancelled", ended="2026-01-05T10:15:00+00:00")
    assert {one.id: one.state for one in second.all()} == {job.id: "cancelled", gone.id: "queued"}
    (tmp_path / "on another machine.txt").write_text("x")
    with second.claimed() as claim:
        assert claim is not None
        assert claim.job.id == gone.id


@pytest.mark.slow
def test_a_job_whose_server_was_killed_is_taken_up_by_another_machines(
    homes: tuple[Path, Path], tmp_path: Path
) -> None:
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
            assert any("taken up again" in line for line in told["log"])
            assert second.client.get(DEFAULT).json()["documents"] == 41
        finally:
            second.stop()
