"""A packed collection of somebody else: bombs, names, links, stores, forged rows; and a whole home, and back."""

from __future__ import annotations

import gzip
import io
import json
import subprocess
import sys
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import thresher
from tests.conftest import Run
from thresher.errors import UsageError
from thresher.home import collections as packed
from thresher.indexing.store import DocumentStore

MANIFEST = {"format": 1, "name": "default"}


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("exported")
    (folder / "tides.txt").write_text("The tide at Fernby rises by 4.2 metres in spring.\n", encoding="utf-8")
    with thresher.open(folder / "home") as collection:
        collection.add(folder / "tides.txt")
    thresher.collections(folder / "home").write("default", folder / "x.thresher")
    return folder


def made(
    exported: Path, to: Path, change: Callable[[list[tuple[tarfile.TarInfo, bytes]]], Any], manifest: Any = MANIFEST
) -> Path:
    """The exported file with another manifest and changed members."""
    with tarfile.open(exported / "x.thresher") as before:
        members = [(one, before.extractfile(one).read() if one.isfile() else b"") for one in before]  # type: ignore[union-attr]
    members = members[1:]
    change(members)
    with tarfile.open(to, "w:gz") as after:
        for header, content in [(tarfile.TarInfo(packed.COLLECTION), json.dumps(manifest).encode()), *members]:
            header.size = len(content)
            after.addfile(header, io.BytesIO(content))
    return to


def member(name: str, content: bytes = b"x", kind: bytes = tarfile.REGTYPE, link: str = "") -> tuple[Any, bytes]:
    header = tarfile.TarInfo(name)
    header.type, header.linkname = kind, link
    return header, content


BAD = {
    "a link": member("collections/lance/documents.lance/data/x", b"", tarfile.SYMTYPE, "/etc/passwd"),
    "a hard link": member("collections/lance/x", b"", tarfile.LNKTYPE, "collections/collection.json"),
    "a device": member("collections/lance/x", b"", tarfile.CHRTYPE),
    "a way out": member("collections/lance/../../../x"),
    "an escape": member("collections/lance/\x1b[2J.lance"),
    "a hidden name": member("collections/lance/.x"),
    "a deep folder": member("collections/lance/" + "a/" * 20 + "x"),
    "another store": member("collections/collection.json", b'{"store": "postgres"}'),
    "no store": member("collections/collection.json", b"[" * 100_000),
    "a cut table": member("collections/lance/documents.lance/_versions/18446744073709551613.manifest", b"no manifest"),
}


@pytest.mark.parametrize("what", BAD)
def test_what_is_none_of_ours_is_refused_and_nothing_stays(exported: Path, tmp_path: Path, what: str) -> None:
    header, content = BAD[what]

    def change(members: list[tuple[tarfile.TarInfo, bytes]]) -> None:
        members[:] = [one for one in members if one[0].name != header.name] + [(header, content)]

    file = made(exported, tmp_path / "bad.thresher", change)
    with pytest.raises(UsageError):
        thresher.collections(tmp_path / "home").read(file, "taken")
    collections = tmp_path / "home" / "collections"
    assert not collections.exists() or list(collections.iterdir()) == []


@pytest.mark.parametrize(
    "manifest", [{"format": 1, "name": "\x1b[2J"}, {"format": 1, "name": "../x"}, {"format": 9}, []]
)
def test_a_bad_manifest_is_refused(exported: Path, tmp_path: Path, manifest: Any) -> None:
    with pytest.raises(UsageError):
        thresher.collections(tmp_path).read(made(exported, tmp_path / "bad.thresher", lambda _: None, manifest))


def test_what_unpacks_to_far_more_than_its_size_is_refused(
    exported: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packed, "SMALLEST_BOUND", 1024 * 1024)
    huge = member("collections/lance/documents.lance/data/x.lance", bytes(8 * 1024 * 1024))
    made(exported, tmp_path / "bomb", lambda all_: all_.append(huge))
    (tmp_path / "many").write_bytes(gzip.compress(tarfile.TarInfo("x").tobuf() * 20_000))
    for name in ("bomb", "many"):
        with pytest.raises(UsageError):
            thresher.collections(tmp_path).read(tmp_path / name)


def test_a_long_header_is_not_read_into_memory(exported: Path, tmp_path: Path) -> None:
    header = tarfile.TarInfo("././@PaxHeader")
    header.type, header.size = tarfile.XHDTYPE, 40 * 1024 * 1024
    (tmp_path / "pax").write_bytes(gzip.compress(header.tobuf() + bytes(header.size)))
    with pytest.raises(UsageError):
        thresher.collections(tmp_path).read(tmp_path / "pax")


def test_calibrations_and_tokens_are_not_taken(exported: Path, tmp_path: Path) -> None:
    forged = [member("collections/calibrations.json", b'{"x": 1}'), member("collections/uploads", b"../../../../etc")]
    file = made(exported, tmp_path / "x.thresher", lambda members: members.extend(forged))
    thresher.collections(tmp_path / "home").read(file)
    with thresher.open(tmp_path / "home") as collection:
        assert collection.ask("How high is the tide at Fernby?", recipe="rag").text
        assert collection.files.read("calibrations.json") is collection.files.read("uploads") is None


def test_a_file_of_this_machine_is_an_original_only_where_its_bytes_are_the_recorded_ones(
    exported: Path, tmp_path: Path
) -> None:
    thresher.collections(tmp_path / "same").read(exported / "x.thresher")
    assert list(DocumentStore(tmp_path / "same" / "collections" / "default").files()) == [str(exported / "tides.txt")]
    (exported / "tides.txt").write_text("Another text.", encoding="utf-8")
    thresher.collections(tmp_path / "other").read(exported / "x.thresher")
    assert DocumentStore(tmp_path / "other" / "collections" / "default").files() == {}
    (exported / "tides.txt").write_text("The tide at Fernby rises by 4.2 metres in spring.\n", encoding="utf-8")


def test_a_forged_row_is_refused(exported: Path, tmp_path: Path) -> None:
    with thresher.open(tmp_path / "home") as collection:
        collection.add(exported / "tides.txt")
        table = collection.opened.store.record_table("documents")
        [row] = table.get([collection.documents()[0].id]).values()
        forged = {**row, "text": "The tide rises by 9 metres.", "places": row["places"].replace("tides", "gone")}
        table.merge([forged])
    thresher.collections(tmp_path / "home").write("default", tmp_path / "forged.thresher")
    with pytest.raises(UsageError, match="damaged or forged"):
        thresher.collections(tmp_path / "home").read(tmp_path / "forged.thresher", "taken")


# --- a whole home -----------------------------------------------------------------------------------------------------

WRITER = """
import sys
from pathlib import Path
import thresher
with thresher.open(sys.argv[1]) as collection:
    print("begun", flush=True)
    for number in range(1000):
        file = Path(sys.argv[2]) / f"{number % 7}.txt"
        file.write_text(f"The tide at Fernby rises by {number} metres.")
        collection.add(file)
        if number % 5 == 4:
            collection.delete(file)
        collection.ask("How high is the tide at Fernby?", recipe="rag")
"""


def test_a_home_comes_back_whole(home: Path, tmp_path: Path, run: Run) -> None:
    question = "When was the K\u00f5pu lighthouse built?"
    with thresher.open(home) as collection:
        answer = collection.ask(question, recipe="rag")
        collection.feedback(answer.trace, right=True)
    (home / "server").mkdir(exist_ok=True)
    (home / "server" / "keys.json").write_text("[]")
    file, new = tmp_path / "home.backup", tmp_path / "new"
    assert run("backup", file, "--home", home).code == 0
    assert file.stat().st_mode & 0o077 == 0
    assert run("restore", file, "--home", new).out == f"{new} is restored from {file}\n"
    with thresher.open(new) as collection, thresher.open(home) as before:
        assert collection.documents() == before.documents()
        assert collection.traces.load(answer.trace)["text"] == answer.text
        assert len(collection.labels.labels()) == 1
        assert collection.ask(question, recipe="rag").text == answer.text
        assert collection.doctor() == []
    assert (new / "server" / "keys.json").read_text() == "[]"
    assert not [path for path in (*home.iterdir(), *new.iterdir()) if path.name.startswith(".")]
    with pytest.raises(UsageError, match="is there already"):
        packed.restore(new, file)


def test_nobody_else_may_read_a_backup_while_it_is_made(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = set()

    def look(*_: object, **__: object) -> None:
        seen.update(file.stat().st_mode & 0o077 for file in tmp_path.glob(".home.backup.*"))

    monkeypatch.setattr(tarfile.TarFile, "add", look)
    packed.backup(home, tmp_path / "home.backup")
    assert seen == {0}


@pytest.mark.slow
def test_a_home_is_written_while_another_process_indexes_deletes_and_asks(tmp_path: Path) -> None:
    home, texts = tmp_path / "home", tmp_path / "texts"
    texts.mkdir()
    command = [sys.executable, "-c", WRITER, str(home), str(texts)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None
        writer.stdout.readline()
        while not list(home.glob("collections/default/traces/*.json")):
            assert writer.poll() is None
        for number in range(3):
            packed.backup(home, tmp_path / f"{number}.backup")
        assert writer.poll() is None
        writer.kill()
    for number in range(3):
        assert packed.restore(tmp_path / f"{number}", tmp_path / f"{number}.backup") == []
        with thresher.open(tmp_path / f"{number}") as collection:
            assert {finding.where for finding in collection.doctor() if not finding.mended} == set()
            assert collection.ask("How high is the tide at Fernby?", recipe="rag").citations


def test_what_is_no_backup_is_refused_and_nothing_stays(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("no backup")
    with tarfile.open(tmp_path / "other", "w:gz") as other:
        other.add(tmp_path / "text", "home/x")
    for name in ("text", "other", "nothing"):
        with pytest.raises(UsageError):
            packed.restore(tmp_path / "new", tmp_path / name)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["other", "text"]
    with pytest.raises(UsageError, match="no such home"):
        packed.backup(tmp_path / "nowhere", tmp_path / "x")
