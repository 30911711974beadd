"""The chunks of one chunking, level and encoder on LanceDB: vectors, BM25, and the indexes that both need."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from thresher.filters import Filter
from thresher.stores.lance_table import (
    READ_ATTEMPTS,
    LanceTable,
    is_gone,
    one_of,
    reading,
    store_error,
    to_sql,
    writing,
)
from thresher.stores.memory_index import MAX_ROWS, MemoryIndex
from thresher.text.terms import chunk_terms, query_terms
from thresher.types import Chunk, ChunkRow

if TYPE_CHECKING:
    import pyarrow as pa

    from thresher.types import Vectors

ANN_ROWS = MAX_ROWS
"""Rows from which an approximate index is built: those that are no longer kept in memory. Measured by
benchmarks/speed.py: at 100,000 rows a search of the table takes 102 ms, through the index 21, recall@10 1.00."""

READ_ROWS = 1024
"""Rows in one batch of a full read: about 2 MB with vectors."""

LOOKED_UP = ("id", "document_id")
"""Columns of a chunk table with an index by value."""

_KEPT_AFTER_DELETION = "thresher.deleted"
"""Metadata of the `terms` column: rows went since the full-text index was built, so its statistics count too many."""

_RENAMED = {"end": "stop", "kind": "chunk_kind"}
"""Columns with another name than the chunk's field: `end` is a word of SQL, `kind` is the document's."""

_COLUMN_OF = {one.name: _RENAMED.get(one.name, one.name) for one in fields(Chunk)}
DECIMALS = 6
"""Of a cosine: what follows depends on who multiplies, the store at first and a matrix in memory from then on."""

_CHUNK_COLUMNS = list(_COLUMN_OF.values())
_DOCUMENT_COLUMNS = ("kind", "added", "date")


def chunk_schema(dimension: int) -> pa.Schema:
    """The columns of a chunk table; their order is part of the format on disk."""
    import pyarrow as pa

    names = [*_CHUNK_COLUMNS[:4], *_DOCUMENT_COLUMNS, *_CHUNK_COLUMNS[4:], "terms"]
    whole = {"start", "stop", "page", "number"}
    columns = [pa.field(n, pa.int64() if n in whole else pa.string(), nullable=n not in LOOKED_UP) for n in names]
    return pa.schema([*columns, pa.field("vector", pa.list_(pa.float32(), dimension))])


def _to_row(row: ChunkRow) -> dict[str, Any]:
    chunk = {column: getattr(row.chunk, name) for name, column in _COLUMN_OF.items()}
    document = {name: getattr(row, name) for name in _DOCUMENT_COLUMNS}
    return {
        **chunk,
        **document,
        "terms": " ".join(chunk_terms(row.indexed_title, row.chunk.text)),
        "vector": row.vector,
    }


def _to_chunk(row: Mapping[str, Any]) -> Chunk:
    return Chunk(**{name: row[column] for name, column in _COLUMN_OF.items()})


def _best_first(scored: tuple[Chunk, float]) -> tuple[float, str]:
    chunk, score = scored
    return -score, chunk.id


@dataclass(slots=True)
class _Statistics:
    """What was counted in one version of a table, as far as it was needed."""

    version: int
    rows: int | None = None
    frequencies: dict[str, int] = field(default_factory=dict)
    average: float | None = None


class LanceChunkTable(LanceTable):
    """The chunks of one chunking, level and encoder (implements `ChunkTable`)."""

    def __init__(self, table: Any, folder: Path, *, ann_rows: int = ANN_ROWS) -> None:
        super().__init__(table, folder)
        self._ann_rows = ann_rows
        self._searched: dict[str, int] = {}
        self._memory: MemoryIndex | None = None
        self._statistics = _Statistics(-1)

    # --- searching

    @reading
    def nearest(self, vector: Vectors, *, limit: int, where: Filter | None = None) -> list[tuple[Chunk, float]]:
        """Chunks and their cosine, best first; ties by id."""
        memory = self._in_memory(searched="vectors" if where is None else None)
        among = None if memory is None or where is None else memory.positions_of(where)
        if memory is not None and (where is None or among is not None):
            rows = memory.nearest(vector, limit, among)
            return [(_to_chunk(row), round(cosine, DECIMALS)) for row, cosine in rows]
        query = self._table.search(vector, vector_column_name="vector").distance_type("dot")
        if "vector" in self._indexed():
            query = query.nprobes(40).refine_factor(4)  # recall@10 1.00 in benchmarks/speed.py
        if where is not None:
            query = query.where(to_sql(where), prefilter=True)
        rows = query.select([*_CHUNK_COLUMNS, "_distance"]).limit(limit).to_list()
        return sorted(
            ((_to_chunk(row), round(1.0 - float(row["_distance"]), DECIMALS)) for row in rows), key=_best_first
        )

    def _in_memory(self, *, searched: str | None = None) -> MemoryIndex | None:
        """The rows in memory, where they are; with `searched` the whole table is searched, by vectors or by words.

        They are read at the second such search of the same version, so for the second question, where the table is
        small enough. A process that asks once, or while documents are being added, would read them in vain.
        """
        version = self.version
        if self._memory is not None and self._memory.version == version:
            return self._memory
        self._memory = None
        if searched is None:
            return None
        before, self._searched[searched] = self._searched.get(searched), version
        if before == version and self.count() <= MAX_ROWS:
            columns = [*_CHUNK_COLUMNS, "vector"]
            rows = self._table.search().with_row_id(True).select(columns).limit(None).to_arrow()
            self._memory = MemoryIndex.read(version, rows)
        return self._memory

    @reading
    def matching(self, query: str, *, limit: int, where: Filter | None = None) -> list[tuple[Chunk, float]]:
        """Chunks and their BM25 (k1 1.2, b 0.75, idf ln(1+(N-n+.5)/(n+.5))), best first; ties by id."""
        terms = query_terms(query)
        if not terms:
            return []
        search = self._full_text(" ".join(terms)).with_row_id(True)
        if where is None:
            self._in_memory(searched="words")
        else:
            search = search.where(to_sql(where), prefilter=True)
        rows = search.select(["_score"]).limit(limit).to_arrow()
        scores = dict(zip(rows["_rowid"].to_pylist(), rows["_score"].to_pylist(), strict=True))
        return sorted(
            ((_to_chunk(row), float(scores[row["_rowid"]])) for row in self._by_row_id(scores)), key=_best_first
        )

    def _full_text(self, terms: str) -> Any:
        from lancedb.query import MatchQuery

        return self._table.search(MatchQuery(terms, "terms"), query_type="fts")

    def _by_row_id(self, row_ids: Iterable[int]) -> list[dict[str, Any]]:
        """Rows by their row ids; one that was deleted meanwhile is left out."""
        ids = list(row_ids)
        memory = self._in_memory()
        rows = None if memory is None else memory.get(ids)
        if rows is not None:
            return rows
        if not ids:
            return []
        # Looking rows up by their ids takes a fifth of the time that a search takes to return whole rows.
        return list(self._table.take_row_ids(ids).with_row_id().select(_CHUNK_COLUMNS).to_list())

    @reading
    def document_frequencies(self, query: str) -> dict[str, int]:
        """For each index term of the query, in how many chunks it occurs."""
        known = self._current_statistics().frequencies
        terms = query_terms(query)
        for term in terms:
            if term not in known:
                rows = self._full_text(term).select(["_score"]).limit(max(1, self.count())).to_arrow()
                known[term] = int(rows.num_rows)
        return {term: known[term] for term in terms}

    @reading
    def average_terms(self) -> float:
        """Mean number of index terms of a chunk (BM25's average length); 0 for an empty table."""
        import pyarrow.compute as pc

        statistics = self._current_statistics()
        if statistics.average is None:
            terms = rows = 0
            for batch in self._table.search().select(["terms"]).limit(None).to_batches(batch_size=READ_ROWS):
                spaces = pc.sum(pc.count_substring(batch["terms"], " ")).as_py() or 0
                terms += spaces + (pc.sum(pc.not_equal(batch["terms"], "")).as_py() or 0)
                rows += batch.num_rows
            statistics.average = terms / rows if rows else 0.0
        return statistics.average

    def _current_statistics(self) -> _Statistics:
        """What was counted in this version of the table; counting reads much and several parts of a question ask."""
        version = self.version
        if self._statistics.version != version:
            self._statistics = _Statistics(version)
        return self._statistics

    # --- reading

    @reading
    def vectors(self, ids: Sequence[str]) -> Vectors:
        """(n_ids, dimension) float32 in the order of `ids`; KeyError for an id that is not there."""
        import numpy as np

        if not ids:
            return np.zeros((0, self._table.schema.field("vector").type.list_size), dtype=np.float32)
        memory = self._in_memory()
        if memory is not None:
            return memory.vectors(ids)
        rows = self._table.search().where(one_of("id", ids)).select(["id", "vector"]).limit(None).to_arrow()
        by_id = dict(zip(rows["id"].to_pylist(), rows["vector"].to_numpy(zero_copy_only=False), strict=True))
        return np.stack([by_id[id_] for id_ in ids]).astype(np.float32)

    def chunks(self, document_ids: Iterable[str] | None = None) -> Iterator[list[tuple[Chunk, Vectors]]]:
        """The chunks of some or all documents with their vectors, in batches.

        A read whose version goes meanwhile goes on with the newest, and tells no chunk twice that it has told.
        """
        where = None if document_ids is None else one_of("document_id", document_ids)
        told: set[str] = set()
        for attempt in range(1, READ_ATTEMPTS + 1):
            before = frozenset(told)
            try:
                for batch in self._batches(where):
                    fresh = [one for one in batch if one[0].id not in before]
                    told.update(chunk.id for chunk, _ in fresh)
                    yield fresh
            except (RuntimeError, OSError, ValueError) as error:
                if attempt == READ_ATTEMPTS or not is_gone(error):
                    raise store_error(self.name, error) from error
            else:
                return

    def _batches(self, where: str | None) -> Iterator[list[tuple[Chunk, Vectors]]]:
        query = self._table.search().select([*_CHUNK_COLUMNS, "vector"]).limit(None)
        if where is not None:
            query = query.where(where)
        for batch in query.to_batches(batch_size=READ_ROWS):
            vectors = batch["vector"].flatten().to_numpy(zero_copy_only=False).reshape(batch.num_rows, -1)
            rows = batch.drop_columns(["vector"]).to_pylist()
            yield [(_to_chunk(row), vector) for row, vector in zip(rows, vectors, strict=True)]

    @reading
    def count(self) -> int:
        """Number of chunks."""
        statistics = self._current_statistics()
        if statistics.rows is None:
            statistics.rows = int(self._table.count_rows())
        return statistics.rows

    @reading
    def document_ids(self) -> dict[str, int]:
        """Number of chunks of each document that has any."""
        column = self._table.search().select(["document_id"]).limit(None).to_arrow()["document_id"]
        return dict(Counter(column.to_pylist()))

    # --- writing

    @writing
    def append(self, rows: Sequence[ChunkRow]) -> None:
        """Add chunks in one transaction."""
        import pyarrow as pa

        if rows:
            self._table.add(pa.Table.from_pylist([_to_row(row) for row in rows], schema=self._table.schema))

    @writing
    def delete(self, document_ids: Iterable[str]) -> None:
        """Remove all chunks of the documents in one transaction."""
        ids = set(document_ids)
        if ids:
            self._remember_deletion()
            self._table.delete(one_of("document_id", ids))

    @writing
    def rename(self, document_id: str, *, source: str, title: str) -> None:
        """Give the chunks of a document another source and title (its first source was removed)."""
        self._remember_deletion()  # Lance updates a row by deleting it and adding it again.
        self._table.update(where=one_of("document_id", [document_id]), values={"source": source, "title": title})

    # --- upkeep

    def create_indexes(self) -> None:
        """The full-text index, and one for each column that is looked up by value, where they are missing."""
        from lancedb.index import BTree

        indexed = self._indexed()
        if "terms" not in indexed:
            self._create_text_index()
        for column in LOOKED_UP:
            if column not in indexed:
                self._table.create_index(column, config=BTree(), replace=True)

    @reading
    def stale(self) -> list[str]:
        """What upkeep would mend: indexes or index rows that are missing, BM25 statistics that count deleted chunks."""
        indexed = self._indexed()
        stale = [f"the index of {column} is missing" for column in ("terms", *LOOKED_UP) if column not in indexed]
        if self._wants_vector_index(indexed):
            stale.append("the vector index is missing")
        stale += [f"{rows} chunks are not yet in the index of {name}" for name, rows in sorted(indexed.items()) if rows]
        if self._deleted_since_built():
            stale.append("the BM25 statistics still count deleted chunks")
        return stale

    def _mend_indexes(self) -> None:
        """Make what is missing, and the text index anew after deletions.

        Lance adds new rows to the full-text index but keeps counting deleted ones (document frequencies, lengths), so
        scores would drift away from the formula.
        """
        if self._deleted_since_built() and "terms" in self._indexed():
            self._create_text_index()
            self._table.update_field_metadata({"path": "terms", "metadata": {_KEPT_AFTER_DELETION: None}})
        self.create_indexes()
        if self._wants_vector_index(self._indexed()):
            from lancedb.index import IvfHnswSq

            self._table.create_index("vector", config=IvfHnswSq(distance_type="dot"), replace=True)

    def _remember_deletion(self) -> None:
        """Written before the rows go: index_stats does not tell it afterwards, and a kill may come in between."""
        if not self._deleted_since_built():
            self._table.update_field_metadata({"path": "terms", "metadata": {_KEPT_AFTER_DELETION: "yes"}})

    def _deleted_since_built(self) -> bool:
        metadata = self._table.schema.field("terms").metadata or {}
        return _KEPT_AFTER_DELETION.encode() in metadata

    def _indexed(self) -> dict[str, int]:
        """Columns with an index, and the number of rows that are not in it yet."""
        return {index.columns[0]: int(index.num_unindexed_rows or 0) for index in self._table.list_indices()}

    def _wants_vector_index(self, indexed: Mapping[str, int]) -> bool:
        return "vector" not in indexed and int(self._table.count_rows()) >= self._ann_rows

    def _create_text_index(self) -> None:
        from lancedb.index import FTS

        # The terms are made by our own analyzer; Lance only splits them at the spaces again.
        plain = FTS(
            base_tokenizer="whitespace",
            stem=False,
            remove_stop_words=False,
            lower_case=False,
            ascii_folding=False,
            max_token_length=None,
            with_position=False,
        )
        self._table.create_index("terms", config=plain, replace=True)
