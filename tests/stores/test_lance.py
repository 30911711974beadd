"""The store on LanceDB: scores are what their formulas say, and no index ever hides a row."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any
from unittest.mock import Mock, PropertyMock

import lancedb
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.indexing.making import ENCODER, bytes_holding, row
from tests.stores.large import Large, small_and_large
from thresher.errors import StoreError
from thresher.filters import holds
from thresher.stores.lance import LanceChunkTable, LanceStore
from thresher.stores.lance_table import LanceRecords, store_error, to_sql
from thresher.types import And, Comparison, Filter, In, IsNull, Like, Not, Or
from thresher_testing.store_samples import TEXTS, bm25


def assert_bm25(table: LanceChunkTable, rows: dict[str, list[str]], query: str) -> None:
    found = table.matching(query, limit=100)
    expected = bm25(rows, query.split())
    assert {chunk.id for chunk, _ in found} == set(expected)
    for chunk, score in found:
        assert score == pytest.approx(expected[chunk.id], rel=1e-5)
    assert table.document_frequencies(query) == {
        term: sum(term in words for words in rows.values()) for term in dict.fromkeys(query.split())
    }


# --- BM25 -------------------------------------------------------------------------------------------------------------

WORDS = ["coal", "grain", "ship", "night", "tower", "storm"]  # each its own stem


@settings(max_examples=5, deadline=None)
@given(
    st.sampled_from([LanceStore, Large]),
    st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=12), min_size=4, max_size=30),
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=3, unique=True),
    st.data(),
)
def test_scores_follow_the_formula_after_adding_deleting_and_renaming(
    tmp_path_factory: pytest.TempPathFactory,
    kept: type[LanceStore],
    texts: list[list[str]],
    query: list[str],
    data: st.DataObject,
) -> None:
    store = kept(tmp_path_factory.mktemp("bm25"))
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


@small_and_large
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


# --- upkeep and damage ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("index", ["terms_idx", "id_idx", "document_id_idx"])
def test_a_lost_index_is_noticed_and_made_again(table: LanceChunkTable, index: str) -> None:
    table._table.drop_index(index)
    assert table.stale() == [f"the index of {index.removesuffix('_idx')} is missing"]
    assert {chunk.id for chunk, _ in table.matching("coal", limit=5)} == {"c3", "c4"}
    table.maintain()
    assert table.stale() == []


@small_and_large
def test_a_purge_leaves_no_byte_of_the_deleted_text(store: LanceStore, table: LanceChunkTable, tmp_path: Path) -> None:
    records = store.records("documents", key="id", columns={"id": "text", "text": "text"})
    texts = {f"d{n}": f"Paragraph {n} says unmistakable{n}word and more." for n in range(50)}
    table.append([row(f"c{id_}", text, document_id=id_) for id_, text in texts.items()])
    records.append([{"id": id_, "text": text} for id_, text in texts.items()])
    for one in (table, records):
        one.maintain()
    assert bytes_holding(tmp_path, b"unmistakable7word")
    table.delete(["d7"])
    records.merge([], remove=["d7"])
    for one in (table, records):
        one.maintain(drop_versions=True)
    assert bytes_holding(tmp_path, b"unmistakable7word") == []
    assert bytes_holding(tmp_path, b"unmistakable8word")
    assert table.stale() == []
    assert len(records.rows(["id"])) == 49


def test_a_damaged_file_is_an_error_in_words(store: LanceStore, table: LanceChunkTable) -> None:
    for file in (store._folder / "chunks_t.lance" / "data").iterdir():
        file.write_bytes(b"no longer a table")
    with pytest.raises(StoreError, match=r"call `doctor\(\)`") as error:
        LanceStore(store._folder).open("chunks_t").nearest(ENCODER.encode_query("x"), limit=3)
    assert "\n" not in str(error.value)
    assert ".rs:" not in str(error.value)


@pytest.mark.parametrize(
    "text", ["lance error: No space left on device, /x/y.rs:1:2", "File too large", "quota exceeded"]
)
def test_a_full_disk_is_an_error_in_words(text: str) -> None:
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
    store.create("chunks_t", dimension=4)
    store.open("chunks_t")._table.drop_columns(["packed"])
    with pytest.raises(StoreError, match="another version"):
        store.open("chunks_t")


# --- versions ---------------------------------------------------------------------------------------------------------


def changed(table: LanceChunkTable, times: int) -> None:
    """A document is replaced, again and again, as by an editor that saves."""
    for number in range(times):
        table.delete(["dnew"])
        table.append([row(f"new{number}", f"A zeppelin {number}", document_id="dnew")])
        table.maintain()


def test_a_reader_whose_version_goes_reads_on_and_tells_no_chunk_twice(
    store: LanceStore, table: LanceChunkTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("thresher.stores.lance.READ_ROWS", 2)
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


def test_a_version_that_was_read_is_asked_for_again_once_the_folder_of_versions_changes(tmp_path: Path) -> None:
    asked = Mock()
    asked.name = "t"
    type(asked).version = PropertyMock(side_effect=[1, 1, 1, 2, 3])
    table = LanceRecords(asked, tmp_path, key="id", again=asked)
    assert [table.version, table.version] == [1, 1]  # no folder of versions: always asked
    folder = tmp_path / "t.lance" / "_versions"
    folder.mkdir(parents=True)
    (folder / "1.manifest").touch()
    assert [table.version for _ in range(5)] == [1] * 5
    (folder / "2.manifest").touch()
    assert [table.version for _ in range(5)] == [2] * 5
    (folder / "1.manifest").rename(folder / "3.manifest")  # as many manifests as before
    assert table.version == 3


def test_a_reader_that_looks_for_versions_seldom_begins_again_at_the_newest_when_its_own_was_dropped(
    tmp_path: Path,
) -> None:
    schema = pa.schema([("key", pa.string()), ("value", pa.string())])
    made = lancedb.connect(tmp_path).create_table("t", schema=schema)
    written = LanceRecords(made, tmp_path, key="key", again=lambda: made)
    written.merge([{"key": "a", "value": "first"}])
    seldom = lancedb.connect(tmp_path, read_consistency_interval=timedelta(hours=1)).open_table("t")
    written.merge([{"key": "a", "value": "last"}])
    written.maintain(drop_versions=True)
    assert LanceRecords(seldom, tmp_path, key="key", again=lambda: seldom).get(["a"])["a"]["value"] == "last"


def test_a_reader_begins_again_when_the_newest_version_goes_while_it_is_looked_for(
    store: LanceStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    records = store.records("files", key="source", columns={"source": "text"})
    records.merge([{"source": "a"}])
    purged = iter([True, True])

    def went(do: Callable[..., Any]) -> Callable[..., Any]:
        def done(*given: Any) -> Any:
            if next(purged, False):
                raise RuntimeError("lance error: Not found: files.lance/_versions/1.manifest")
            return do(*given)

        return done

    for method in ("search", "checkout_latest"):
        monkeypatch.setattr(type(records._table), method, went(getattr(type(records._table), method)))
    assert records.rows(["source"]) == [{"source": "a"}]


# --- filters ----------------------------------------------------------------------------------------------------------

VALUES = ["", "a", "B", "b", "it's", "50%", "a_b", "back\\slash", "größe", "2014", "2014.0", "x' OR '1'='1", "\0"]
PAGES = [None, 0, 1, 2, 3, 2**53]
ROWS: dict[str, dict[str, Any]] = {
    f"r{n}": {"title": text, "date": VALUES[-n] if n % 3 else None, "page": PAGES[n % len(PAGES)]}
    for n, text in enumerate(VALUES)
}


@pytest.fixture(scope="module")
def filtered(tmp_path_factory: pytest.TempPathFactory) -> LanceChunkTable:
    store = LanceStore(tmp_path_factory.mktemp("filters"))
    store.create("chunks_f", dimension=ENCODER.dimension)
    opened = store.open("chunks_f")
    opened.append([row(id_, "text", **fields) for id_, fields in ROWS.items()])
    return opened


def leaves() -> st.SearchStrategy[Filter]:
    texts, pages = st.sampled_from(VALUES), st.sampled_from([-1, 0, 1, 2, 4])
    operators = st.sampled_from(["=", "!=", "<", "<=", ">", ">="])
    patterns = st.lists(st.sampled_from(["%", "_", "a", "b", "B", "0", "\\%", "\\\\", "'"]), max_size=4).map("".join)
    fields = st.sampled_from(["title", "date"])
    return st.one_of(
        st.builds(Comparison, fields, operators, texts),
        st.builds(Comparison, st.just("page"), operators, pages),
        st.builds(In, fields, st.lists(texts, max_size=3).map(tuple)),
        st.builds(In, st.just("page"), st.lists(pages, max_size=3).map(tuple)),
        st.builds(Like, fields, patterns, st.booleans()),
        st.builds(IsNull, st.sampled_from(["title", "date", "page"])),
    )


FILTERS = st.recursive(
    leaves(),
    lambda inner: st.one_of(
        st.builds(Not, inner),
        st.builds(And, st.lists(inner, max_size=3).map(tuple)),
        st.builds(Or, st.lists(inner, max_size=3).map(tuple)),
    ),
    max_leaves=6,
)


@given(FILTERS)
def test_lance_lets_the_rows_through_for_which_the_filter_holds(filtered: LanceChunkTable, where: Filter) -> None:
    found = filtered.nearest(ENCODER.encode_query("text"), limit=50, where=where)
    assert {chunk.id for chunk, _ in found} == {id_ for id_, fields in ROWS.items() if holds(where, fields)}


def test_a_chain_of_five_thousand_conditions_is_answered(filtered: LanceChunkTable) -> None:
    where = Or(tuple(Comparison("page", "=", n) for n in range(3, 5000)))
    assert len(filtered.nearest(ENCODER.encode_query("text"), limit=50, where=where)) == 2


def test_only_a_name_stands_for_a_column() -> None:
    assert to_sql(In("id", ("a", "b'c"))) == "id IN ('a', 'b''c')"
    with pytest.raises(StoreError, match="is not a column"):
        to_sql(IsNull("1 = 1) OR (page"))
