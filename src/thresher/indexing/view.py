"""A collection through a filter: whoever reads it finds the documents that the filter holds for alone.

Every reading goes through `record_table` and `open`, so that a document outside is as one that does not exist, whatever
is asked; writing is refused. A document with several places has those that the filter holds for. A file counts as read
only if all that it holds is seen, because its original shows all of it.

Title, kind and dates are those of the document, in each of its places; metadata is known of the first, and of another
what was given when its file was added: where the filter names more, that place is not seen.

What the whole collection still decides: the word frequencies that BM25 weighs with, and the numbers in labels (Doc12).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Never

from thresher.errors import UsageError
from thresher.filters import COLUMNS, fields_of, holds, narrowed, of_documents, resolve
from thresher.indexing.catalog import SourceRef, stable_json, to_places, to_record, with_places
from thresher.indexing.store import DocumentStore
from thresher.types import Filter, In

if TYPE_CHECKING:
    from thresher.home.places import Home
    from thresher.indexing.index_config import IndexConfig
    from thresher.protocols import ChunkTable, Records, Store
    from thresher.types import Chunk, Vectors

DESCRIBED = ("id", "source", "title", "kind", "added", "date", "metadata", "places")
"""Columns that decide whether a document is seen."""


@dataclass(frozen=True, slots=True)
class Seen:
    """What of a collection is seen, as of one version of its documents."""

    documents: Mapping[str, tuple[SourceRef, ...]]
    """The places of each document that are seen, the first one first."""
    renamed: Mapping[str, Mapping[str, Any]]
    """Source, title, places and metadata of documents that have others besides, by id."""
    files: frozenset[str]
    """Files of which everything is seen."""
    hidden: frozenset[str]
    """Ids of the other documents."""
    sources: frozenset[str]
    """Of places that are not seen, but for those that a document that is seen has too."""
    within: In
    """The documents that are seen, as a filter of chunks."""


class DocumentView(DocumentStore):
    """The documents of a collection that a filter holds for."""

    def __init__(self, folder: Home, where: str) -> None:
        super().__init__(folder)
        self._whole = DocumentStore(folder)
        self._where = of_documents(where)
        self._seen: tuple[int, Seen] | None = None

    @property
    def _store(self) -> Store:
        return self._whole._store

    def choose(self, name: str) -> None:
        """Delegates to the unfiltered store."""
        self._whole.choose(name)

    @property
    def is_open_to_choice(self) -> bool:
        """Delegates to the unfiltered store."""
        return self._whole.is_open_to_choice

    def record_table(self, name: str) -> Records:
        """A table of records with those that are seen."""
        table = self._whole.record_table(name)
        match name:
            case "documents":
                return SeenRecords(table, "id", lambda: self.seen.documents, lambda id_: self.seen.renamed.get(id_, {}))
            case "read_files":
                return SeenRecords(table, "source", lambda: self.seen.files)
        return SeenRecords(table)

    def open(self, name: str) -> ChunkTable:
        """A chunk table with the chunks of documents that are seen."""
        if name not in self._chunk_tables:
            self._chunk_tables[name] = SeenChunks(self._whole.open(name), self)
        return self._chunk_tables[name]

    @property
    def seen(self) -> Seen:
        """What is seen now."""
        version = self._whole.version
        if self._seen is None or self._seen[0] != version:
            self._seen = version, _seen(self._whole, self._where)
        return self._seen[1]

    def hidden(self, name: Callable[[str], str]) -> frozenset[str]:
        """Ids, sources and shown names of the documents that are not seen, which a stored answer may quote."""
        seen = self.seen
        shown = {name(place.source) for places in seen.documents.values() for place in places}
        return seen.hidden | seen.sources | ({name(source) for source in seen.sources} - shown)

    def size(self) -> tuple[int, int]:
        """Nothing: what the whole takes would tell of the rest."""
        return 0, 0

    def bytes_of(self, name: str) -> int:
        """Nothing, for the same reason."""
        return 0

    # --- the tables are kept in step as a whole

    def create_tables(self, config: IndexConfig) -> None:
        """Delegates to the unfiltered store."""
        self._whole.create_tables(config)

    def missing(self, config: IndexConfig) -> list[str]:
        """Delegates to the unfiltered store."""
        return self._whole.missing(config)

    def complete(self, config: IndexConfig, *, progress: Callable[[int, int], None] | None = None) -> int:
        """Delegates to the unfiltered store."""
        return self._whole.complete(config, progress=progress)

    def maintain(self, config: IndexConfig | None = None, *, drop_versions: bool = False) -> None:
        """Delegates to the unfiltered store."""
        self._whole.maintain(config, drop_versions=drop_versions)


def _seen(whole: DocumentStore, where: Filter) -> Seen:
    documents = whole.record_table("documents")
    rows = {row["id"]: {"page_count": 0, **row} for row in documents.rows(DESCRIBED)}
    several = documents.get(id_ for id_, row in rows.items() if len(to_places(row["places"])) > 1)
    given = {file: json.loads(row["given"] or "{}") for file, row in (whole.files() if several else {}).items()}
    fields = fields_of(where)
    own = fields.difference(COLUMNS)
    described: dict[str, dict[str, Any]] = {}
    found: dict[str, tuple[str, SourceRef]] = {}
    unknown: set[SourceRef] = set()
    for id_, row in rows.items():
        for number, place in enumerate(to_places(row["places"])):
            stated = row
            if id_ in several:
                stated = with_places(several[id_], [place])
            if number:  # of another place no more is kept than what was given with its file
                stated["metadata"] = stable_json(given.get(place.file, {}))
                if not own <= given.get(place.file, {}).keys():
                    unknown.add(place)
                    continue
            at = f"{id_} {number}"
            record = to_record(stated)
            columns = {name: getattr(record, name) for name in ("source", "title", "kind", "added", "date")}
            # a field that no document has is empty in each
            described[at] = {**dict.fromkeys(fields), **record.metadata, **columns, "document_id": at}
            found[at] = id_, place
    restricted = resolve(where, lambda: described)
    holding = [found[at] for at, row in described.items() if holds(restricted, row)]
    seen: dict[str, tuple[SourceRef, ...]] = {}
    for id_, place in holding:
        seen[id_] = (*seen.get(id_, ()), place)
    renamed = {}
    for id_ in several.keys() & seen:
        row = with_places(several[id_], seen[id_])
        if seen[id_][0] != to_places(several[id_]["places"])[0]:
            row["metadata"] = stable_json(given.get(seen[id_][0].file, {}))
        renamed[id_] = {name: row[name] for name in ("source", "title", "places", "metadata")}
    places = {place for _, place in holding}
    hidden = unknown | ({place for _, place in found.values()} - places)
    files = {place.file for place in places} - {place.file for place in hidden}
    sources = {place.source for place in hidden} - {place.source for place in places}
    within = In("document_id", tuple(sorted(seen)))
    return Seen(seen, renamed, frozenset(files), frozenset(rows.keys() - seen), frozenset(sources), within)


def _nothing_changed(_: str) -> Mapping[str, Any]:
    return {}


def _refused(*_: object, **__: object) -> Never:
    step = "use one without a filter"
    raise UsageError("may be read only", subject="a collection that is opened with a filter", next_step=step)


@dataclass(frozen=True, slots=True)
class SeenRecords:
    """A table of records of which only some are there; without `key` all of them."""

    whole: Records
    key: str = ""
    there: Callable[[], Iterable[str]] = tuple
    changed: Callable[[str], Mapping[str, Any]] = _nothing_changed

    @property
    def version(self) -> int:
        """As of the whole table."""
        return self.whole.version

    @property
    def versions(self) -> int:
        """As of the whole table."""
        return self.whole.versions

    def rows(self, columns: Sequence[str]) -> list[dict[str, Any]]:
        """Those that are there, the given columns only."""
        if not self.key:
            return self.whole.rows(columns)
        there = set(self.there())
        rows = [row for row in self.whole.rows(list({*columns, self.key})) if row[self.key] in there]
        rows = [{**row, **self.changed(row[self.key])} for row in rows]
        return [{name: row[name] for name in columns} for row in rows]

    def get(self, keys: Iterable[str]) -> dict[str, dict[str, Any]]:
        """Those of the keys that are there."""
        there = set(self.there()) if self.key else set()
        wanted = [key for key in keys if not self.key or key in there]
        return {key: {**row, **self.changed(key)} for key, row in self.whole.get(wanted).items()}

    merge = append = maintain = _refused


@dataclass(slots=True)
class SeenChunks:
    """A chunk table of which only the chunks of documents that are seen are there."""

    whole: ChunkTable
    view: DocumentView
    _counted: tuple[tuple[int, int], int] = ((-1, -1), 0)
    """Versions of the documents and of the table, and how many chunks are seen."""

    @property
    def version(self) -> int:
        """As of the whole table."""
        return self.whole.version

    @property
    def versions(self) -> int:
        """As of the whole table."""
        return self.whole.versions

    def _within(self, where: Filter | None) -> Filter | None:
        seen = self.view.seen
        return narrowed(where, seen.within) if seen.hidden else where

    def _named(self, chunk: Chunk) -> Chunk:
        changed = self.view.seen.renamed.get(chunk.document_id)
        return chunk if changed is None else replace(chunk, source=changed["source"], title=changed["title"])

    def nearest(self, vector: Vectors, *, limit: int, where: Filter | None = None) -> list[tuple[Chunk, float]]:
        """Chunks and their cosine, best first."""
        found = self.whole.nearest(vector, limit=limit, where=self._within(where))
        return [(self._named(chunk), score) for chunk, score in found]

    def matching(self, query: str, *, limit: int, where: Filter | None = None) -> list[tuple[Chunk, float]]:
        """Chunks and their BM25, best first."""
        found = self.whole.matching(query, limit=limit, where=self._within(where))
        return [(self._named(chunk), score) for chunk, score in found]

    def document_frequencies(self, query: str) -> dict[str, int]:
        """The share that each term has of the whole table, as a number of the chunks that are seen."""
        share = self.count() / max(self.whole.count(), 1)
        return {term: round(number * share) for term, number in self.whole.document_frequencies(query).items()}

    def average_terms(self) -> float:
        """As of the whole table."""
        return self.whole.average_terms()

    def vectors(self, ids: Sequence[str]) -> Vectors:
        """Of chunks that were found."""
        return self.whole.vectors(ids)

    def chunks(self, document_ids: Iterable[str] | None = None) -> Iterator[list[tuple[Chunk, Vectors]]]:
        """The chunks of some or all documents with their vectors, in batches."""
        seen = self.view.seen.documents
        wanted = list(seen) if document_ids is None else [one for one in document_ids if one in seen]
        for batch in self.whole.chunks(wanted):
            yield [(self._named(chunk), vector) for chunk, vector in batch]

    def count(self) -> int:
        """Number of chunks that are seen."""
        versions = (self.view.version, self.whole.version)
        if self._counted[0] != versions:
            self._counted = versions, sum(self.document_ids().values())
        return self._counted[1]

    def document_ids(self) -> dict[str, int]:
        """Number of chunks of each document that has any."""
        seen = self.view.seen.documents
        return {id_: number for id_, number in self.whole.document_ids().items() if id_ in seen}

    def chunk_counts(self, document_ids: Iterable[str]) -> dict[str, int]:
        """The same of some documents."""
        return self.whole.chunk_counts(set(document_ids) & self.view.seen.documents.keys())

    append = delete = rename = maintain = _refused

    def stale(self) -> list[str]:
        """Nothing: the whole table is kept up."""
        return []
