"""The store on LanceDB: tables of rows, vectors and BM25 in one folder, every change one transaction.

Lance appends and merges are atomic (a new version becomes visible as a whole or not at all), so a reader never sees
half of a change and a killed writer leaves the version before. What spans two tables is ordered by
`thresher.indexing.store` so that every state in between is sound.
"""

from __future__ import annotations

import json
import os
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cached_property, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

from thresher.errors import StoreError
from thresher.text.terms import TITLE_WEIGHT, index_terms, query_terms
from thresher.types import Chunk, ChunkRow

if TYPE_CHECKING:
    import pyarrow as pa

    from thresher.protocols import Vectors

MOST_ROWS = 100_000
"""About 300 MB with vectors of 384 dimensions and chunks of 1,000 characters, and 10 ms a question on two cores.
Larger tables are searched where they lie."""


@dataclass(frozen=True, slots=True)
class ResidentRows:
    """All rows of one version of a table."""

    version: int
    matrix: Vectors
    """(n_rows, dimension) float32, rows of unit length."""
    columns: pa.Table
    """The other columns, `id` and `_rowid` among them."""
    ids: Sequence[str]
    positions: Mapping[int, int]
    """Row id to position."""

    @classmethod
    def read(cls, version: int, rows: pa.Table) -> ResidentRows:
        """From a table with `id`, `_rowid`, `vector` and what else is wanted."""
        import numpy as np

        flat = rows["vector"].combine_chunks().flatten().to_numpy(zero_copy_only=False)
        matrix = np.ascontiguousarray(flat.reshape(rows.num_rows, -1), np.float32)
        columns = rows.drop_columns(["vector"]).combine_chunks()
        positions = {row_id: at for at, row_id in enumerate(columns["_rowid"].to_pylist())}
        return cls(version, matrix, columns, columns["id"].to_pylist(), positions)

    def nearest(self, vector: Vectors, limit: int) -> list[tuple[dict[str, Any], float]]:
        """The nearest rows and their cosines, best first; ties by id."""
        import numpy as np

        cosines = self.matrix @ np.asarray(vector, np.float32)
        candidates: Iterable[int] = range(len(cosines))
        if limit < len(cosines):
            lowest = np.partition(cosines, -limit)[-limit]
            candidates = np.flatnonzero(cosines >= lowest).tolist()
        best = sorted(candidates, key=lambda at: (-cosines[at], self.ids[at]))[:limit]
        return list(zip(self._rows(best), cosines[best].tolist(), strict=True))

    def taken(self, row_ids: Iterable[int]) -> list[dict[str, Any]] | None:
        """Rows by their row ids, in that order; None when one of them is not of this version."""
        try:
            return self._rows([self.positions[row_id] for row_id in row_ids])
        except KeyError:
            return None

    def _rows(self, positions: Sequence[int]) -> list[dict[str, Any]]:
        import pyarrow as pa

        rows: list[dict[str, Any]] = self.columns.take(pa.array(positions, pa.int64())).to_pylist()
        return rows


# --- the version of a Lance table, asked of Lance only when its folder of versions has changed ------------------------


class TableVersion:
    """The newest version of one table on a local disk."""

    def __init__(self, table: Any, folder: Path) -> None:
        self._table = table
        self._manifests = folder / f"{table.name}.lance" / "_versions"
        self._names: frozenset[str] = frozenset()
        self._version = -1

    def newest(self) -> int:
        """Grows with every change, whoever made it. Raises what Lance raises."""
        try:
            # Listed before Lance is asked: a commit in between is then seen at the next call, never overlooked.
            names = frozenset(os.listdir(self._manifests))
        except OSError:
            return int(self._table.version)
        if not names or names != self._names:
            self._version = int(self._table.version)
            self._names = names
        return self._version


# --- the store on LanceDB: tables of rows, vectors and BM25 in one folder, every change one transaction ---------------


ANN_ROWS = MOST_ROWS
"""Rows from which an approximate index is built: those that are no longer kept in memory. Measured by
benchmarks/store.py: at 100,000 rows a search of the table takes 102 ms, through the index 21, recall@10 1.00."""

_CHUNK_COLUMNS = (
    "id",
    "document_id",
    "source",
    "title",
    "start",
    "stop",
    "text",
    "page",
    "chunk_kind",
    "level",
    "parent_id",
    "number",
    "label",
)

CHUNK_TABLE_PREFIX = "chunks_"

READ_ROWS = 1024
"""Rows in one batch of a full read: about 2 MB with vectors."""

LOOKED_UP = ("id", "document_id")
"""Columns of a chunk table with an index by value."""

RETENTION = timedelta(hours=1)
"""Old versions are kept this long, for readers that began with them."""

READ_ATTEMPTS = 20
"""A purge takes the version away that a reader is looking at; the reader starts again with the newest."""

_KEPT_AFTER_DELETION = "thresher.deleted"
"""Metadata of the `terms` column: rows went since the full-text index was built, so its statistics count too many."""

_WHERE_IN_LANCE = re.compile(r", \S+\.rs:\d+.*")

P = ParamSpec("P")
R = TypeVar("R")


@contextmanager
def _told(subject: str) -> Iterator[None]:
    """Lance's errors in our words. It has one class for everything from a full disk to a damaged file."""
    try:
        yield
    except (RuntimeError, OSError) as error:
        raise _store_error(subject, error) from error


def _reading(method: Callable[Concatenate[Any, P], R]) -> Callable[Concatenate[Any, P], R]:
    """A read that begins again when the version it was reading is purged meanwhile."""

    @wraps(method)
    def read(self: Any, /, *args: P.args, **options: P.kwargs) -> R:
        for attempt in range(1, READ_ATTEMPTS + 1):
            try:
                return method(self, *args, **options)
            except (RuntimeError, OSError) as error:
                if attempt == READ_ATTEMPTS or "not found" not in str(error).lower():
                    raise _store_error(self.name, error) from error
        raise AssertionError("the last attempt returns or raises")

    return read


def _writing(method: Callable[Concatenate[Any, P], R]) -> Callable[Concatenate[Any, P], R]:
    """A change whose failure is told in our words."""

    @wraps(method)
    def write(self: Any, /, *args: P.args, **options: P.kwargs) -> R:
        try:
            return method(self, *args, **options)
        except (RuntimeError, OSError, ValueError) as error:
            raise _store_error(self.name, error) from error

    return write


def _store_error(subject: str, error: Exception) -> StoreError:
    text = str(error)
    if "No space left" in text or "File too large" in text or "Quota exceeded" in text or "quota exceeded" in text:
        return StoreError(
            "the disk is full", subject=subject, next_step="free some space and run again: what was committed is kept"
        )
    what = _WHERE_IN_LANCE.sub("", " ".join(text.split()).removeprefix("lance error: "))
    return StoreError(f"cannot be read or written ({what[:300]})", subject=subject, next_step="call `doctor()`")


class LanceStore:
    """A Lance database in a folder (implements `Store`); every read sees the newest committed version."""

    def __init__(self, folder: Path, *, ann_rows: int = ANN_ROWS) -> None:
        self._folder = folder
        self._ann_rows = ann_rows

    @cached_property
    def _database(self) -> Any:
        import lancedb

        try:
            self._folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StoreError(
                f"cannot be created ({error.strerror})", subject=str(self._folder), next_step="choose another `home`"
            ) from error
        return lancedb.connect(
            self._folder,
            read_consistency_interval=timedelta(0),
            storage_options={"new_table_enable_stable_row_ids": "true"},  # compaction must not move what is looked up
        )

    def records(self, name: str, *, key: str, columns: Mapping[str, str]) -> LanceRecords:
        """A table of records, created when missing; `columns` maps names to `text` or `whole`."""
        import pyarrow as pa

        types = {"text": pa.string(), "whole": pa.int64()}
        schema = pa.schema([pa.field(column, types[kind]) for column, kind in columns.items()])
        table = self._created(name, schema)
        return LanceRecords(table, TableVersion(table, self._folder), key=key)

    def chunk_tables(self) -> set[str]:
        """Names of the chunk tables there are."""
        names: list[str] = []
        token = None
        while True:
            page = self._database.list_tables(page_token=token)
            names.extend(page.tables)
            token = page.page_token
            if not token:
                return {name for name in names if name.startswith(CHUNK_TABLE_PREFIX)}

    def create(self, name: str, *, dimension: int) -> None:
        """Make an empty chunk table with its full-text and scalar indexes; one that is there is left as it is."""
        table = self._created(name, _chunk_schema(dimension))
        with _told(name):
            self._chunk_table(table).create_indexes()

    def open(self, name: str) -> LanceChunkTable:
        """A chunk table that exists."""
        try:
            return self._chunk_table(self._database.open_table(name))
        except (RuntimeError, OSError, ValueError) as error:
            raise _store_error(name, error) from error

    def _chunk_table(self, table: Any) -> LanceChunkTable:
        return LanceChunkTable(table, TableVersion(table, self._folder), ann_rows=self._ann_rows)

    def _created(self, name: str, schema: pa.Schema) -> Any:
        """A table of that name and schema, made or found."""
        database = self._database
        try:
            with _told(name):
                return database.create_table(name, schema=schema, exist_ok=True)
        except ValueError as error:
            raise StoreError(
                "was written by another version of Thresher",
                subject=f"{self._folder} ({name})",
                next_step="index into a new `home`",
            ) from error


# --- chunks -----------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Counted:
    """BM25's statistics of one version of a table, as far as they were asked for."""

    version: int
    frequencies: dict[str, int] = field(default_factory=dict)
    average: float | None = None


class LanceChunkTable:
    """The chunks of one chunking, level and encoder (implements `ChunkTable`)."""

    def __init__(self, table: Any, version: TableVersion, *, ann_rows: int = ANN_ROWS) -> None:
        self._table = table
        self._version = version
        self._ann_rows = ann_rows
        self._asked_version = -1
        self._rows: ResidentRows | None = None
        self._counted = _Counted(-1)

    @property
    def name(self) -> str:
        """Name of the table."""
        return str(self._table.name)

    # --- reading

    @_reading
    def nearest(self, vector: Vectors, *, limit: int, where: str | None = None) -> list[tuple[Chunk, float]]:
        """Chunks and their cosine, best first; ties by id."""
        resident = self._resident() if where is None else None
        if resident is not None:
            return [(_to_chunk(row), cosine) for row, cosine in resident.nearest(vector, limit)]
        query = self._table.search(vector, vector_column_name="vector").distance_type("dot")
        if self._has_vector_index():
            query = query.nprobes(40).refine_factor(4)  # recall@10 1.00 in benchmarks/store.py
        if where is not None:
            query = query.where(where, prefilter=True)
        rows = query.select([*_CHUNK_COLUMNS, "_distance"]).limit(limit).to_list()
        scored = [(_to_chunk(row), 1.0 - float(row["_distance"])) for row in rows]
        return sorted(scored, key=_best_first)

    @_reading
    def matching(self, query: str, *, limit: int, where: str | None = None) -> list[tuple[Chunk, float]]:
        """Chunks and their BM25 (k1 1.2, b 0.75, idf ln(1+(N-n+.5)/(n+.5))), best first; ties by id."""
        from lancedb.query import MatchQuery

        terms = query_terms(query)
        if not terms:
            return []
        search = self._table.search(MatchQuery(" ".join(terms), "terms"), query_type="fts").with_row_id(True)
        if where is not None:
            search = search.where(where, prefilter=True)
        found = search.select(["_score"]).limit(limit).to_arrow()
        return self._taken(zip(found["_rowid"].to_pylist(), found["_score"].to_pylist(), strict=True))

    def _taken(self, scored: Iterable[tuple[int, float]]) -> list[tuple[Chunk, float]]:
        """The chunks in some rows, best first; a row that was deleted meanwhile is left out."""
        scores = dict(scored)
        rows = None
        if self._rows is not None and self._rows.version == self.version:
            rows = self._rows.taken(scores)
        if rows is None and scores:
            # Looking rows up by their ids takes a fifth of the time that a search takes to return whole rows.
            rows = self._table.take_row_ids(list(scores)).with_row_id().select(list(_CHUNK_COLUMNS)).to_list()
        return sorted(((_to_chunk(row), float(scores[row["_rowid"]])) for row in rows or ()), key=_best_first)

    def _resident(self) -> ResidentRows | None:
        """The rows in memory, from the second question of the same version on, where the table is small enough.

        A process that asks once, and one that asks while documents are being added, would read them in vain.
        """
        version = self.version
        asked, self._asked_version = self._asked_version, version
        if self._rows is not None and self._rows.version == version:
            return self._rows
        self._rows = None
        if asked == version and self.count() <= MOST_ROWS:
            columns = [*_CHUNK_COLUMNS, "vector"]
            rows = self._table.search().with_row_id(True).select(columns).limit(None).to_arrow()
            self._rows = ResidentRows.read(version, rows)
        return self._rows

    @_reading
    def document_frequencies(self, query: str) -> dict[str, int]:
        """For each index term of the query, in how many chunks it occurs."""
        known = self._counts().frequencies
        terms = query_terms(query)
        for term in terms:
            if term not in known:
                known[term] = self._frequency(term)
        return {term: known[term] for term in terms}

    def _frequency(self, term: str) -> int:
        from lancedb.query import MatchQuery

        found = self._table.search(MatchQuery(term, "terms"), query_type="fts").select(["_score"])
        return int(found.limit(max(1, self.count())).to_arrow().num_rows)

    @_reading
    def average_terms(self) -> float:
        """Mean number of index terms of a chunk (BM25's average length); 0 for an empty table."""
        counted = self._counts()
        if counted.average is None:
            counted.average = self._average_terms()
        return counted.average

    def _average_terms(self) -> float:
        import pyarrow.compute as pc

        total = rows = 0
        for batch in self._table.search().select(["terms"]).limit(None).to_batches(batch_size=READ_ROWS):
            spaces = pc.sum(pc.count_substring(batch["terms"], " ")).as_py() or 0
            total += spaces + (pc.sum(pc.not_equal(batch["terms"], "")).as_py() or 0)
            rows += batch.num_rows
        return total / rows if rows else 0.0

    def _counts(self) -> _Counted:
        """What was counted in this version of the table; counting reads much and several parts of a question ask."""
        version = self.version
        if self._counted.version != version:
            self._counted = _Counted(version)
        return self._counted

    @_reading
    def vectors(self, ids: Sequence[str]) -> Vectors:
        """(n_ids, dimension) float32 in the order of `ids`; KeyError for an id that is not there."""
        import numpy as np

        if not ids:
            return np.zeros((0, self._table.schema.field("vector").type.list_size), dtype=np.float32)
        rows = self._table.search().where(f"id IN ({_quoted(ids)})").select(["id", "vector"]).limit(None).to_arrow()
        by_id = dict(zip(rows["id"].to_pylist(), rows["vector"].to_numpy(zero_copy_only=False), strict=True))
        return np.stack([by_id[id_] for id_ in ids]).astype(np.float32)

    def chunks(self, document_ids: Iterable[str] | None = None) -> Iterator[list[tuple[Chunk, Vectors]]]:
        """The chunks of some or all documents with their vectors, in batches."""
        query = self._table.search().select([*_CHUNK_COLUMNS, "vector"]).limit(None)
        if document_ids is not None:
            query = query.where(f"document_id IN ({_quoted(sorted(document_ids))})")
        with _told(self.name):
            for batch in query.to_batches(batch_size=READ_ROWS):
                vectors = batch["vector"].flatten().to_numpy(zero_copy_only=False).reshape(batch.num_rows, -1)
                rows = batch.drop_columns(["vector"]).to_pylist()
                yield [(_to_chunk(row), vector) for row, vector in zip(rows, vectors, strict=True)]

    @property
    def version(self) -> int:
        """Grows with every change, whoever made it."""
        with _told(self.name):
            return self._version.newest()

    @_reading
    def count(self) -> int:
        """Number of chunks."""
        return int(self._table.count_rows())

    @_reading
    def document_ids(self) -> dict[str, int]:
        """Number of chunks of each document that has any."""
        from collections import Counter

        column = self._table.search().select(["document_id"]).limit(None).to_arrow()["document_id"]
        return dict(Counter(column.to_pylist()))

    # --- writing

    @_writing
    def append(self, rows: Sequence[ChunkRow]) -> None:
        """Add chunks in one transaction."""
        if rows:
            self._table.add(_to_arrow(rows, self._table.schema))

    @_writing
    def delete(self, document_ids: Iterable[str]) -> None:
        """Remove all chunks of the documents in one transaction."""
        ids = sorted(document_ids)
        if ids:
            self._remember_deletion()
            self._table.delete(f"document_id IN ({_quoted(ids)})")

    @_writing
    def rename(self, document_id: str, *, source: str, title: str) -> None:
        """Give the chunks of a document another source and title (its first source was removed)."""
        self._remember_deletion()  # Lance updates a row by deleting it and adding it again.
        self._table.update(
            where=f"document_id IN ({_quoted([document_id])})", values={"source": source, "title": title}
        )

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

    @_reading
    def stale(self) -> list[str]:
        """What upkeep would mend: indexes or index rows that are missing, BM25 statistics that count deleted chunks."""
        indexed = self._indexed()
        found = [f"the index of {column} is missing" for column in ("terms", *LOOKED_UP) if column not in indexed]
        if self._wants_vector_index(indexed):
            found.append("the vector index is missing")
        found += [
            f"{rows} chunks are not yet in the index of {column}" for column, rows in sorted(indexed.items()) if rows
        ]
        if self._deleted_since_built():
            found.append("the BM25 statistics still count deleted chunks")
        return found

    @_writing
    def maintain(self, *, drop_versions: bool = False) -> None:
        """Compact, bring every index up to the newest row, rebuild BM25 statistics after deletions.

        Lance adds new rows to the full-text index but keeps counting deleted ones (document frequencies, lengths), so
        scores would drift away from the formula: after a deletion the text index is built anew. `drop_versions` also
        writes every row anew: Lance only marks deleted rows as deleted until a tenth of a file is.
        """
        if drop_versions:
            _rewrite(self._table)
        # In this order a process killed in between leaves a sign of what is still to do.
        self._table.optimize(cleanup_older_than=RETENTION)
        if self._deleted_since_built() and "terms" in self._indexed():
            self._create_text_index()
            self._table.update_field_metadata({"path": "terms", "metadata": {_KEPT_AFTER_DELETION: None}})
        self.create_indexes()
        if self._wants_vector_index(self._indexed()):
            self._create_vector_index()
        if drop_versions:
            _forget_versions(self._table)

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

    def _has_vector_index(self) -> bool:
        return "vector" in self._indexed()

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

    def _create_vector_index(self) -> None:
        from lancedb.index import IvfHnswSq

        self._table.create_index("vector", config=IvfHnswSq(distance_type="dot"), replace=True)


def searchable_terms(chunk: Chunk) -> str:
    """The BM25 terms of a chunk: its title's, counted `TITLE_WEIGHT` times, then its own."""
    title = index_terms(chunk.title)
    return " ".join([*(title * TITLE_WEIGHT), *index_terms(chunk.text)])


def _best_first(scored: tuple[Chunk, float]) -> tuple[float, str]:
    chunk, score = scored
    return -score, chunk.id


def _to_chunk(row: Mapping[str, Any]) -> Chunk:
    return Chunk(
        id=row["id"],
        document_id=row["document_id"],
        source=row["source"],
        title=row["title"],
        start=row["start"],
        end=row["stop"],
        text=row["text"],
        page=row["page"],
        kind=row["chunk_kind"],
        level=row["level"],
        parent_id=row["parent_id"],
        number=row["number"],
        label=row["label"],
    )


def _to_arrow(rows: Sequence[ChunkRow], schema: pa.Schema) -> pa.Table:
    import pyarrow as pa

    records = [
        {
            "id": row.chunk.id,
            "document_id": row.chunk.document_id,
            "source": row.chunk.source,
            "title": row.chunk.title,
            "kind": row.kind,
            "added": row.added,
            "date": row.date,
            "start": row.chunk.start,
            "stop": row.chunk.end,
            "text": row.chunk.text,
            "page": row.chunk.page,
            "chunk_kind": row.chunk.kind,
            "level": row.chunk.level,
            "parent_id": row.chunk.parent_id,
            "number": row.chunk.number,
            "label": row.chunk.label,
            "terms": searchable_terms(row.chunk),
            "vector": row.vector,
        }
        for row in rows
    ]
    return pa.Table.from_pylist(records, schema=schema)


def _chunk_schema(dimension: int) -> pa.Schema:
    import pyarrow as pa

    text, whole = pa.string(), pa.int64()
    return pa.schema(
        [
            pa.field("id", text, nullable=False),
            pa.field("document_id", text, nullable=False),
            pa.field("source", text),
            pa.field("title", text),
            pa.field("kind", text),
            pa.field("added", text),
            pa.field("date", text),
            pa.field("start", whole),
            pa.field("stop", whole),
            pa.field("text", text),
            pa.field("page", whole),
            pa.field("chunk_kind", text),
            pa.field("level", text),
            pa.field("parent_id", text),
            pa.field("number", whole),
            pa.field("label", text),
            pa.field("terms", text),
            pa.field("vector", pa.list_(pa.float32(), dimension)),
        ]
    )


# --- documents and files ----------------------------------------------------------------------------------------------


class LanceRecords:
    """Records with a key (implements `Records`)."""

    def __init__(self, table: Any, version: TableVersion, *, key: str) -> None:
        self._table = table
        self._version = version
        self._key = key

    @property
    def name(self) -> str:
        """Name of the table."""
        return str(self._table.name)

    @property
    def version(self) -> int:
        """Grows with every change, whoever made it."""
        with _told(self.name):
            return self._version.newest()

    @_reading
    def rows(self, columns: Sequence[str]) -> list[dict[str, Any]]:
        """All rows, the given columns only."""
        found: list[dict[str, Any]] = self._table.search().select(list(columns)).limit(None).to_list()
        return found

    @_reading
    def get(self, keys: Iterable[str]) -> dict[str, dict[str, Any]]:
        """Whole rows by key; missing keys are left out."""
        wanted = sorted(set(keys))
        if not wanted:
            return {}
        rows = self._table.search().where(f"{self._key} IN ({_quoted(wanted)})").limit(None).to_list()
        return {row[self._key]: row for row in rows}

    @_writing
    def merge(self, rows: Sequence[Mapping[str, Any]], *, remove: Iterable[str] = ()) -> None:
        """Insert or replace rows by key and remove others, in one transaction."""
        import pyarrow as pa

        gone = sorted(set(remove))
        if not rows:
            if gone:
                self._table.delete(f"{self._key} IN ({_quoted(gone)})")
            return
        merge = self._table.merge_insert(self._key).when_matched_update_all().when_not_matched_insert_all()
        if gone:
            merge = merge.when_not_matched_by_source_delete(f"{self._key} IN ({_quoted(gone)})")
        merge.execute(pa.Table.from_pylist([dict(row) for row in rows], schema=self._table.schema))

    @_writing
    def append(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """Add rows whose keys are known to be new (cheaper than a merge)."""
        import pyarrow as pa

        if rows:
            self._table.add(pa.Table.from_pylist([dict(row) for row in rows], schema=self._table.schema))

    @_writing
    def maintain(self, *, drop_versions: bool = False) -> None:
        """Compact and drop old versions; `drop_versions` drops all of them and writes every row anew."""
        if drop_versions:
            _rewrite(self._table)
        self._table.optimize(cleanup_older_than=RETENTION)
        if drop_versions:
            _forget_versions(self._table)


def _rewrite(table: Any) -> None:
    """Write every row anew, so that no file is left that holds deleted ones."""
    table.update(values_sql={table.schema.names[0]: table.schema.names[0]})


def _forget_versions(table: Any) -> None:
    """Remove the files of every version but the newest; a reader of another one begins again (`_reading`)."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="optimize\\(cleanup_older_than=0\\)")
        table.optimize(cleanup_older_than=timedelta(0))


def _quoted(values: Iterable[str]) -> str:
    return ", ".join("'" + value.replace("'", "''") + "'" for value in values)


def to_json(value: Any) -> str:
    """Compact JSON with sorted keys: the same value is always the same text."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
