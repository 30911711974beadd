"""The store on LanceDB: tables of rows, vectors and BM25 in one folder, every change one transaction."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from datetime import timedelta
from functools import cached_property, partial
from math import exp
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

from thresher.errors import StoreError
from thresher.filters import IDS
from thresher.home.places import make_folder, size
from thresher.protocols import CHUNK_TABLE_PREFIX, Home
from thresher.settings import of_home
from thresher.stores import lance_memory
from thresher.stores.lance_memory import Memory, MemoryIndex
from thresher.stores.lance_table import (
    InOurWords,
    LanceRecords,
    LanceTable,
    attempts,
    one_of,
    reading,
    store_error,
    store_errors,
    to_sql,
    writing,
)
from thresher.stores.lance_upkeep import (
    ANALYZER,
    QUIET,
    SEGMENT_ROWS,
    TERMS,
    VECTOR,
    VECTOR_INDEX,
    bring_up,
    bring_up_text_index,
    build_text_index,
    build_vector_index,
    by_vector_index,
    is_text_index_sound,
    wants_vector_index,
)
from thresher.text.terms import chunk_terms, query_terms
from thresher.types import Chunk, ChunkRow, Filter

if TYPE_CHECKING:
    import pyarrow as pa

    from thresher.types import Vectors

READ_ROWS = 1024
"""Rows in one batch of a full read: about 2 MB with vectors."""

READ_LENGTHS = 65_536
"""Lengths in one batch: half a megabyte."""

COUNTED = 2000
"""Most chunks with a term that are counted one by one: 2 ms; a million take 1.4 s."""

K1, B = 1.2, 0.75
"""Parameters of BM25 (Robertson and Zaragoza 2009) in Lance; its idf is that of Lucene."""

LOOKED_UP = ("id", "document_id")
"""Columns of a chunk table with an index by value."""

_RENAMED = {"end": "stop", "kind": "chunk_kind"}
"""Columns whose name differs from the chunk's field: `end` is a keyword of SQL, `kind` is the document's."""

_COLUMN_OF = {one.name: _RENAMED.get(one.name, one.name) for one in fields(Chunk)}

DECIMALS = 6
"""Digits of a cosine; further ones differ between the store and a matrix in memory."""

_PACKED = [one.name for one in fields(Chunk) if one.name not in ("source", "title", "text")]
"""Fields that do not change, repeated as JSON in the column `packed`: the time of a lookup grows with the number of
columns, 50 rows take 16 ms with 13 columns and 7 ms with 4."""

_READ = ["packed", "source", "title", "text"]
"""Columns that a chunk is read from."""

_DOCUMENT_COLUMNS = ("kind", "added", "date")

T = TypeVar("T")


def chunk_schema(dimension: int) -> pa.Schema:
    """The columns of a chunk table; their order is part of the format on disk."""
    import pyarrow as pa

    chunk = list(_COLUMN_OF.values())
    names = [*chunk[:4], *_DOCUMENT_COLUMNS, *chunk[4:], "packed", "terms", "length"]
    whole = {"start", "stop", "page", "number", "length"}
    columns = [pa.field(n, pa.int64() if n in whole else pa.string(), nullable=n not in LOOKED_UP) for n in names]
    return pa.schema([*columns, pa.field("vector", pa.list_(pa.float32(), dimension))])


def _to_row(row: ChunkRow) -> dict[str, Any]:
    chunk = {column: getattr(row.chunk, name) for name, column in _COLUMN_OF.items()}
    document = {name: getattr(row, name) for name in _DOCUMENT_COLUMNS}
    terms = chunk_terms(row.indexed_title, row.chunk.text)
    packed = json.dumps([getattr(row.chunk, name) for name in _PACKED], ensure_ascii=False, separators=(",", ":"))
    indexed = {"terms": " ".join(terms), "length": len(terms), "vector": row.vector}
    return {**chunk, **document, "packed": packed, **indexed}


def _to_chunk(row: Mapping[str, Any]) -> Chunk:
    packed = dict(zip(_PACKED, json.loads(row["packed"]), strict=True))
    return Chunk(**packed, source=row["source"], title=row["title"], text=row["text"])


def holding(idf: float, chunks: int) -> int:
    """The number of chunks with a term, from its idf ln(1+(N-n+.5)/(n+.5)) solved for n, rounded."""
    return round((chunks + 1) * exp(-idf) - 0.5)


def _best_first(scored: tuple[Chunk, float]) -> tuple[float, str]:
    chunk, score = scored
    return -score, chunk.id


class LanceChunkTable(LanceTable):
    """The chunks of one chunking, level and encoder (implements `ChunkTable`)."""

    FILE_ROWS = SEGMENT_ROWS
    _key = "id"

    def __init__(self, table: Any, folder: Path, memory: Memory, *, ann_rows: int | None = None) -> None:
        """`ann_rows` is the number of rows from which an approximate index is built: more than fit into `memory`."""
        super().__init__(table, folder)
        self._memory = memory
        self._ann_rows = memory.rows(self._dimension) if ann_rows is None else ann_rows
        self._searched: dict[str, int] = {}
        self._counts: tuple[int, dict[str, Any]] = -1, {}
        """A version and its counts."""

    @cached_property
    def _dimension(self) -> int:
        return int(self._table.schema.field("vector").type.list_size)

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
        if "vector" in self._indexes():
            query = by_vector_index(query, limit, filtered=where is not None)
        if where is not None:
            query = query.where(to_sql(where), prefilter=True)
        rows = query.select([*_READ, "_distance"]).limit(limit).to_list()
        scored = ((_to_chunk(row), round(1.0 - float(row["_distance"]), DECIMALS)) for row in rows)
        return sorted(scored, key=_best_first)

    def _in_memory(self, *, searched: str | None = None) -> MemoryIndex | None:
        """The rows in memory, or None; `searched` is "vectors" or "words" when the whole table is searched.

        A small table is read into memory at the second such search of one version: a process that asks once, or while
        documents are added, would not use it again.
        """
        version = self.version
        kept = self._memory.of(self)
        if kept is not None and kept.version == version:
            return kept
        self._memory.forget(self)
        if searched is None:
            return None
        before, self._searched[searched] = self._searched.get(searched), version
        if before != version or (rows := self.count()) > self._memory.rows(self._dimension):
            return None
        columns = list(dict.fromkeys([*IDS, *_READ, VECTOR]))
        query = self._table.search().with_row_id(True).select(columns).limit(None)
        read = MemoryIndex.read(version, query.to_batches(batch_size=READ_ROWS), rows, self._dimension)
        if read is not None:
            self._memory.keep(self, read)
        return read

    @reading
    def matching(self, query: str, *, limit: int, where: Filter | None = None) -> list[tuple[Chunk, float]]:
        """Chunks and their BM25 (k1 1.2, b 0.75, idf ln(1+(N-n+.5)/(n+.5))), best first; ties by id.

        Exact when `stale` is empty. Between a change and the upkeep after it n, N and the mean length still count
        chunks that were deleted since, and chunks that were added since are scored by the n and N among themselves.
        """
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
        ids = list(scores)
        memory = self._in_memory()
        found = None if memory is None else memory.get(ids)
        if found is None:
            # Looking rows up by their ids takes a fifth of the time that a search takes to return whole rows. One that
            # was deleted meanwhile is left out.
            found = self._table.take_row_ids(ids).with_row_id().select(_READ).to_list() if ids else []
        return sorted(((_to_chunk(row), float(scores[row["_rowid"]])) for row in found), key=_best_first)

    def _full_text(self, terms: str) -> Any:
        from lancedb.query import MatchQuery

        return self._table.search(MatchQuery(terms, "terms"), query_type="fts")

    @reading
    def document_frequencies(self, query: str) -> dict[str, int]:
        """The number of chunks with each index term of the query."""
        return {term: self._known(f"term {term}", partial(self._holding, term)) for term in query_terms(query)}

    def _holding(self, term: str) -> int:
        """The number of chunks with a term: counted if small, else computed from its BM25 weight."""
        found = self._scored(term, limit=min(COUNTED, self.count() + 1))
        if found.num_rows < COUNTED:
            return int(found.num_rows)
        index = self._indexes().get(TERMS)
        if index is None or index.num_unindexed_rows or not is_text_index_sound(self._table, index):
            return int(self._scored(term, limit=self.count()).num_rows)
        # The number of chunks that gives the best of them the score it has: exact to some five million chunks.
        row = self._table.take_row_ids([found["_rowid"][0].as_py()]).select(["terms"]).to_list()[0]
        words = row["terms"].split(" ")
        often = words.count(term)
        per_idf = often * (K1 + 1) / (often + K1 * (1 - B + B * len(words) / self.average_terms()))
        return holding(found["_score"][0].as_py() / per_idf, self.count())

    def _scored(self, term: str, *, limit: int) -> pa.Table:
        return self._full_text(term).with_row_id(True).select(["_score"]).limit(limit).to_arrow()

    @reading
    def average_terms(self) -> float:
        """Mean number of index terms of a chunk (BM25's average length); 0 for an empty table."""
        return self._known("average", self._average_terms)

    def _average_terms(self) -> float:
        import pyarrow.compute as pc

        if not (rows := self.count()):
            return 0.0
        batches = self._table.search().select(["length"]).limit(None).to_batches(batch_size=READ_LENGTHS)
        return sum(pc.sum(batch["length"]).as_py() or 0 for batch in batches) / rows

    def _known(self, what: str, count: Callable[[], T]) -> T:
        """A cached count of the current version: several parts of a question need it."""
        if (version := self.version) != self._counts[0]:
            self._counts = version, {}
        counts = self._counts[1]
        if what not in counts:
            counts[what] = count()
        return cast("T", counts[what])

    # --- reading

    @reading
    def vectors(self, ids: Sequence[str]) -> Vectors:
        """(n_ids, dimension) float32 in the order of `ids`; KeyError for an id that is not there."""
        import numpy as np

        if not ids:
            return np.zeros((0, self._dimension), dtype=np.float32)
        memory = self._in_memory()
        if memory is not None:
            return memory.vectors(ids)
        rows = self._table.search().where(one_of("id", ids)).select(["id", "vector"]).limit(None).to_arrow()
        by_id = dict(zip(rows["id"].to_pylist(), rows["vector"].to_numpy(zero_copy_only=False), strict=True))
        return np.stack([by_id[id_] for id_ in ids]).astype(np.float32)

    def chunks(self, document_ids: Iterable[str] | None = None) -> Iterator[list[tuple[Chunk, Vectors]]]:
        """Chunks of some or all documents with their vectors, in batches; each once, even if its version is dropped."""
        where = None if document_ids is None else one_of("document_id", document_ids)
        yielded: set[str] = set()
        for attempt in attempts(self):
            before = frozenset(yielded)
            with attempt:
                for batch in self._batches(where):
                    fresh = [one for one in batch if one[0].id not in before]
                    yielded.update(chunk.id for chunk, _ in fresh)
                    yield fresh
                return

    def _batches(self, where: str | None) -> Iterator[list[tuple[Chunk, Vectors]]]:
        query = self._table.search().select([*_READ, VECTOR]).limit(None)
        if where is not None:
            query = query.where(where)
        for batch in query.to_batches(batch_size=READ_ROWS):
            vectors = batch["vector"].flatten().to_numpy(zero_copy_only=False).reshape(batch.num_rows, -1)
            rows = batch.drop_columns(["vector"]).to_pylist()
            yield [(_to_chunk(row), vector) for row, vector in zip(rows, vectors, strict=True)]

    @reading
    def count(self) -> int:
        """Number of chunks."""
        return self._known("chunks", lambda: int(self._table.count_rows()))

    @reading
    def document_ids(self) -> dict[str, int]:
        """Number of chunks of each document that has any."""
        return self._by_document(None)

    @reading
    def chunk_counts(self, document_ids: Iterable[str]) -> dict[str, int]:
        """The number of chunks of some documents, by the index."""
        wanted = set(document_ids)
        return self._by_document(one_of("document_id", wanted)) if wanted else {}

    def _by_document(self, where: str | None) -> dict[str, int]:
        query = self._table.search().select(["document_id"]).limit(None)
        if where is not None:
            query = query.where(where)
        counted = query.to_arrow()["document_id"].value_counts()
        return dict(zip(counted.field("values").to_pylist(), counted.field("counts").to_pylist(), strict=True))

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
        if ids := set(document_ids):
            self._table.delete(one_of("document_id", ids))

    @writing
    def rename(self, document_id: str, *, source: str, title: str) -> None:
        """Change source and title of the chunks of a document (its first source was removed)."""
        self._table.update(where=one_of("document_id", [document_id]), values={"source": source, "title": title})

    # --- upkeep

    def create_indexes(self) -> None:
        """Make the missing indexes of an empty table; upkeep adds later rows."""
        from lancedb.index import FTS

        if TERMS not in self._indexes():
            self._table.create_index(TERMS, config=FTS(**ANALYZER), replace=True)
        self._create_by_value(LOOKED_UP)

    @reading
    def stale(self) -> list[str]:
        """Faults that upkeep repairs: missing indexes or index rows, BM25 statistics that count deleted chunks."""
        indexes = self._indexes()
        stale = [f"the index of {column} is missing" for column in ("terms", *LOOKED_UP) if column not in indexes]
        if wants_vector_index(self._table, indexes.get(VECTOR), self._ann_rows):
            stale.append("the vector index is missing")
        behind = {column: index.num_unindexed_rows for column, index in sorted(indexes.items())}
        stale += [f"{rows} chunks are not yet in the index of {column}" for column, rows in behind.items() if rows]
        if TERMS in indexes and not is_text_index_sound(self._table, indexes[TERMS]):
            stale.append("the BM25 statistics still count deleted chunks")
        return stale

    def _mend_indexes(self, *, anew: bool, large: bool) -> None:
        """Bring the indexes up to date; rebuild text segments that count deleted rows, so that scores stay exact."""
        indexes = self._indexes()
        self._index_by_value(LOOKED_UP, anew=anew, large=large)
        (bring_up_text_index if large else build_text_index)(self._table)
        if wants_vector_index(self._table, indexes.get(VECTOR), self._ann_rows) or (anew and VECTOR in indexes):
            build_vector_index(self._table)
        elif VECTOR in indexes and large:
            bring_up(self._table, [VECTOR_INDEX])


# --- the store --------------------------------------------------------------------------------------------------------


class LanceStore:
    """A Lance database in a folder (implements `Store`); every read sees the newest committed version."""

    in_our_words: InOurWords = staticmethod(store_error)
    """The words of its errors and those of its tables."""

    def __init__(self, folder: Path, *, memory: Memory | None = None, ann_rows: int | None = None) -> None:
        """`memory` in place of the one of the process; `ann_rows` as `LanceChunkTable` has it."""
        self._folder = folder
        self._address: Home = folder
        self._given_memory = memory
        self._ann_rows = ann_rows

    @cached_property
    def _memory(self) -> Memory:
        if self._given_memory is not None:
            return self._given_memory
        home = self._address.absolute() if isinstance(self._address, Path) else self._address
        return lance_memory.of_process(of_home(home.parent.parent.parent).memory_megabytes)

    @property
    def exists(self) -> bool:
        """Whether the folder holds a database."""
        return self._folder.is_dir()

    @cached_property
    def _database(self) -> Any:
        try:
            make_folder(self._folder)
        except OSError as error:
            raise StoreError(
                f"cannot be created ({error.strerror})", subject=str(self._folder), next_step="choose another `home`"
            ) from error
        return self._connected(timedelta(0), {})

    def _connected(self, behind: timedelta, options: Mapping[str, str]) -> Any:
        """The database at the address; reads may be older by the given time; `options` are those of its storage."""
        os.environ.setdefault("LANCEDB_LOG", QUIET)
        import lancedb

        stable = {"new_table_enable_stable_row_ids": "true"}  # compaction must not move what is looked up
        return lancedb.connect(
            str(self._address),
            read_consistency_interval=behind,
            session=self._memory.session,
            storage_options={**stable, **options},
        )

    def records(self, name: str, *, key: str, columns: Mapping[str, str]) -> LanceRecords:
        """A table of records, made if missing; `columns` maps names to `text` or `whole`; new columns are empty."""
        import pyarrow as pa

        types = {"text": pa.string(), "whole": pa.int64()}
        schema = pa.schema([pa.field(column, types[kind]) for column, kind in columns.items()])
        if (stored := self._stored(name)) is not None:
            with store_errors(name, self.in_our_words):
                lacking = [field for field in schema if field.name not in stored.schema.names]
                if lacking and set(stored.schema.names) < set(schema.names):
                    stored.add_columns(pa.schema(lacking))
        table = self._created(name, schema)
        return LanceRecords(table, self._folder, key=key, again=partial(self._database.open_table, name))

    def _stored(self, name: str) -> Any | None:
        """A table; None if it does not exist, or only its folder does (its process was killed)."""
        with store_errors(name, self.in_our_words):
            try:
                return self._database.open_table(name)
            except ValueError as error:
                if "was not found" in str(error):
                    return None
                raise

    def chunk_tables(self) -> set[str]:
        """Names of the existing chunk tables."""
        names: list[str] = []
        token = None
        while True:
            page = self._database.list_tables(page_token=token)
            names += page.tables
            token = page.page_token
            if not token:
                return {name for name in names if name.startswith(CHUNK_TABLE_PREFIX)}

    def create(self, name: str, *, dimension: int) -> None:
        """Make an empty chunk table with its full-text and scalar indexes; an existing one stays unchanged."""
        if self._stored(name) is None:  # one of an earlier version has fewer columns, and every one metadata of its own
            self._created(name, chunk_schema(dimension))
        with store_errors(name, self.in_our_words):
            self.open(name).create_indexes()

    def open(self, name: str) -> LanceChunkTable:
        """A chunk table that exists."""
        with store_errors(name, self.in_our_words):
            table = self._database.open_table(name)
            if not {"packed", "length"} <= set(table.schema.names):
                raise self._of_another_version(name)
            return self._chunk_table(table)

    def discard(self, name: str) -> None:
        """Remove a chunk table; nothing where it is not there."""
        with store_errors(name, self.in_our_words):
            self._database.drop_table(name, ignore_missing=True)

    def bytes_of(self, name: str) -> int:
        """What a chunk table that exists takes on disk."""
        return size(self._address / f"{name}.lance")[1]

    def _chunk_table(self, table: Any) -> LanceChunkTable:
        return LanceChunkTable(table, self._folder, self._memory, ann_rows=self._ann_rows)

    def _created(self, name: str, schema: pa.Schema) -> Any:
        with store_errors(name, self.in_our_words):
            try:
                return self._database.create_table(name, schema=schema, exist_ok=True)
            except ValueError as error:
                raise self._of_another_version(name) from error

    def _of_another_version(self, name: str) -> StoreError:
        what = "was written by another version of Thresher"
        return StoreError(what, subject=f"{self._folder} ({name})", next_step="index into a new `home`")
