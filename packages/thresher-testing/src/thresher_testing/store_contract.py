"""The contract of every store, as tests for pytest.

A store with an entry point in `thresher.stores` is tested by its name:

    pytest --pyargs thresher_testing.store_contract --thresher-store mine

Any other by a subclass that opens it and declares missing guarantees:

    class TestMyStore(StoreContract):
        capabilities = Capabilities(bm25_tolerance=1e-5)

        def open_store(self, folder: Path) -> Store:
            return MyStore(folder)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import thresher
from thresher.collection import Report
from thresher.errors import StoreError
from thresher.protocols import MOST_VERSIONS, ChunkStore, ChunkTable, Records, RecordStore, Store
from thresher.stores import registry
from thresher.text.terms import chunk_terms
from thresher.types import Chunk, Comparison
from thresher_testing.store_samples import (
    COMPARED,
    ENCODER,
    FILTERED,
    FILTERS,
    TABLE,
    TEXTS,
    WORDS,
    assert_same_ranking,
    bm25,
    compared_rows,
    filled,
    ids,
    questions,
    row,
)


@dataclass(frozen=True, slots=True)
class Capabilities:
    """Guarantees beyond the engine's needs, which a store may omit."""

    bm25_tolerance: float = 0.0
    """Relative difference allowed from the reference's BM25 scores; 0: equal to the last bit."""
    snapshots: bool = True
    """Whether a reader sees no changes after it has begun."""


def reference(folder: Path) -> Store:
    """The store that all are compared with: LanceDB's."""
    return registry.opened(folder, "lance")


class _Contract:
    """Shared by the contracts: a store for each test."""

    capabilities = Capabilities()

    def open_store(self, folder: Path) -> Any:
        """The store in a folder that does not exist yet; a server's store uses the folder as a name."""
        raise NotImplementedError

    @pytest.fixture
    def store(self, tmp_path: Path) -> Iterator[Any]:
        """An empty store; data outside its folder is removed afterwards."""
        store = self.open_store(tmp_path / "store")
        yield store
        if hasattr(store, "drop"):
            store.drop()


class RecordStoreContract(_Contract):
    """Tests of a store of records; give `open_store`."""

    @pytest.fixture
    def records(self, store: Store) -> Records:
        """Two records."""
        records = store.records("things", key="id", columns={"id": "text", "size": "whole", "note": "text"})
        records.append([{"id": "a", "size": 1, "note": "one"}, {"id": "b'c", "size": 2, "note": None}])
        return records

    def test_a_store_exists_from_its_first_table_on(self, tmp_path: Path, store: RecordStore) -> None:
        assert not store.exists
        assert not (tmp_path / "store").exists()
        store.records("things", key="id", columns={"id": "text"})
        assert store.exists

    def test_a_table_of_records_that_is_there_is_not_made_again(self, store: RecordStore, records: Records) -> None:
        again = store.records("things", key="id", columns={"id": "text", "size": "whole", "note": "text"})
        assert len(again.rows(["id"])) == 2

    def test_a_merge_inserts_replaces_and_removes_at_once(self, records: Records) -> None:
        before = records.version
        records.merge(
            [{"id": "a", "size": 9, "note": "nine"}, {"id": "n", "size": 3, "note": ""}], remove=["b'c", "nobody"]
        )
        assert records.version == before + 1
        assert records.get(["a", "b'c", "n", "nobody"]) == {
            "a": {"id": "a", "size": 9, "note": "nine"},
            "n": {"id": "n", "size": 3, "note": ""},
        }

    def test_a_merge_that_removes_what_it_also_brings_keeps_it(self, records: Records) -> None:
        records.merge([{"id": "a", "size": 5, "note": "new"}], remove=["a"])
        assert records.get(["a"])["a"]["size"] == 5

    def test_records_can_only_be_removed_too(self, records: Records) -> None:
        records.merge([], remove=["b'c"])
        assert records.rows(["id", "note"]) == [{"id": "a", "note": "one"}]

    def test_nothing_to_change_is_no_change(self, records: Records) -> None:
        version = records.version
        records.merge([])
        records.append([])
        assert records.version == version
        assert records.get([]) == {}

    def test_many_records_are_all_listed(self, records: Records) -> None:
        records.append([{"id": f"n{n}", "size": n, "note": "x"} for n in range(2500)])
        assert len(records.rows(["id", "size"])) == 2502
        assert len(records.get(f"n{n}" for n in range(2000))) == 2000

    def test_many_changes_leave_few_versions(self, records: Records) -> None:
        for number in range(2 * MOST_VERSIONS):
            records.merge([{"id": "a", "size": number, "note": "new"}])
            if number % 20 == 19:
                records.maintain()
        assert records.versions <= MOST_VERSIONS


class ChunkStoreContract(_Contract):
    """Tests of a store of chunks; give `open_store`."""

    @pytest.fixture
    def table(self, store: Store) -> ChunkTable:
        """A table with `TEXTS` and current indexes."""
        store.create(TABLE, dimension=ENCODER.dimension)
        table = store.open(TABLE)
        table.append([row(id_, text) for id_, text in TEXTS.items()])
        table.maintain()
        return table

    def test_chunk_tables_are_listed(self, store: ChunkStore) -> None:
        assert store.chunk_tables() == set()
        store.create("chunks_a", dimension=2)
        store.create("chunks_b", dimension=3)
        assert store.chunk_tables() == {"chunks_a", "chunks_b"}

    def test_a_chunk_table_that_is_there_is_not_made_again(self, store: ChunkStore, table: ChunkTable) -> None:
        store.create(TABLE, dimension=ENCODER.dimension)
        assert store.open(TABLE).count() == len(TEXTS)

    def test_a_discarded_chunk_table_is_gone_and_can_be_made_again(self, store: ChunkStore, table: ChunkTable) -> None:
        assert store.bytes_of(TABLE) >= 0
        store.discard(TABLE)
        store.discard(TABLE)
        assert store.chunk_tables() == set()
        store.create(TABLE, dimension=ENCODER.dimension)
        assert store.open(TABLE).count() == 0

    def test_a_table_that_is_not_there_is_an_error_in_words(self, store: ChunkStore) -> None:
        with pytest.raises(StoreError, match="chunks_none: "):
            store.open("chunks_none")

    # --- chunks

    def test_every_chunk_comes_back_as_it_was_added(self, table: ChunkTable) -> None:
        added = [
            row("p", "parent", page=3, label="Doc1-Chunk1"),
            row("s", "sub", parent_id="p", level="subchunk", number=2, kind="pdf", date="2020-01-01"),
            row('it\'s "odd"; --\n \\ %_', 'it\'s "odd" 東京 \U0001f409', title="it's", source="a'b\\c"),
        ]
        table.append(added)
        stored = {chunk.id: (chunk, vector) for batch in table.chunks() for chunk, vector in batch}
        assert len(stored) == table.count() == len(TEXTS) + 3
        for one in added:
            chunk, vector = stored[one.chunk.id]
            assert chunk == one.chunk
            assert np.array_equal(vector, one.vector)

    def test_a_change_is_seen_at_once_and_raises_the_version(self, store: Store, table: ChunkTable) -> None:
        before = table.version
        table.append([row("new", "A zeppelin over the coast")])
        for opened in (table, store.open(TABLE)):
            assert opened.version > before
            assert opened.count() == len(TEXTS) + 1
            assert ids(opened.matching("zeppelin", limit=5)) == ["new"]
            assert ids(opened.nearest(ENCODER.encode_query("A zeppelin over the coast"), limit=1)) == ["new"]
            assert opened.document_frequencies("zeppelin") == {"zeppelin": 1}
            assert opened.vectors(["new"]).shape == (1, ENCODER.dimension)

    def test_what_was_deleted_is_found_by_no_search(self, table: ChunkTable) -> None:
        before = table.version
        table.delete(["dc2", "dc4", "nobody"])
        assert table.version > before
        for upkeep in (False, True):
            if upkeep:
                table.maintain()
            assert set(ids(table.matching("lighthouse coal night", limit=10))) == {"c1", "c3"}
            assert set(ids(table.nearest(ENCODER.encode_query("coal"), limit=10))) == {"c1", "c3", "c5"}
            assert table.document_ids() == {"dc1": 1, "dc3": 1, "dc5": 1}
            assert table.chunk_counts(["dc1", "dc2", "nobody"]) == {"dc1": 1}
            assert table.chunk_counts([]) == {}
            assert table.document_frequencies("coal lighthouse") == {"coal": 1, "lighthous": 1}
            assert table.count() == 3
            with pytest.raises(KeyError):
                table.vectors(["c2"])

    def test_a_renamed_source_is_seen_at_once(self, table: ChunkTable) -> None:
        table.rename("dc3", source="it's elsewhere.txt", title="New")
        ((chunk, _),) = next(iter(table.chunks(["dc3"])))
        assert (chunk.source, chunk.title, chunk.text) == ("it's elsewhere.txt", "New", TEXTS["c3"])
        assert ids(table.nearest(ENCODER.encode_query(TEXTS["c3"]), limit=1)) == ["c3"]

    def test_upkeep_leaves_nothing_stale_and_no_chunk_behind(self, table: ChunkTable) -> None:
        table.append([row("new", "A zeppelin")])
        table.delete(["dc1"])
        for drop_versions in (False, True):
            table.maintain(drop_versions=drop_versions)
            assert table.stale() == []
            assert set(table.document_ids()) == {"dc2", "dc3", "dc4", "dc5", "dnew"}

    def test_many_changes_leave_few_versions_of_a_chunk_table(self, table: ChunkTable) -> None:
        for number in range(2 * MOST_VERSIONS):
            table.append([row(f"new{number}", "A zeppelin")])
            if number % 20 == 19:
                table.maintain()
        assert table.versions <= MOST_VERSIONS
        assert table.count() == len(TEXTS) + 2 * MOST_VERSIONS

    def test_a_reader_keeps_what_it_began_with(self, table: ChunkTable) -> None:
        if not self.capabilities.snapshots:
            pytest.skip("the store declares that it has no snapshots")
        batches = table.chunks()
        first = next(batches)
        table.delete(["dc1"])
        table.append([row("new", "A zeppelin")])
        read = {chunk.id for batch in (first, *batches) for chunk, _ in batch}
        assert read == set(TEXTS)

    # --- searches

    def test_the_nearest_chunks_are_those_with_the_highest_cosine(self, table: ChunkTable) -> None:
        vector = ENCODER.encode_query("ships carry coal at night")
        cosines = {id_: float(ENCODER.encode_query(text) @ vector) for id_, text in TEXTS.items()}
        nearest = table.nearest(vector, limit=4)
        assert ids(nearest) == sorted(cosines, key=lambda id_: -cosines[id_])[:4]
        assert [cosine for _, cosine in nearest] == pytest.approx([cosines[id_] for id_ in ids(nearest)], abs=1e-5)

    def test_equal_chunks_are_in_the_order_of_their_ids(self, table: ChunkTable) -> None:
        table.append([row(id_, "exactly the same") for id_ in ("z", "a", "m")])
        assert ids(table.nearest(ENCODER.encode_query("exactly the same"), limit=3)) == ["a", "m", "z"]
        assert ids(table.matching("exactly same", limit=3)) == ["a", "m", "z"]

    def test_scores_are_those_of_bm25(self, table: ChunkTable) -> None:
        table.append([row("titled", "Ships at anchor", title="Night")])
        table.delete(["dc3"])
        table.maintain()
        left = {id_: chunk_terms("", text) for id_, text in TEXTS.items() if id_ != "c3"}
        left["titled"] = chunk_terms("Night", "Ships at anchor")
        expected = bm25(left, ["ship", "night"])
        found = table.matching("Ships at night", limit=10)
        assert ids(found) == sorted(expected, key=lambda id_: (-expected[id_], id_))
        assert {chunk.id: score for chunk, score in found} == pytest.approx(expected, rel=1e-5)
        assert table.document_frequencies("Ships at night") == {"ship": 3, "night": 3}
        assert table.average_terms() == pytest.approx(sum(map(len, left.values())) / len(left))

    def test_the_title_of_an_untitled_row_is_not_among_its_terms(self, table: ChunkTable) -> None:
        named, bare = row("named", "Ships at anchor", title="Zeppelin"), row("bare", "Ships ashore", title="Zeppelin")
        table.append([named, replace(bare, titled=False)])
        assert ids(table.matching("zeppelin", limit=5)) == ["named"]
        assert {chunk.title for chunk, _ in table.matching("ashore", limit=1)} == {"Zeppelin"}

    def test_a_query_without_known_terms_finds_nothing(self, table: ChunkTable) -> None:
        for query in ("", "   ", "?!", "the of and", "\0", "zzzz"):
            assert table.matching(query, limit=5) == [], query
            assert sum(table.document_frequencies(query).values()) == 0, query

    @pytest.mark.parametrize(
        "query", ["coal AND NOT night", '"coal"', "coal*", "+coal -night", "coal~2", "(coal", "a:coal"]
    )
    def test_marks_of_query_languages_are_only_marks(self, table: ChunkTable, query: str) -> None:
        assert {"c3", "c4"} <= set(ids(table.matching(query, limit=5)))

    def test_vectors_come_in_the_order_asked(self, table: ChunkTable) -> None:
        wanted = ["c4", "c1", "c4", "c2"]
        assert np.allclose(table.vectors(wanted), [ENCODER.encode_query(TEXTS[id_]) for id_ in wanted])
        assert table.vectors([]).shape == (0, ENCODER.dimension)

    def test_an_empty_table_answers_with_nothing(self, store: Store) -> None:
        store.create("chunks_empty", dimension=ENCODER.dimension)
        empty = store.open("chunks_empty")
        assert empty.nearest(ENCODER.encode_query("coal"), limit=3) == []
        assert empty.matching("coal", limit=3) == []
        assert [batch for batch in empty.chunks() if batch] == []
        assert (empty.count(), empty.average_terms(), empty.document_ids()) == (0, 0.0, {})

    # --- filters

    def test_a_filter_lets_the_right_chunks_through(self, store: Store) -> None:
        store.create("chunks_filtered", dimension=ENCODER.dimension)
        table = store.open("chunks_filtered")
        table.append([row(id_, "text", document_id=id_, **fields) for id_, fields in FILTERED.items()])
        for where, passing in FILTERS:
            expected = {f"r{n}" for n in passing}
            assert set(ids(table.nearest(ENCODER.encode_query("text"), limit=9, where=where))) == expected, where
            assert set(ids(table.matching("text", limit=9, where=where))) == expected, where

    def test_a_filter_is_applied_before_the_limit(self, table: ChunkTable) -> None:
        table.append([row(f"x{n}", "coal coal coal", kind="pdf") for n in range(20)])
        vector, where = ENCODER.encode_query("coal coal coal"), Comparison("kind", "=", "text")
        for upkeep in (False, True):
            if upkeep:
                table.maintain()
            assert set(ids(table.matching("coal", limit=2, where=where))) == {"c3", "c4"}
            assert len(table.nearest(vector, limit=5, where=where)) == 5

    # --- the reference

    @pytest.fixture
    def pair(self, store: ChunkStore, tmp_path: Path) -> tuple[ChunkTable, ChunkTable]:
        """The same chunks in the reference and in this store."""
        rows, without = compared_rows(), [f"d{n}" for n in range(40, 50)]
        return filled(reference(tmp_path), rows, without=without), filled(store, rows, without=without)

    def test_bm25_and_its_order_are_those_of_the_reference(self, pair: tuple[ChunkTable, ChunkTable]) -> None:
        for question in questions():
            for where in (None, Comparison("kind", "=", "pdf")):
                expected, found = (one.matching(question, limit=COMPARED, where=where) for one in pair)
                assert expected, question
                assert_same_ranking(found, expected, self.capabilities.bm25_tolerance)

    def test_every_rarity_is_that_of_the_reference(self, store: ChunkStore, tmp_path: Path) -> None:
        """Of 18 chunks 6 have the term: ln(1+12.5/6.5) in float32 differs in the last bit from the rounded float64."""
        rows = [row(f"c{n:02}", "coal" if n < 6 else "grain") for n in range(18)]
        expected, found = (filled(one, rows).matching("coal", limit=18) for one in (reference(tmp_path), store))
        assert_same_ranking(found, expected, self.capabilities.bm25_tolerance)

    def test_all_that_is_kept_and_counted_is_as_in_the_reference(self, pair: tuple[ChunkTable, ChunkTable]) -> None:
        def stored(table: ChunkTable) -> dict[str, tuple[Chunk, bytes]]:
            return {chunk.id: (chunk, vector.tobytes()) for batch in table.chunks() for chunk, vector in batch}

        expected, found = pair
        assert stored(found) == stored(expected)
        assert found.count() == expected.count() == COMPARED - 30
        assert found.average_terms() == pytest.approx(expected.average_terms())
        assert found.document_ids() == expected.document_ids()
        assert found.document_frequencies(" ".join(WORDS)) == expected.document_frequencies(" ".join(WORDS))

    def test_neighbours_are_as_near_as_in_the_reference(self, pair: tuple[ChunkTable, ChunkTable]) -> None:
        for question in questions()[:10]:
            vector = ENCODER.encode_query(question)
            for where in (None, Comparison("kind", "=", "pdf")):
                expected, found = ([score for _, score in one.nearest(vector, limit=20, where=where)] for one in pair)
                assert found == pytest.approx(expected, abs=2e-6)


class StoreContract(RecordStoreContract, ChunkStoreContract):
    """Tests of a store of both; give `open_store`."""

    def test_chunk_tables_are_told_from_records(self, store: Store, records: Records) -> None:
        store.create("chunks_a", dimension=2)
        assert store.chunk_tables() == {"chunks_a"}

    def test_a_collection_is_kept_in_it(self, tmp_path: Path, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(registry.STORES, "contract", lambda folder: store)
        words_alone = {"store": "contract", "fuse.method": "weighted", "fuse.dense_weight": 0, "rerank": "none"}
        with thresher.open(tmp_path / "home", encoder=ENCODER) as collection:

            def add(source: str, text: str) -> Report:
                letters = {"letters": len(source)}
                return collection.add_text(text, source=source, metadata=letters, recipe="hybrid", settings=words_alone)

            def found(question: str, where: str = "kind = 'markdown'") -> set[str]:
                hits = collection.search(question, recipe="hybrid", where=where, settings=words_alone).hits
                return {hit.chunk.source for hit in hits}

            assert [add(*one).added for one in (("a", TEXTS["c1"]), ("b", TEXTS["c2"]), ("third", TEXTS["c5"]))] == [
                1
            ] * 3
            assert (add("copy", TEXTS["c2"]).duplicates, found("lighthouse")) == (1, {"a", "b"})
            assert collection.delete("b") == ["b"]
            assert (add("third", TEXTS["c3"]).updated, add("a", TEXTS["c1"]).unchanged) == (1, 1)
            assert found("lighthouse ships") == {"a", "copy", "third"}
            assert found("poem") == set()
            assert [(one.number, one.source) for one in collection.documents()] == [(1, "a"), (2, "copy"), (4, "third")]
            assert found("lighthouse ships", "letters > 2") == {"third"}
            assert collection.delete("a") == ["a"]
            assert found("lighthouse ships") == {"copy", "third"}
            assert collection.doctor(repair=False) == []


class TestNamedStore(StoreContract):
    """The store of `--thresher-store`, opened as by a collection."""

    @pytest.fixture(autouse=True)
    def _named(self, pytestconfig: pytest.Config) -> None:
        name = pytestconfig.getoption("thresher_store", None)
        if not name:
            raise pytest.UsageError(
                "the store that is to be tested has no name: see the options of pytest under thresher"
            )
        self.name = str(name)
        self.capabilities = Capabilities(
            bm25_tolerance=pytestconfig.getoption("thresher_bm25_tolerance"),
            snapshots=not pytestconfig.getoption("thresher_no_snapshots"),
        )

    def open_store(self, folder: Path) -> Store:
        return registry.opened(folder, self.name)
