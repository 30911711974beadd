"""Rows kept in memory give the same answers as the table they came from, and never outlive a change of it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.indexing.making import ENCODER, row
from thresher.filters import Filter, IsNull, Not
from thresher.stores.lance import LanceStore
from thresher.stores.lance_chunks import LanceChunkTable
from thresher.types import Chunk

WORDS = [
    "grain",
    "chaff",
    "field",
    "water",
    "judge",
    "letter",
    "river",
    "market",
    "paper",
    "light",
    "engine",
    "garden",
    "winter",
    "bridge",
    "music",
]
TEXTS = {f"c{n:02}": f"{WORDS[n % 15]} {WORDS[n * 7 % 15]} {WORDS[n * 4 % 15]}" for n in range(40)}
EVERYTHING = Not(IsNull("id"))  # with a filter, the table itself is searched


@pytest.fixture
def table(tmp_path: Path) -> LanceChunkTable:
    store = LanceStore(tmp_path / "lance")
    store.create("chunks_t", dimension=ENCODER.dimension)
    opened = store.open("chunks_t")
    opened.append([row(id_, text, document_id=f"d{id_}") for id_, text in TEXTS.items()])
    opened.maintain()
    return opened


@pytest.fixture
def warm(table: LanceChunkTable) -> LanceChunkTable:
    """A table that was asked twice, so that its rows are in memory."""
    for _ in range(2):
        table.nearest(ENCODER.encode_query("grain"), limit=1)
    assert table._memory is not None
    return table


Search = Callable[[LanceChunkTable, Filter | None], list[tuple[Chunk, float]]]

SEARCHES: dict[str, Search] = {
    "nearest": lambda table, where: table.nearest(ENCODER.encode_query("water market"), limit=7, where=where),
    "matching": lambda table, where: table.matching("water market winter", limit=40, where=where),
    "nothing": lambda table, where: table.matching("zeppelin", limit=7, where=where),
    "everything": lambda table, where: table.nearest(ENCODER.encode_query("river"), limit=100, where=where),
}


@pytest.mark.parametrize("name", SEARCHES)
def test_memory_and_disk_find_the_same_chunks_in_the_same_order(warm: LanceChunkTable, name: str) -> None:
    search = SEARCHES[name]
    kept, read = search(warm, None), search(warm, EVERYTHING)
    assert [chunk for chunk, _ in kept] == [chunk for chunk, _ in read]
    assert [score for _, score in kept] == pytest.approx([score for _, score in read], abs=1e-5)


def test_a_first_question_reads_nothing_into_memory(table: LanceChunkTable) -> None:
    table.nearest(ENCODER.encode_query("grain"), limit=1)
    assert table._memory is None


def test_a_new_row_is_found_at_once(warm: LanceChunkTable) -> None:
    warm.append([row("new", "zeppelin over water", document_id="dnew")])
    for _ in range(3):
        assert warm.nearest(ENCODER.encode_query("zeppelin over water"), limit=1)[0][0].id == "new"
        assert [chunk.id for chunk, _ in warm.matching("zeppelin", limit=3)] == ["new"]


def test_a_deleted_row_is_gone_at_once(warm: LanceChunkTable) -> None:
    warm.delete(["dc03"])
    for _ in range(3):
        assert "c03" not in {chunk.id for chunk, _ in warm.nearest(ENCODER.encode_query(TEXTS["c03"]), limit=40)}
        assert "c03" not in {chunk.id for chunk, _ in warm.matching(TEXTS["c03"], limit=40)}


def test_compaction_does_not_mix_up_rows(warm: LanceChunkTable) -> None:
    warm.delete([f"dc{n:02}" for n in range(0, 40, 3)])
    warm.maintain()
    for _ in range(3):
        for chunk, _ in warm.matching("water market winter", limit=40):
            assert chunk.text == TEXTS[chunk.id]


def test_a_renamed_source_is_seen_at_once(warm: LanceChunkTable) -> None:
    warm.rename("dc05", source="elsewhere.txt", title="New")
    for _ in range(3):
        found = {chunk.id: chunk for chunk, _ in warm.matching(TEXTS["c05"], limit=40)}
        assert (found["c05"].source, found["c05"].title) == ("elsewhere.txt", "New")
