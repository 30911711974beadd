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
from thresher.filters import In, Or, parse
from thresher.indexing.lance import LanceStore
from thresher.indexing.lance_chunks import LanceChunkTable
from thresher.indexing.lance_table import LanceRecords
from thresher.types import ChunkRow

TEXTS = {
    "c1": "Lighthouses guide ships at night.",
    "c2": "The lighthouse of Kõpu was built in 1531; a lighthouse is a tower.",
    "c3": "Ships carry grain and coal.",
    "c4": "Trains carry coal at night, ships do not.",
    "c5": "A poem about nothing in particular.",
}


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


@settings(max_examples=12, deadline=None)
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


def test_the_titles_terms_count_twice(table: LanceChunkTable) -> None:
    table.append([row("t", "harbour", title="Harbour lights")])
    table.maintain()
    stored = table._table.search().where("id = 't'").select(["terms"]).to_list()
    assert Counter(stored[0]["terms"].split()) == {"harbour": 3, "light": 2}


def test_a_chunk_that_shares_no_term_is_not_returned(table: LanceChunkTable) -> None:
    assert {chunk.id for chunk, _ in table.matching("lighthouse ships", limit=10)} == {"c1", "c2", "c3", "c4"}


@pytest.mark.parametrize("query", ["", "   ", "?!", "the of and", "\0", "zzzz"])
def test_a_query_without_known_terms_finds_nothing(table: LanceChunkTable, query: str) -> None:
    assert table.matching(query, limit=5) == []
    assert sum(table.document_frequencies(query).values()) == 0


@pytest.mark.parametrize(
    "query",
    [
        "coal AND NOT night",
        '"coal"',
        "coal*",
        "+coal -night",
        "coal~2",
        "terms:coal",
        "(coal",
        "coal\\",
        "coal' OR 1=1",
        "🚂 coal",
    ],
)
def test_marks_of_query_languages_are_only_marks(table: LanceChunkTable, query: str) -> None:
    assert {"c3", "c4"} <= {chunk.id for chunk, _ in table.matching(query, limit=5)}


# --- vectors ----------------------------------------------------------------------------------------------------------


def test_the_nearest_chunks_are_those_with_the_highest_cosine(table: LanceChunkTable) -> None:
    vector = ENCODER.encode_query("ships carry coal at night")
    cosines = {id_: float(ENCODER.encode_query(text) @ vector) for id_, text in TEXTS.items()}
    found = table.nearest(vector, limit=5)
    assert [chunk.id for chunk, _ in found] == sorted(cosines, key=lambda id_: -cosines[id_])
    for chunk, cosine in found:
        assert cosine == pytest.approx(cosines[chunk.id], abs=1e-5)


def test_equal_chunks_are_in_the_order_of_their_ids(table: LanceChunkTable) -> None:
    table.append([row(id_, "exactly the same") for id_ in ("z", "a", "m")])
    vector = ENCODER.encode_query("exactly the same")
    assert [chunk.id for chunk, _ in table.nearest(vector, limit=3)] == ["a", "m", "z"]
    assert [chunk.id for chunk, _ in table.matching("exactly same", limit=3)] == ["a", "m", "z"]


def test_vectors_come_in_the_order_asked(table: LanceChunkTable) -> None:
    ids = ["c4", "c1", "c4", "c2"]
    assert np.allclose(table.vectors(ids), [ENCODER.encode_query(TEXTS[id_]) for id_ in ids])
    assert table.vectors([]).shape == (0, ENCODER.dimension)
    with pytest.raises(KeyError):
        table.vectors(["c1", "nowhere"])


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


# --- rows, filters, deletes -------------------------------------------------------------------------------------------


def test_a_new_row_is_found_before_any_index_knows_it(table: LanceChunkTable) -> None:
    table.append([row("new", "A zeppelin over the coast", document_id="dnew")])
    assert table.stale()
    assert [chunk.id for chunk, _ in table.matching("zeppelin", limit=5)] == ["new"]
    assert [c.id for c, _ in table.nearest(ENCODER.encode_query("A zeppelin over the coast"), limit=1)] == ["new"]
    assert table.document_frequencies("zeppelin") == {"zeppelin": 1}
    assert table.vectors(["new"]).shape == (1, ENCODER.dimension)
    assert [chunk.id for batch in table.chunks(["dnew"]) for chunk, _ in batch] == ["new"]


def test_a_second_handle_sees_every_change_at_once(store: LanceStore, table: LanceChunkTable) -> None:
    other = LanceStore(store._folder).open("chunks_t")
    before = other.version
    table.append([row("new", "A zeppelin")])
    assert other.count() == len(TEXTS) + 1
    assert other.version > before
    assert [chunk.id for chunk, _ in other.matching("zeppelin", limit=5)] == ["new"]


def test_what_was_deleted_is_found_by_no_search(table: LanceChunkTable) -> None:
    table.delete(["dc2", "dc4"])
    for upkeep in (False, True):
        if upkeep:
            table.maintain()
        assert {chunk.id for chunk, _ in table.matching("lighthouse coal night", limit=10)} == {"c1", "c3"}
        assert {chunk.id for chunk, _ in table.nearest(ENCODER.encode_query("coal"), limit=10)} == {"c1", "c3", "c5"}
        assert table.document_ids() == {"dc1": 1, "dc3": 1, "dc5": 1}
        assert table.document_frequencies("coal lighthouse") == {"coal": 1, "lighthous": 1}
        assert table.count() == 3
        with pytest.raises(KeyError):
            table.vectors(["c2"])


def test_a_filter_is_applied_before_the_limit(table: LanceChunkTable) -> None:
    table.append([row(f"x{n}", "coal coal coal", document_id=f"x{n}", kind="pdf") for n in range(20)])
    vector = ENCODER.encode_query("coal coal coal")
    for upkeep in (False, True):
        if upkeep:
            table.maintain()
        assert {c.id for c, _ in table.matching("coal", limit=2, where=parse("kind = 'text'"))} == {"c3", "c4"}
        assert len(table.nearest(vector, limit=5, where=parse("kind = 'text'"))) == 5
        assert {c.id for c, _ in table.nearest(vector, limit=2, where=In("document_id", ("dc3", "dc4")))} == {
            "c3",
            "c4",
        }
        assert table.matching("coal", limit=5, where=Or(())) == []


def test_ids_and_texts_may_hold_quotes_and_any_script(table: LanceChunkTable) -> None:
    strange = 'it\'s "odd"; -- \\ %_ \n 東京 \U0001f409'
    table.append([row(strange, strange, document_id=strange, source=strange, title=strange)])
    assert table.vectors([strange]).shape == (1, ENCODER.dimension)
    ((chunk, _),) = next(iter(table.chunks([strange])))
    assert (chunk.id, chunk.text, chunk.source, chunk.title) == (strange,) * 4
    assert [found.id for found, _ in table.matching("東京", limit=3)] == [strange]
    table.rename(strange, source="it's renamed", title="it's")
    ((chunk, _),) = next(iter(table.chunks([strange])))
    assert (chunk.source, chunk.title, chunk.text) == ("it's renamed", "it's", strange)
    table.delete([strange])
    assert table.count() == len(TEXTS)


def test_every_chunk_comes_back_as_it_was_stored(table: LanceChunkTable) -> None:
    stored: list[ChunkRow] = [
        row("p", "parent", page=3, label="Doc1-Chunk1"),
        row("s", "sub", parent_id="p", level="subchunk", number=2, kind="pdf", date="2020-01-01"),
    ]
    table.append(stored)
    found = {chunk.id: (chunk, vector) for batch in table.chunks() for chunk, vector in batch}
    assert len(found) == len(TEXTS) + 2
    for one in stored:
        chunk, vector = found[one.chunk.id]
        assert chunk == one.chunk
        assert np.array_equal(vector, one.vector)


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


def test_a_table_that_is_not_there_is_an_error_in_words(store: LanceStore) -> None:
    with pytest.raises(StoreError, match="chunks_none: cannot be read"):
        store.open("chunks_none")


def test_a_damaged_file_is_an_error_in_words(store: LanceStore, table: LanceChunkTable) -> None:
    for file in (store._folder / "chunks_t.lance" / "data").iterdir():
        file.write_bytes(b"no longer a table")
    with pytest.raises(StoreError, match=r"call `doctor\(\)`") as error:
        LanceStore(store._folder).open("chunks_t").nearest(ENCODER.encode_query("x"), limit=3)
    assert "\n" not in str(error.value)
    assert ".rs:" not in str(error.value)


def test_a_vector_that_is_no_number_is_refused_in_words(table: LanceChunkTable) -> None:
    whole = row("n", "text")
    with pytest.raises(StoreError, match="NaN"):
        table.append([replace(whole, vector=whole.vector * np.float32("nan"))])
    assert table.count() == len(TEXTS)


def test_a_collection_of_another_version_says_so(store: LanceStore) -> None:
    store.records("files", key="source", columns={"source": "text"})
    with pytest.raises(StoreError, match="another version"):
        store.records("files", key="source", columns={"source": "text", "more": "whole"})


# --- records ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def records(store: LanceStore) -> LanceRecords:
    made = store.records("things", key="id", columns={"id": "text", "size": "whole", "note": "text"})
    made.append([{"id": "a", "size": 1, "note": "one"}, {"id": "b'c", "size": 2, "note": None}])
    return made


def test_a_merge_inserts_replaces_and_removes_in_one_version(records: LanceRecords) -> None:
    before = records.version
    records.merge([{"id": "a", "size": 9, "note": "nine"}, {"id": "n", "size": 3, "note": ""}], remove=["b'c", "zz"])
    assert records.version == before + 1
    assert records.get(["a", "b'c", "n", "zz"]) == {
        "a": {"id": "a", "size": 9, "note": "nine"},
        "n": {"id": "n", "size": 3, "note": ""},
    }


def test_a_merge_that_removes_what_it_also_brings_keeps_it(records: LanceRecords) -> None:
    records.merge([{"id": "a", "size": 5, "note": "new"}], remove=["a"])
    assert records.get(["a"])["a"]["size"] == 5


def test_records_can_only_be_removed_too(records: LanceRecords) -> None:
    records.merge([], remove=["b'c"])
    assert [found["id"] for found in records.rows(["id"])] == ["a"]
    version = records.version
    records.merge([])
    assert records.version == version
    assert records.get([]) == {}


def test_many_records_are_all_listed(records: LanceRecords) -> None:
    records.append([{"id": f"n{n}", "size": n, "note": "x"} for n in range(2500)])
    assert len(records.rows(["id", "size"])) == 2502
    assert len(records.get([f"n{n}" for n in range(2000)])) == 2000
