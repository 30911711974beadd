"""A file that is replaced is never half there, whoever else writes it."""

from __future__ import annotations

from pathlib import Path

import pytest

from thresher.errors import UsageError
from thresher_evals.jsonl import is_left_of, unfinished, write_whole
from thresher_evals.rows import is_begun


def test_a_file_is_replaced_and_nothing_is_left_beside_it(tmp_path: Path) -> None:
    for content in (b"one", b"two"):
        write_whole(tmp_path / "run.json", content)
        assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("run.json", content)]


def test_a_file_that_cannot_be_written_stays_as_it_was(tmp_path: Path) -> None:
    write_whole(tmp_path / "run.json", b"one")
    unfinished(tmp_path / "run.json").mkdir()
    with pytest.raises(OSError, match="directory"):
        write_whole(tmp_path / "run.json", b"two")
    assert (tmp_path / "run.json").read_bytes() == b"one"


def test_what_another_process_is_writing_is_not_touched(tmp_path: Path) -> None:
    other = tmp_path / "run.json.1.new"
    other.write_bytes(b"half")
    write_whole(tmp_path / "run.json", b"whole")
    assert other.read_bytes() == b"half"
    assert unfinished(tmp_path / "run.json") != other


def test_what_a_killed_process_left_of_the_first_file_is_nothing_to_go_on_with(tmp_path: Path) -> None:
    for name in ("run.json.new", "run.json.4711.new"):
        (tmp_path / name).touch()
        assert is_left_of(tmp_path / name, "run.json")
    assert not is_begun(tmp_path, "run.json", resume=False)
    (tmp_path / "thesis.new").touch()
    with pytest.raises(UsageError, match="already holds something"):
        is_begun(tmp_path, "run.json", resume=False)
    assert is_begun(tmp_path, "run.json", resume=True)


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "out").touch()
    with pytest.raises(UsageError, match="is not a folder"):
        is_begun(tmp_path / "out", "run.json", resume=True)
