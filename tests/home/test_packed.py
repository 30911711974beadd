"""A packed collection of somebody else: bombs, names, links, stores, forged rows."""

from __future__ import annotations

import gzip
import io
import json
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import thresher
from thresher.errors import UsageError
from thresher.home import packed
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
        for header, content in [(tarfile.TarInfo(packed.MANIFEST), json.dumps(manifest).encode()), *members]:
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


def test_what_unpacks_to_far_more_than_its_size_is_refused(exported: Path, tmp_path: Path) -> None:
    huge = member("collections/lance/documents.lance/data/x.lance", bytes(80 * 1024 * 1024))
    with pytest.raises(UsageError):
        thresher.collections(tmp_path).read(made(exported, tmp_path / "bomb", lambda all_: all_.append(huge)))
    empty = gzip.compress(tarfile.TarInfo("x").tobuf() * 200_000)
    (tmp_path / "many").write_bytes(empty)
    with pytest.raises(UsageError):
        thresher.collections(tmp_path).read(tmp_path / "many")


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
        table = collection._store.record_table("documents")
        [row] = table.get([collection.documents()[0].id]).values()
        forged = {**row, "text": "The tide rises by 9 metres.", "places": row["places"].replace("tides", "gone")}
        table.merge([forged])
    thresher.collections(tmp_path / "home").write("default", tmp_path / "forged.thresher")
    with pytest.raises(UsageError, match="damaged or forged"):
        thresher.collections(tmp_path / "home").read(tmp_path / "forged.thresher", "taken")
