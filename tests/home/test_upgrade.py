"""Homes that earlier code made, one for each that landed: today's code opens them, asks and indexes on.

Each holds two documents, `kopu.txt` and `gouda.txt`, indexed for the default recipe, a trace and a label. A new one is
made by indexing these two, asking and giving feedback, without the locks: tests/home/made/DATE.tar.gz.
"""

from __future__ import annotations

import tarfile
from pathlib import Path

import pytest

import thresher

MADE = sorted(Path(__file__).with_name("made").glob("*.tar.gz"))
QUESTION = "When was the lighthouse of Kopu built?"


@pytest.mark.parametrize("made", MADE, ids=lambda file: file.name.partition(".")[0])
def test_a_home_of_earlier_code_is_opened_asked_and_indexed_on(made: Path, tmp_path: Path) -> None:
    with tarfile.open(made) as packed:
        packed.extraction_filter = getattr(tarfile, "data_filter", None)
        packed.extractall(tmp_path)
    added = tmp_path / "sorve.txt"
    added.write_text("The lighthouse of Sorve is 52 metres high. It was built in 1960.", encoding="utf-8")
    with thresher.open(tmp_path / "home") as collection:
        assert sorted(Path(one.source).name for one in collection.documents()) == ["gouda.txt", "kopu.txt"]
        assert len(collection.labels.labels()) == 1
        assert collection.traces.sources()
        again, _ = collection.replay()
        gone = [lack for lack in again.degraded if lack.startswith("replay: settings of then")]
        assert "1531" in again.text
        assert len(gone) == 1
        assert "1531" in collection.ask(QUESTION).text
        report = collection.add(added)
        assert (report.added, report.unchanged) == (1, 0)
        assert "52 metres" in collection.ask("How high is the lighthouse of Sorve?").text
        assert collection.doctor() == []
        assert len(collection.delete(added)) == 1
