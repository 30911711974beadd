"""A store in memory, with lists and dictionaries as tables: a complete store that ends with its process.

Every change replaces the rows, so that a reader keeps those that it began with.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import log
from pathlib import Path
from typing import TYPE_CHECKING, Any

from thresher.errors import StoreError
from thresher.filters import holds
from thresher.text.terms import chunk_terms, query_terms
from thresher.types import Chunk, ChunkRow, Filter

if TYPE_CHECKING:
    from thresher.types import Vectors


class MemoryStore:
    """Tables by name (implements `Store`); a store on disk would keep them in the folder."""

    def __init__(self, folder: Path) -> None:
        self._records: dict[str, MemoryRecords] = {}
        self._chunks: dict[str, MemoryChunkTable] = {}

    @property
    def exists(self) -> bool:
        """Whether anything was ever stored here."""
        return bool(self._records or self._chunks)

    def records(self, name: str, *, key: str, columns: Mapping[str, str]) -> MemoryRecords:
        """A table of records, made if missing; any value fits any column."""
        return self._records.setdefault(name, MemoryRecords(key))

    def chunk_tables(self) -> set[str]:
        """Names of the chunk tables."""
        return set(self._chunks)

    def create(self, name: str, *, dimension: int) -> None:
        """Make an empty chunk table; an existing one does not change."""
        self._chunks.setdefault(name, MemoryChunkTable(dimension))

    def open(self, name: str) -> MemoryChunkTable:
        """An existing chunk table. Raises StoreError."""
        if name not in self._chunks:
            raise StoreError("no such table", subject=name, next_step="create it first")
        return self._chunks[name]

    def discard(self, name: str) -> None:
        """Remove a chunk table; nothing where it is not there."""
        self._chunks.pop(name, None)

    def bytes_of(self, name: str) -> int:
        """0: nothing is on disk."""
        return 0


class MemoryRecords:
    """Keyed records (implements `Records`)."""

    versions = 1
    """Replaced rows are gone."""

    def __init__(self, key: str) -> None:
        self._key = key
        self._rows: dict[str, dict[str, Any]] = {}
        self.version = 0

    def rows(self, columns: Sequence[str]) -> list[dict[str, Any]]:
        """All records, with the given columns."""
        return [{name: row.get(name) for name in columns} for row in self._rows.values()]

    def get(self, keys: Iterable[str]) -> dict[str, dict[str, Any]]:
        """Whole records by key; missing keys are left out."""
        return {key: dict(self._rows[key]) for key in set(keys) if key in self._rows}

    def merge(self, rows: Sequence[Mapping[str, Any]], *, remove: Iterable[str] = ()) -> None:
        """Insert or replace records by key and remove others."""
        gone = set(remove)
        if rows or gone:
            kept = {key: row for key, row in self._rows.items() if key not in gone}
            self._rows = kept | {row[self._key]: dict(row) for row in rows}
            self.version += 1

    def append(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """Add records whose keys are new."""
        self.merge(rows)

    def maintain(self, *, drop_versions: bool = False) -> None:
        """Nothing to do."""


class MemoryChunkTable:
    """The chunks of one chunking, level and encoder (implements `ChunkTable`)."""

    versions = 1
    """Replaced rows are gone."""

    def __init__(self, dimension: int) -> None:
        self._dimension = dimension
        self._rows: list[ChunkRow] = []
        self._terms: dict[str, Counter[str]] = {}
        self.version = 0

    def nearest(self, vector: Vectors, *, limit: int, where: Filter | None = None) -> list[tuple[Chunk, float]]:
        """Chunks and their cosine, best first; ties by id."""
        return _best(((row.chunk, float(row.vector @ vector)) for row in self._passing(where)), limit)

    def matching(self, query: str, *, limit: int, where: Filter | None = None) -> list[tuple[Chunk, float]]:
        """Chunks and their BM25, best first; chunks without a term of the query are not returned."""
        number, average = len(self._rows), self.average_terms()
        rarity = {
            term: log(1 + (number - holding + 0.5) / (holding + 0.5))
            for term, holding in self.document_frequencies(query).items()
        }

        def score(terms: Counter[str]) -> float:
            longer = 1.2 * (0.25 + 0.75 * terms.total() / average)  # k1 1.2, b 0.75
            return sum(rarity[term] * terms[term] * 2.2 / (terms[term] + longer) for term in rarity if term in terms)

        scored = ((row.chunk, score(self._terms[row.chunk.id])) for row in self._passing(where))
        return _best((one for one in scored if one[1] > 0), limit)

    def _passing(self, where: Filter | None) -> list[ChunkRow]:
        if where is None:
            return self._rows
        of_chunk = ("id", "document_id", "parent_id", "source", "title", "page")
        of_row = ("kind", "added", "date")
        fields = [
            {name: getattr(row.chunk, name) for name in of_chunk} | {name: getattr(row, name) for name in of_row}
            for row in self._rows
        ]
        return [row for row, filtered in zip(self._rows, fields, strict=True) if holds(where, filtered)]

    def document_frequencies(self, query: str) -> dict[str, int]:
        """For each index term of the query, the number of chunks with it."""
        return {term: sum(term in self._terms[row.chunk.id] for row in self._rows) for term in query_terms(query)}

    def average_terms(self) -> float:
        """Mean number of index terms of a chunk; 0 for an empty table."""
        return sum(self._terms[row.chunk.id].total() for row in self._rows) / max(1, len(self._rows))

    def vectors(self, ids: Sequence[str]) -> Vectors:
        """(n_ids, dimension) float32 in the order of `ids`. Raises KeyError for an unknown id."""
        import numpy as np

        by_id = {row.chunk.id: row.vector for row in self._rows}
        return np.array([by_id[id_] for id_ in ids], np.float32).reshape(len(ids), self._dimension)

    def chunks(self, document_ids: Iterable[str] | None = None) -> Iterator[list[tuple[Chunk, Vectors]]]:
        """The chunks of some or all documents with their vectors, in one batch."""
        wanted = None if document_ids is None else set(document_ids)
        yield [(row.chunk, row.vector) for row in self._rows if wanted is None or row.chunk.document_id in wanted]

    def count(self) -> int:
        """Number of chunks."""
        return len(self._rows)

    def document_ids(self) -> dict[str, int]:
        """Number of chunks of each document."""
        return dict(Counter(row.chunk.document_id for row in self._rows))

    def chunk_counts(self, document_ids: Iterable[str]) -> dict[str, int]:
        """The same for some documents."""
        wanted = set(document_ids)
        return {id_: chunks for id_, chunks in self.document_ids().items() if id_ in wanted}

    def append(self, rows: Sequence[ChunkRow]) -> None:
        """Add chunks."""
        if not rows:
            return
        self._terms |= {row.chunk.id: Counter(chunk_terms(row.indexed_title, row.chunk.text)) for row in rows}
        self._change([*self._rows, *rows])

    def delete(self, document_ids: Iterable[str]) -> None:
        """Remove all chunks of the documents."""
        gone = set(document_ids)
        self._change([row for row in self._rows if row.chunk.document_id not in gone])

    def rename(self, document_id: str, *, source: str, title: str) -> None:
        """Change source and title of a document's chunks; their terms do not change."""

        def renamed(row: ChunkRow) -> ChunkRow:
            return replace(row, chunk=replace(row.chunk, source=source, title=title))

        self._change([renamed(row) if row.chunk.document_id == document_id else row for row in self._rows])

    def _change(self, rows: list[ChunkRow]) -> None:
        self._rows = rows
        self.version += 1

    def stale(self) -> list[str]:
        """Nothing: there is no index."""
        return []

    def maintain(self, *, drop_versions: bool = False) -> None:
        """Nothing to do."""


def _best(scored: Iterable[tuple[Chunk, float]], limit: int) -> list[tuple[Chunk, float]]:
    return sorted(scored, key=lambda one: (-one[1], one[0].id))[:limit]
