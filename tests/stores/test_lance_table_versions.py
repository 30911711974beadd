"""A version that was read once is not asked for again until the folder of versions changes."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import lancedb
import pyarrow as pa
import pytest

from thresher.stores.lance_table import LanceRecords, TableVersion


@dataclass
class CountedTable:
    """Stands for a table: its version, and how often it was asked."""

    name: str = "t"
    now: int = 1
    asked: int = 0

    @property
    def version(self) -> int:
        self.asked += 1
        return self.now


@pytest.fixture
def manifests(tmp_path: Path) -> Path:
    folder = tmp_path / "t.lance" / "_versions"
    folder.mkdir(parents=True)
    (folder / "1.manifest").touch()
    return folder


def test_the_store_is_asked_once_as_long_as_nothing_changes(tmp_path: Path, manifests: Path) -> None:
    table = CountedTable()
    version = TableVersion(table, tmp_path)
    assert [version.newest() for _ in range(5)] == [1] * 5
    assert table.asked == 1


def test_a_commit_and_a_clean_up_are_seen_at_once(tmp_path: Path, manifests: Path) -> None:
    table = CountedTable()
    version = TableVersion(table, tmp_path)
    version.newest()
    table.now = 2
    (manifests / "2.manifest").touch()
    assert version.newest() == 2
    table.now = 3
    (manifests / "1.manifest").rename(manifests / "3.manifest")  # as many manifests as before
    assert version.newest() == 3


def test_without_a_folder_of_versions_the_store_is_always_asked(tmp_path: Path) -> None:
    table = CountedTable()
    version = TableVersion(table, tmp_path)
    assert (version.newest(), version.newest(), table.asked) == (1, 1, 2)


def test_a_reader_that_looks_for_versions_seldom_begins_again_at_the_newest_when_its_own_was_dropped(
    tmp_path: Path,
) -> None:
    schema = pa.schema([("key", pa.string()), ("value", pa.string())])
    written = LanceRecords(lancedb.connect(tmp_path).create_table("t", schema=schema), tmp_path, key="key")
    written.merge([{"key": "a", "value": "first"}])
    seldom = lancedb.connect(tmp_path, read_consistency_interval=timedelta(hours=1)).open_table("t")
    written.merge([{"key": "a", "value": "last"}])
    written.maintain(drop_versions=True)
    assert LanceRecords(seldom, tmp_path, key="key").get(["a"])["a"]["value"] == "last"
