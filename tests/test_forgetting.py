"""Forgetting for good: by name, after a delete, after a kill, in whatever quotes what is forgotten."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import thresher
from tests.conftest import Run
from tests.indexing.making import bytes_holding
from thresher.collection.forgetting import FILE
from thresher.errors import UnknownSetting, UsageError
from thresher.indexing.store import DocumentStore

SECRET = "confidentialia"
QUESTION = "What is the password of the confidentialia?"


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    folder = tmp_path / "texts"
    folder.mkdir()
    (folder / "secret.txt").write_text(f"The password of the {SECRET} is fishmonger.\n", encoding="utf-8")
    (folder / "tides.txt").write_text("The tide at Fernby rises by 4.2 metres in spring.\n", encoding="utf-8")
    return folder


def holding(home: Path) -> list[Path]:
    return bytes_holding(home, SECRET.encode())


def test_what_was_deleted_before_is_purged_by_its_name(texts: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    with thresher.open(home) as collection:
        collection.add(texts)
        collection.ask(QUESTION, recipe="rag")
        assert collection.delete("secret.txt") == [str(texts / "secret.txt")]
        assert len(holding(home)) >= 3
        assert collection.delete("secret.txt", purge=True) == [str(texts / "secret.txt")]
        assert holding(home) == []
        with pytest.raises(UnknownSetting):
            collection.delete("secret.txt", purge=True)
        assert [record.source for record in collection.documents()] == [str(texts / "tides.txt")]


@pytest.mark.parametrize(("cure", "step"), [("purge", "remove"), ("doctor", "maintain"), ("doctor", "traces")])
def test_a_purge_that_was_cut_short_is_finished(
    texts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str, cure: str
) -> None:
    home = tmp_path / "home"

    def killed(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    with thresher.open(home) as collection:
        collection.add(texts)
        collection.ask(QUESTION, recipe="rag")
        with monkeypatch.context() as patched:
            what = (type(collection.traces), "forget") if step == "traces" else (DocumentStore, step)
            patched.setattr(*what, killed)
            with pytest.raises(KeyboardInterrupt):
                collection.delete("secret.txt", purge=True)
    assert holding(home)
    with thresher.open(home) as again:
        if cure == "doctor":
            assert [finding.mended for finding in again.doctor(repair=False)][:1] == [False]
            assert "was cut short" in again.doctor()[0].what
            assert again.doctor() == []
        else:
            assert again.delete("tides.txt", purge=True) == [str(texts / "tides.txt")]
        assert again.files.read(FILE) is None
    assert holding(home) == []


def test_what_is_added_after_a_purge_was_cut_short_is_not_purged(
    texts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    with thresher.open(tmp_path / "home") as collection:
        collection.add(texts)
        with monkeypatch.context() as patched:
            patched.setattr(DocumentStore, "maintain", killed)
            with pytest.raises(KeyboardInterrupt):
                collection.delete("secret.txt", purge=True)
        (texts / "secret.txt").write_text("Nothing here is secret.", encoding="utf-8")
        collection.add(texts)
        assert "was cut short" in collection.doctor()[0].what
        assert [Path(record.source).name for record in collection.documents()] == ["tides.txt", "secret.txt"]
        assert collection.add(texts).unchanged == 2
    assert holding(tmp_path / "home") == []


def test_a_purge_reaches_follow_ups_and_collections_that_looked_in_this_one(texts: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    with thresher.open(home) as collection, thresher.open(home, collection="other") as other:
        collection.add(texts / "secret.txt")
        other.add(texts / "tides.txt")
        first = collection.ask(QUESTION, recipe="rag")
        other.ask("How high is the tide at Fernby?", recipe="rag", history=[(QUESTION, first.text)])
        other.ask(QUESTION, recipe="crag", outside="collection:default")
        assert len(holding(home / "collections" / "other")) == 2
        collection.delete("secret.txt", purge=True)
    left = [file.read_text(encoding="utf-8") for file in holding(home)]
    assert all("fishmonger" not in text for text in left)


def test_doctor_says_where_a_text_is_still_kept(texts: Path, tmp_path: Path, run: Run) -> None:
    home = tmp_path / "home"
    with thresher.open(home) as collection:
        collection.add(texts)
        assert {"table documents"} < set(collection.holding(SECRET))
    still = run("doctor", "--purged", SECRET, "--home", home)
    assert (still.code, "table documents" in still.out) == (1, True)
    run("delete", "secret.txt", "--purge", "--home", home)
    gone = run("doctor", "--purged", SECRET, "--purged", "fishmonger", "--home", home, "--json")
    assert (gone.code, gone.json) == (0, {SECRET: [], "fishmonger": []})


def test_a_next_version_that_cannot_be_read_is_said_to_leave_the_text_of_before(texts: Path, tmp_path: Path) -> None:
    with thresher.open(tmp_path / "home") as collection:
        collection.add(texts)
        (texts / "secret.txt").write_bytes(b"\x00\x01\x02" * 999)
        report = collection.add(texts)
    assert [error.subject for error in report.failed] == [str(texts / "secret.txt")]
    assert [(one.source, "last reading" in one.remark) for one in report.remarks] == [(str(texts / "secret.txt"), True)]


@pytest.mark.parametrize("name", ["0123456789.lance", ".tmpmvikVQ"])
def test_what_a_killed_process_wrote_goes_with_a_purge(texts: Path, tmp_path: Path, name: str) -> None:
    with thresher.open(tmp_path / "home") as collection:
        collection.add(texts)
        data = next((tmp_path / "home").rglob("documents.lance/data"))
        (data / name).write_bytes(next(data.iterdir()).read_bytes())
        collection.delete("secret.txt", purge=True)
    assert holding(tmp_path / "home") == []


def test_answers_that_rest_on_a_document_are_known_after_it_is_deleted(texts: Path, tmp_path: Path) -> None:
    with thresher.open(tmp_path / "home") as collection:
        collection.add(texts)
        answer = collection.ask("By how many metres does the tide at Fernby rise?")
        assert [one["trace"] for one in collection.resting_on("tides.txt")] == [answer.trace]
        assert collection.resting_on("secret.txt") == []
        collection.delete("tides.txt")
        assert [one["question"] for one in collection.resting_on("tides.txt")] == [answer.question]


def test_a_term_of_no_chunk_is_rarer_than_one_of_a_chunk(texts: Path, tmp_path: Path) -> None:
    with thresher.open(tmp_path / "home") as collection:
        collection.add(texts)
        rarity = collection.rarity("tide zeppelin")
        assert rarity["zeppelin"] > rarity["tide"]
        with pytest.raises(UsageError, match="reads no documents"):
            collection.rarity("tide", recipe="no-retrieval")
