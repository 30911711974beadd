"""A collection on PostgreSQL: chosen by settings, shared by homes, asked, purged and dropped as any other."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from uuid import uuid4

import pytest

import thresher
from tests.servers.postgres import why_not
from thresher.errors import UsageError
from thresher.testing.fakes import HashEncoder
from thresher.trusted import guarded, shown
from thresher_server.conversations import Conversations
from thresher_server.security.keys import Keys, Scope

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
def test_keys_and_conversations_are_shared(tmp_path: Path) -> None:
    first, second = tmp_path / "one", tmp_path / "two"
    secret = Keys(first).make("ann", [Scope.ASK], None)
    keys = Keys(second)
    assert keys.caller(secret) is not None
    Keys(first).revoke("ann")
    assert keys.caller(secret) is None
    begun = Conversations(first, "ann").begin("default")
    Conversations(second, "ann").add("default", begun.id, {"question": "Why?", "text": "Because.", "citations": []})
    assert Conversations(first, "ann").get("default", begun.id).history == [("Why?", "Because.")]


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


def test_the_address_is_guarded_and_never_shown() -> None:
    address = {"postgres.dsn": "host=db password=sesame"}
    assert guarded(address) == address
    assert "sesame" not in str(shown(address))
