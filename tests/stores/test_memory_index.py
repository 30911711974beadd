"""Rows kept in memory give the same answers as the table they came from, and never outlive a change of it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from tests.indexing.making import ENCODER, row
from thresher.stores.lance import LanceChunkTable, LanceStore
from thresher.types import And, Chunk, Filter, In, IsNull, Not

WORDS = "grain chaff field water judge letter river market paper light engine garden winter bridge music".split()  # noqa: SIM905
TEXTS = {f"c{n:02}": f"{WORDS[n % 15]} {WORDS[n * 7 % 15]} {WORDS[n * 4 % 15]}" for n in range(40)}
EVERYTHING = Not(IsNull("id"))  # with a filter, the table itself is searched


@pytest.fixture
def warm(table: LanceChunkTable) -> LanceChunkTable:
    """A table that was asked twice, so that its rows are in memory."""
    for _ in range(2):
        table.nearest(ENCODER.encode_query("grain"), limit=1)
    assert table._memory.of(table) is not None
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


@pytest.mark.parametrize(
    "where",
    [
        In("id", ("c01", "c05", "c07", "nowhere")),
        In("document_id", ("dc02", "dc09")),
        In("parent_id", ("p1",)),
        And((In("document_id", ("dc02", "dc09", "dc11")), In("id", ("c09", "c11", "c12")))),
        And((In("document_id", ("dc02", "dc09", "dc11")), Not(In("id", ("c09",))))),
        In("id", ()),
    ],
    ids=["id", "document", "parent", "both", "one that is read from disk", "none"],
)
def test_a_filter_on_ids_finds_in_memory_what_it_finds_on_disk(
    table: LanceChunkTable, store: LanceStore, where: Filter
) -> None:
    table.append([row(f"s{n}", f"part {n} of the market", document_id="dp", parent_id=f"p{n % 2}") for n in range(6)])
    search = SEARCHES["nearest"]
    read = search(store.open("chunks_t"), where)
    for _ in range(2):
        search(table, None)
    assert table._memory.of(table) is not None
    kept = search(table, where)
    assert [chunk for chunk, _ in kept] == [chunk for chunk, _ in read]
    assert [score for _, score in kept] == pytest.approx([score for _, score in read], abs=1e-5)


def test_vectors_are_those_of_the_disk(warm: LanceChunkTable, store: LanceStore) -> None:
    wanted = ["c07", "c01", "c30", "c01"]
    np.testing.assert_array_equal(warm.vectors(wanted), store.open("chunks_t").vectors(wanted))
    with pytest.raises(KeyError):
        warm.vectors(["c07", "nowhere"])


def test_rows_are_read_into_memory_at_the_second_question_by_words_or_by_vectors(table: LanceChunkTable) -> None:
    table.nearest(ENCODER.encode_query("grain"), limit=1)
    first = table.matching("water market winter", limit=9)
    assert table._memory.of(table) is None
    assert table.matching("water market winter", limit=9) == first
    assert table._memory.of(table) is not None


def test_a_change_is_seen_at_once(warm: LanceChunkTable) -> None:
    warm.append([row("new", "zeppelin over water", document_id="dnew")])
    warm.delete(["dc03"])
    warm.rename("dc05", source="elsewhere.txt", title="New")
    for _ in range(3):
        assert warm.nearest(ENCODER.encode_query("zeppelin over water"), limit=1)[0][0].id == "new"
        assert [chunk.id for chunk, _ in warm.matching("zeppelin", limit=3)] == ["new"]
        assert "c03" not in {chunk.id for chunk, _ in warm.nearest(ENCODER.encode_query(TEXTS["c03"]), limit=40)}
        assert "c03" not in {chunk.id for chunk, _ in warm.matching(TEXTS["c03"], limit=40)}
        found = {chunk.id: chunk for chunk, _ in warm.matching(TEXTS["c05"], limit=40)}
        assert (found["c05"].source, found["c05"].title) == ("elsewhere.txt", "New")


def test_compaction_does_not_mix_up_rows(warm: LanceChunkTable) -> None:
    warm.delete([f"dc{n:02}" for n in range(0, 40, 3)])
    warm.maintain()
    for _ in range(3):
        for chunk, _ in warm.matching("water market winter", limit=40):
            assert chunk.text == TEXTS[chunk.id]
