from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from thresher.errors import StoreError
from thresher.home.places import LEFT_SECONDS, UNFINISHED, LocalFiles
from thresher.protocols import Files
from thresher_testing.files_contract import FilesContract


class TestLocalFiles(FilesContract):
    def open_files(self, folder: Path) -> Files:
        return LocalFiles(folder)


def test_what_a_killed_process_left_is_no_file_and_goes(tmp_path: Path) -> None:
    old, new = (tmp_path / "a" / f"{UNFINISHED}{number}-x.json" for number in (1, 2))
    files = LocalFiles(tmp_path)
    files.write("a/x.json", b"whole")
    for file in (old, new):
        file.write_bytes(b"ha")
    os.utime(old, (0, time.time() - LEFT_SECONDS - 1))
    assert [file.name for file in files.list()] == ["a/x.json"]
    assert (old.exists(), new.exists()) == (False, True)  # a process may be at work on the new one


def test_a_folder_that_is_in_the_way_is_an_error_in_words(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("no folder")
    files = LocalFiles(tmp_path)
    assert files.read("a/x.json") is None
    with pytest.raises(StoreError, match="cannot be written: File exists"):
        files.write("a/x.json", b"x")
    (tmp_path / "b").mkdir()
    with pytest.raises(StoreError, match="cannot be written: Is a directory"):
        files.write("b", b"x")
    assert [file.name for file in tmp_path.iterdir() if file.name.startswith(".")] == []
