"""What became of a file since it was indexed is told from its size and its time of change."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import thresher
from tests.documents.making import archive
from thresher.indexing.on_disk import became, is_gone, stale, state
from thresher.testing.fakes import HashEncoder


def test_a_member_of_an_archive_is_as_stale_as_the_archive_and_a_text_never_is(tmp_path: Path) -> None:
    file = tmp_path / "notes.zip"
    file.write_bytes(archive({"a.txt": b"Bring a lamp to the cellar.", "b.txt": b"The barn has three doors."}))
    with thresher.open(tmp_path / "home", encoder=HashEncoder(32)) as collection:
        collection.add(file)
        collection.add_text("The attic door sticks.", source="/notes/attic")
        ids = [one.id for one in collection.documents()]
        store = collection.opened.store
        assert (len(ids), stale(store, ids)) == (3, {})
        os.utime(file, ns=(1, 1))
        assert stale(store, ids) == dict.fromkeys(ids[:2], "changed")
        file.unlink()
        assert stale(store, ids) == dict.fromkeys(ids[:2], "gone")
        collection.add_text("Bring a lamp to the cellar.", source="note:1")  # no file: it takes no place of one
        assert collection.documents()[0].also == ("note:1",)


def test_in_a_shared_store_a_file_is_looked_at_where_its_folder_is(tmp_path: Path) -> None:
    folder = tmp_path / "papers"
    folder.mkdir()
    (file := folder / "a.txt").write_text("Oats.")
    size, modified = state(file) or (0, 0)
    below = {"source": str(file), "root": str(folder), "size": size, "modified": modified}
    by_itself = {**below, "root": str(file)}  # as an uploaded file, of which another server has a copy or none
    assert [became(one, shared=True) for one in (below, by_itself)] == ["", ""]
    file.unlink()
    assert [became(one, shared=True) for one in (below, by_itself)] == ["gone", ""]
    shutil.rmtree(folder)
    assert [became(one, shared=True) for one in (below, by_itself)] == ["", ""]
    assert [became(one) for one in (below, by_itself)] == ["gone", "gone"]


def test_what_is_no_path_is_not_gone(tmp_path: Path) -> None:
    assert is_gone(str(tmp_path / "none" / "a.txt"))
    for other in ("https://example.org/a.txt", "note:1", "stdin:0011", f"{tmp_path}/\0", f"{tmp_path}/{'a' * 300}"):
        assert not is_gone(other)
