"""What every store has to do, as tests that pytest runs: subclass `StoreContract` and say how a store is opened.

class TestMyStore(StoreContract):
def open_store(self, folder: Path) -> Store:
return MyStore(folder)
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from hashlib import sha256
from math import log
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from thresher.chunking.fixed import RecursiveChunker
from thresher.errors import StoreError
from thresher.filters import And, Comparison, Filter, In, IsNull, Like, Not, Or, parse, resolve
from thresher.indexing.catalog import Place
from thresher.indexing.doctor import examine
from thresher.indexing.index_config import IndexConfig
from thresher.indexing.ingest import Incoming, Ingest, Report
from thresher.indexing.store import DocumentStore
from thresher.protocols import MOST_VERSIONS, ChunkTable, Records, Store
from thresher.testing.fakes import HashEncoder
from thresher.text.terms import chunk_terms
from thresher.types import Chunk, ChunkRow, Document

ENCODER = HashEncoder(32)
TABLE = "chunks_contract"

TEXTS = {
    "c1": "Lighthouses guide ships at night.",
    "c2": "The lighthouse of Kõpu was built in 1531; a lighthouse is a tower.",
    "c3": "Ships carry grain and coal.",
    "c4": "Trains carry coal at night, ships do not.",
    "c5": "A poem about nothing in particular.",
}

FILTERED: dict[str, dict[str, Any]] = {
    "r0": {"title": "BERT", "kind": "pdf", "date": "2019-05-01", "page": 1},
    "r1": {"title": "bert base", "kind": "text", "date": None, "page": None},
    "r2": {"title": "O'Hara", "kind": "pdf", "date": "2020", "page": 3},
    "r3": {"title": "50% off", "kind": "text", "date": "2018-12-31", "page": None},
    "r4": {"title": "größe", "kind": "pdf", "date": None, "page": 2},
}
FILTERS: list[tuple[Filter, str]] = [
    (Comparison("kind", "=", "pdf"), "024"),
    (Not(Comparison("kind", "=", "pdf")), "13"),
    (Comparison("kind", "!=", "pdf"), "13"),
    (Comparison("page", "<=", 2), "04"),
    (Comparison("page", ">", 1), "24"),
    (Not(Comparison("page", "=", 3)), "04"),  # not those without a page
    (Comparison("date", ">=", "2019"), "02"),
    (Comparison("date", "<", "2019"), "3"),
    (IsNull("date"), "14"),
    (Not(IsNull("date")), "023"),
    (In("page", (1, 3, 99)), "02"),
    (Not(In("page", (1, 3))), "4"),
    (In("page", ()), ""),
    (Not(In("page", ())), "01234"),
    (In("document_id", ("r1", "nobody", "r4")), "14"),
    (Comparison("title", "=", "O'Hara"), "2"),
    (Comparison("title", "=", "' OR '1' = '1"), ""),
    (Like("title", "%er%"), "1"),
    (Like("title", "bert%", ignore_case=True), "01"),
    (Like("title", "50\\% off"), "3"),
    (Like("title", "gr__e"), "4"),
    (And((Comparison("kind", "=", "pdf"), Or((IsNull("date"), Comparison("page", "=", 1))))), "04"),
    (Not(And((Comparison("kind", "=", "pdf"), Comparison("page", "=", 1)))), "1234"),
    (Not(Or((Comparison("page", "=", 1), Comparison("date", "=", "2020")))), ""),
    (And(()), "01234"),
    (Or(()), ""),
]


def row(id_: str, text: str, *, kind: str = "text", date: str | None = None, **more: Any) -> ChunkRow:
    """A chunk as it is stored, of a document of its own unless another is given."""
    document_id = more.pop("document_id", f"d{id_}")
    source, title = more.pop("source", f"{document_id}.txt"), more.pop("title", "")
    chunk = Chunk(id_, document_id, source, title, 0, len(text), text, **more)
    return ChunkRow(chunk, kind, "2024-01-01", date, ENCODER.encode_query(text))


def ids(scored: Iterable[tuple[Chunk, float]]) -> list[str]:
    """Ids of chunks in their order."""
    return [chunk.id for chunk, _ in scored]


def bm25(rows: dict[str, list[str]], terms: Sequence[str]) -> dict[str, float]:
    """BM25 (k1 1.2, b 0.75, idf ln(1+(N-n+.5)/(n+.5))) of the rows that share a term."""
    mean = sum(map(len, rows.values())) / len(rows)
    scores: dict[str, float] = defaultdict(float)
    for term in terms:
        holding = [id_ for id_, words in rows.items() if term in words]
        rarity = log(1 + (len(rows) - len(holding) + 0.5) / (len(holding) + 0.5))
        for id_ in holding:
            often = rows[id_].count(term)
            scores[id_] += rarity * often * 2.2 / (often + 1.2 * (0.25 + 0.75 * len(rows[id_]) / mean))
    return dict(scores)


class StoreContract:
    """Tests of a store; give `open_store`."""

    def open_store(self, folder: Path) -> Store:
        """The store in a folder that may not be there yet."""
        raise NotImplementedError

    @pytest.fixture
    def store(self, tmp_path: Path) -> Store:
        """A store without anything in it."""
        return self.open_store(tmp_path / "store")

    @pytest.fixture
    def table(self, store: Store) -> ChunkTable:
        """A table with `TEXTS`, its indexes up to date."""
        store.create(TABLE, dimension=ENCODER.dimension)
        table = store.open(TABLE)
        table.append([row(id_, text) for id_, text in TEXTS.items()])
        table.maintain()
        return table

    @pytest.fixture
    def records(self, store: Store) -> Records:
        """Two records."""
        records = store.records("things", key="id", columns={"id": "text", "size": "whole", "note": "text"})
        records.append([{"id": "a", "size": 1, "note": "one"}, {"id": "b'c", "size": 2, "note": None}])
        return records

    # --- tables

    def test_a_store_exists_from_its_first_table_on(self, tmp_path: Path) -> None:
        store = self.open_store(tmp_path / "store")
        assert not store.exists
        assert not (tmp_path / "store").exists()
        store.records("things", key="id", columns={"id": "text"})
        assert store.exists

    def test_chunk_tables_are_listed_and_records_are_not(self, store: Store, records: Records) -> None:
        assert store.chunk_tables() == set()
        store.create("chunks_a", dimension=2)
        store.create("chunks_b", dimension=3)
        assert store.chunk_tables() == {"chunks_a", "chunks_b"}

    def test_a_table_that_is_there_is_not_made_again(self, store: Store, table: ChunkTable, records: Records) -> None:
        store.create(TABLE, dimension=ENCODER.dimension)
        assert store.open(TABLE).count() == len(TEXTS)
        again = store.records("things", key="id", columns={"id": "text", "size": "whole", "note": "text"})
        assert len(again.rows(["id"])) == 2

    def test_a_table_that_is_not_there_is_an_error_in_words(self, store: Store) -> None:
        with pytest.raises(StoreError, match="chunks_none: "):
            store.open("chunks_none")

    # --- records

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

    def test_many_changes_leave_few_versions(self, table: ChunkTable, records: Records) -> None:
        for number in range(2 * MOST_VERSIONS):
            table.append([row(f"new{number}", "A zeppelin")])
            records.merge([{"id": "a", "size": number, "note": "new"}])
            if number % 20 == 19:
                table.maintain()
                records.maintain()
        assert table.versions <= MOST_VERSIONS
        assert records.versions <= MOST_VERSIONS
        assert table.count() == len(TEXTS) + 2 * MOST_VERSIONS

    def test_a_reader_keeps_what_it_began_with(self, table: ChunkTable) -> None:
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

    # --- a collection

    def test_a_collection_is_kept_in_it(self, tmp_path: Path) -> None:
        store = DocumentStore(tmp_path / "collection", self.open_store(tmp_path / "store"))
        config = IndexConfig(RecursiveChunker(60, 0), ENCODER)

        def index(**texts: str) -> Report:
            files = [Incoming(name, text, "", partial(documents, name, text)) for name, text in texts.items()]
            return Ingest(store, [config]).run(files, vanished=lambda place: True, prune=True)

        def documents(name: str, text: str) -> Iterator[Document]:
            yield Document(sha256(text.encode()).hexdigest(), name, "", text, "text", metadata={"letters": len(name)})

        def found(question: str, where: str = "kind = 'text'") -> set[str]:
            table, restricted = store.table(config, "chunk"), resolve(parse(where), store.metadata)
            return {chunk.source for chunk, _ in table.matching(question, limit=9, where=restricted)}

        assert index(a=TEXTS["c1"], b=TEXTS["c2"], copy=TEXTS["c2"]).added == 2
        assert found("lighthouse") == {"a", "b"}
        report = index(a=TEXTS["c1"], copy=TEXTS["c2"], new=TEXTS["c3"])
        assert (report.added, report.unchanged, report.removed) == (1, 2, 1)
        assert found("lighthouse ships") == {"a", "copy", "new"}
        assert [(one.number, one.source) for one in store.records()] == [(1, "a"), (2, "copy"), (3, "new")]
        assert found("lighthouse ships", "letters > 2") == {"new"}
        store.remove([Place("a")], files=["a"])
        assert found("lighthouse ships") == {"copy", "new"}
        assert examine(store, [config], repair=False) == []
