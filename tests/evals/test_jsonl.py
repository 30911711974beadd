"""A file that is replaced is never half there, whoever else writes it."""

from __future__ import annotations

from pathlib import Path

import pytest

from thresher_evals.jsonl import unfinished, write_whole


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
