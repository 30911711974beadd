"""The store on LanceDB: scores are what their formulas say, and no index ever hides a row."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.indexing.making import ENCODER, bytes_holding, row
from thresher.errors import StoreError
from thresher.protocols import MOST_VERSIONS
from thresher.stores.lance import LanceStore
from thresher.stores.lance_chunks import LanceChunkTable
from thresher.stores.lance_table import store_error
from thresher.types import ChunkRow
from thresher_testing.store_samples import TEXTS


@pytest.fixture
def store(tmp_path: Path) -> LanceStore:
    return LanceStore(tmp_path / "lance")


@pytest.fixture
def table(store: LanceStore) -> LanceChunkTable:
    store.create("chunks_t", dimension=ENCODER.dimension)
    opened = store.open("chunks_t")
    opened.append([row(id_, text, document_id=f"d{id_}") for id_, text in TEXTS.items()])
    opened.maintain()
    return opened


def bm25(rows: dict[str, list[str]], terms: list[str]) -> dict[str, float]:
    """The formula of the docstring of `matching`, written down once more."""
    lengths = {id_: len(words) for id_, words in rows.items()}
    mean = sum(lengths.values()) / len(lengths)
    scores: Counter[str] = Counter()
    for term in set(terms):
        holding = [id_ for id_, words in rows.items() if term in words]
        idf = math.log(1 + (len(rows) - len(holding) + 0.5) / (len(holding) + 0.5))
        for id_ in holding:
            often = rows[id_].count(term)
            scores[id_] += idf * often * 2.2 / (often + 1.2 * (0.25 + 0.75 * lengths[id_] / mean))
    return dict(scores)


def assert_bm25(table: LanceChunkTable, rows: dict[str, list[str]], query: str) -> None:
    found = table.matching(query, limit=100)
    expected = bm25(rows, query.split())
    assert {chunk.id for chunk, _ in found} == set(expected)
    for chunk, score in found:
        assert score == pytest.approx(expected[chunk.id], rel=1e-5)
    assert [c.id for c, _ in found] == [c.id for c, _ in sorted(found, key=lambda pair: (-pair[1], pair[0].id))]
    assert table.document_frequencies(query) == {
        term: sum(term in words for words in rows.values()) for term in dict.fromkeys(query.split())
    }


# --- BM25 -------------------------------------------------------------------------------------------------------------

WORDS = ["coal", "grain", "ship", "night", "tower", "storm"]  # each its own stem


@settings(max_examples=5, deadline=None)
@given(
    st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=12), min_size=4, max_size=30),
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=3, unique=True),
    st.data(),
)
def test_scores_follow_the_formula_after_adding_deleting_and_renaming(
    tmp_path_factory: pytest.TempPathFactory, texts: list[list[str]], query: list[str], data: st.DataObject
) -> None:
    store = LanceStore(tmp_path_factory.mktemp("bm25"))
    store.create("chunks_b", dimension=ENCODER.dimension)
    table = store.open("chunks_b")
    rows = {f"c{n:02}": words for n, words in enumerate(texts)}
    half = len(rows) // 2
    for part in (list(rows.items())[:half], list(rows.items())[half:]):
        table.append([row(id_, " ".join(words), document_id=id_) for id_, words in part])
        table.maintain()
    assert_bm25(table, rows, " ".join(query))
    gone = data.draw(st.sets(st.sampled_from(sorted(rows)), min_size=1, max_size=len(rows) - 1))
    table.delete(gone)
    left = {id_: words for id_, words in rows.items() if id_ not in gone}
    table.rename(min(left), source="elsewhere.txt", title="")
    assert table.stale()
    table.maintain()
    assert table.stale() == []
    assert_bm25(table, left, " ".join(query))


def test_a_deletion_is_remembered_by_who_opens_the_table_next(store: LanceStore, table: LanceChunkTable) -> None:
    table.delete(["dc3"])
    del table
    other = LanceStore(store._folder).open("chunks_t")
    assert other.stale() == ["the BM25 statistics still count deleted chunks"]
    other._table.optimize()  # what Lance itself does about it is not enough, and may not hide it
    assert other.stale() == ["the BM25 statistics still count deleted chunks"]
    other.maintain()
    assert store.open("chunks_t").stale() == []


# --- vectors ----------------------------------------------------------------------------------------------------------


def test_an_approximate_index_is_built_above_its_number_of_rows_and_hides_nothing(tmp_path: Path) -> None:
    store = LanceStore(tmp_path, ann_rows=300)
    store.create("chunks_a", dimension=ENCODER.dimension)
    table = store.open("chunks_a")
    table.append([row(f"c{n}", f"word{n} filler", document_id=f"d{n}") for n in range(300)])
    assert "the vector index is missing" in table.stale()
    table.maintain()
    assert table.stale() == []
    table.append([row("new", "something quite different", document_id="new")])
    vector = ENCODER.encode_query("something quite different")
    assert [chunk.id for chunk, _ in table.nearest(vector, limit=1)] == ["new"]
    assert "1 chunks are not yet in the index of vector" in table.stale()
    table.maintain()
    assert table.stale() == []
    ((found, cosine),) = table.nearest(vector, limit=1)
    assert (found.id, cosine) == ("new", pytest.approx(1.0, abs=1e-3))
    table.delete(["new"])
    assert table.nearest(vector, limit=1)[0][0].id != "new"


# --- rows -------------------------------------------------------------------------------------------------------------


def test_a_second_handle_sees_every_change_at_once(store: LanceStore, table: LanceChunkTable) -> None:
    other = LanceStore(store._folder).open("chunks_t")
    before = other.version
    table.append([row("new", "A zeppelin")])
    assert other.count() == len(TEXTS) + 1
    assert other.version > before
    assert other.stale()
    assert [chunk.id for chunk, _ in other.matching("zeppelin", limit=5)] == ["new"]


def test_reading_all_chunks_goes_beyond_one_batch(store: LanceStore) -> None:
    store.create("chunks_l", dimension=ENCODER.dimension)
    table = store.open("chunks_l")
    one = ENCODER.encode_query("x")
    rows = [row(f"{n}", "x", document_id=f"d{n % 7}") for n in range(3)]
    table.append([ChunkRow(r.chunk, r.kind, r.added, r.date, one) for r in rows] * 700)
    assert sum(len(batch) for batch in table.chunks()) == table.count() == 2100
    assert max(len(batch) for batch in table.chunks()) <= 1024
    assert sum(table.document_ids().values()) == 2100


# --- upkeep and damage ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("index", ["terms_idx", "id_idx", "document_id_idx"])
def test_a_lost_index_is_noticed_and_made_again(table: LanceChunkTable, index: str) -> None:
    table._table.drop_index(index)
    assert table.stale() == [f"the index of {index.removesuffix('_idx')} is missing"]
    assert {chunk.id for chunk, _ in table.matching("coal", limit=5)} == {"c3", "c4"}
    table.maintain()
    assert table.stale() == []


def test_a_purge_leaves_no_byte_of_the_deleted_text(tmp_path: Path) -> None:
    store = LanceStore(tmp_path)
    store.create("chunks_p", dimension=ENCODER.dimension)
    table = store.open("chunks_p")
    records = store.records("documents", key="id", columns={"id": "text", "text": "text"})
    texts = {f"d{n}": f"Paragraph {n} says unmistakable{n}word and more." for n in range(50)}
    table.append([row(f"c{id_}", text, document_id=id_) for id_, text in texts.items()])
    records.append([{"id": id_, "text": text} for id_, text in texts.items()])
    for one in (table, records):
        one.maintain()
    assert bytes_holding(tmp_path, b"unmistakable7word")
    table.delete(["d7"])
    records.merge([], remove=["d7"])
    table.maintain(drop_versions=True)
    records.maintain(drop_versions=True)
    assert bytes_holding(tmp_path, b"unmistakable7word") == []
    assert bytes_holding(tmp_path, b"unmistakable8word")
    assert table.stale() == []
    assert (table.count(), len(records.rows(["id"]))) == (49, 49)
    assert [chunk.id for chunk, _ in table.matching("unmistakable8word", limit=3)] == ["cd8"]


def test_a_damaged_file_is_an_error_in_words(store: LanceStore, table: LanceChunkTable) -> None:
    for file in (store._folder / "chunks_t.lance" / "data").iterdir():
        file.write_bytes(b"no longer a table")
    with pytest.raises(StoreError, match=r"call `doctor\(\)`") as error:
        LanceStore(store._folder).open("chunks_t").nearest(ENCODER.encode_query("x"), limit=3)
    assert "\n" not in str(error.value)
    assert ".rs:" not in str(error.value)


def test_a_full_disk_is_an_error_in_words() -> None:
    for text in (
        "lance error: No space left on device, /x/y.rs:1:2",
        "File too large",
        "Quota exceeded",
        "quota exceeded",
    ):
        assert "the disk is full; free some space" in str(store_error("t", OSError(text)))


def test_a_vector_that_is_no_number_is_refused_in_words(table: LanceChunkTable) -> None:
    whole = row("n", "text")
    with pytest.raises(StoreError, match="NaN"):
        table.append([replace(whole, vector=whole.vector * np.float32("nan"))])
    assert table.count() == len(TEXTS)


def test_a_collection_of_another_version_says_so(store: LanceStore) -> None:
    store.records("files", key="source", columns={"source": "text", "of_another": "text"})
    with pytest.raises(StoreError, match="another version"):
        store.records("files", key="source", columns={"source": "text", "more": "whole"})


# --- versions ---------------------------------------------------------------------------------------------------------


def changed(table: LanceChunkTable, times: int) -> None:
    """A document is replaced, again and again, as by an editor that saves."""
    for number in range(times):
        table.delete(["dnew"])
        table.append([row(f"new{number}", f"A zeppelin {number}", document_id="dnew")])
        table.maintain()


def test_upkeep_keeps_few_versions_and_few_files_however_often_a_document_changes(
    table: LanceChunkTable, tmp_path: Path
) -> None:
    changed(table, 15)
    files = sum(file.is_file() for file in tmp_path.rglob("*"))
    changed(table, 15)
    assert table.versions <= MOST_VERSIONS
    assert sum(file.is_file() for file in tmp_path.rglob("*")) <= 1.2 * files
    assert table.count() == len(TEXTS) + 1
    assert [chunk.id for chunk, _ in table.matching("zeppelin", limit=3)] == ["new14"]


def test_a_reader_whose_version_goes_reads_on_and_tells_no_chunk_twice(
    store: LanceStore, table: LanceChunkTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("thresher.stores.lance_chunks.READ_ROWS", 2)
    table.append([row(f"m{n}", f"Milestone {n}", document_id=f"dm{n}") for n in range(40)])
    batches = store.open("chunks_t").chunks()
    read = [chunk.id for chunk, _ in next(batches)]
    for number in range(12):
        changed(table, 1)
        table.maintain(drop_versions=number % 4 == 3)  # every row is written anew, the files before go
        read += [chunk.id for chunk, _ in next(batches, [])]
    read += [chunk.id for batch in batches for chunk, _ in batch]
    assert set(read) >= {*TEXTS, *(f"m{n}" for n in range(40))}
    assert len(read) == len(set(read))


def test_a_table_that_a_killed_process_left_without_a_version_is_made_anew(tmp_path: Path) -> None:
    for name in ("tables", "chunks_t"):
        (tmp_path / "lance" / f"{name}.lance" / "data").mkdir(parents=True)
    store = LanceStore(tmp_path / "lance")
    assert store.records("tables", key="name", columns={"name": "text"}).version == 1
    store.create("chunks_t", dimension=4)
    assert store.open("chunks_t").count() == 0
