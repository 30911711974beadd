"""Files that are sent under hostile names, and with hostile contents."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from filelock import FileLock

from tests.servers.own import running
from tests.servers.own_api import DEFAULT, added, documents
from thresher.indexing.store import DocumentStore
from thresher_server.receiving import clear_away
from thresher_server.uploads import LONGEST_PART, safe_name

NAMES = [
    "../../../etc/passwd.txt",
    "/etc/cron.d/evil.txt",
    "..\\..\\windows\\win.txt",
    "C:\\temp\\a.txt",
    "a\x00b.txt",
    "x" * 3000 + ".txt",
    "é" * 300 + ".txt",
    "a/" * 50 + "deep.txt",
    ".hidden.txt",
    "...",
    " ",
    "con.txt",
    "a\r\nX-Header: b.txt",
    "evil\u202etxt.exe",
    "\udce9.txt",
    "~root.txt",
    "$(reboot).txt",
    "-rf.txt",
    "a:b*c?.txt",
]


@pytest.mark.parametrize("name", NAMES, ids=range(len(NAMES)))
def test_a_hostile_name_becomes_a_path_below_ours(name: str) -> None:
    path = safe_name(name)
    assert path.parts
    assert not path.is_absolute()
    assert all(part not in ("", ".", "..") and not part.startswith(".") for part in path.parts)
    assert all(part.isprintable() and len(part.encode()) <= LONGEST_PART for part in path.parts)
    assert len(path.parts) <= 8
    assert safe_name(str(path)) == path  # safe names stay as they are


def test_hostile_names_write_nothing_beside_the_uploads(tmp_path: Path) -> None:
    home = tmp_path / "deep" / "home"
    sendable = [name for name in NAMES if "\udce9" not in name]
    with running(home) as one:
        job = added(one, [(name, f"The buoy number {at} is red.".encode()) for at, name in enumerate(sendable)])
        assert job["state"] == "done", job["log"]
        sources = [Path(place.file) for place in DocumentStore(one.service.collection().folder).all_places()]
    assert len(sources) >= len(sendable) - 2
    assert all(source.is_relative_to((home / "server" / "uploads").resolve()) for source in sources)
    outside = [file for file in tmp_path.rglob("*") if file.is_file() and not file.is_relative_to(home)]
    assert outside == []


def test_a_file_where_a_folder_is_is_refused(tmp_path: Path) -> None:
    with running(tmp_path) as one:
        added(one, [("a/b.txt", b"The buoy is red.")])
        told = one.client.post(f"{DEFAULT}/documents", files={"files": ("a", b"x")})
        assert told.status_code == 409
        told = one.client.post(f"{DEFAULT}/documents", files={"files": ("a/b.txt/c.txt", b"x")})
        assert told.status_code == 409


def test_a_next_version_that_cannot_be_read_leaves_the_one_before(tmp_path: Path) -> None:
    with running(tmp_path / "home") as one:
        for content, state in ((b"The bridge is 212 metres long.", "done"), (b"\x00\x01\x02" * 999, "failed")):
            assert added(one, [("bridge.txt", content)])["state"] == state
        (bridge,) = documents(one)
        assert one.client.get(f"{DEFAULT}/documents/{bridge['id']}/file").text == "The bridge is 212 metres long."
        assert added(one, [("bridge.txt", b"The bridge is 213 metres long.")])["state"] == "done"
        (bridge,) = documents(one)
        assert one.client.get(f"{DEFAULT}/documents/{bridge['id']}/file").text == "The bridge is 213 metres long."
    kept = [path.name for path in (tmp_path / "home" / "server" / "uploads").rglob("*") if path.is_file()]
    assert kept == ["bridge.txt"]


def test_a_document_whose_deletion_was_cut_short_still_has_its_file(tmp_path: Path) -> None:
    """A deletion forgets first that the file was read."""
    with running(tmp_path / "home") as one:
        added(one, [("bridge.txt", b"The bridge is 212 metres long.")])
        store, (bridge,) = DocumentStore(one.service.collection().folder), documents(one)
        store.remove([], files=store.files())
        assert one.client.get(f"{DEFAULT}/documents/{bridge['id']}/file").text == "The bridge is 212 metres long."


def test_what_a_killed_process_was_receiving_goes_at_the_next_start(tmp_path: Path) -> None:
    uploads = tmp_path / "home" / "server" / "uploads"
    for name in ("killed", "new", "held"):
        (uploads / "default-1" / f".incoming-{name}").mkdir(parents=True)
    for name in ("killed", "held"):
        os.utime(uploads / "default-1" / f".incoming-{name}", (0, 0))
    held = FileLock(uploads / "default-1" / ".incoming-held" / "lock")
    with held:
        os.utime(uploads / "default-1" / ".incoming-held", (0, 0))
        clear_away(uploads)
    assert sorted(path.name for path in (uploads / "default-1").iterdir()) == [".incoming-held", ".incoming-new"]
