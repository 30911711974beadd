"""A collection on disk: documents once, and a chunk table for each way of cutting and encoding them.

The `documents` table is the truth; chunk tables are derived from it and may lag behind. Every change is ordered so that
a process killed between two transactions leaves a sound state:

    add:     documents (one merge) -> chunks (one append per table) -> files
    replace: old chunks -> documents (old out and new in, one merge) -> new chunks -> files
    delete:  files -> chunks -> documents

A chunk therefore never outlives its document, and a document without chunks is one whose turn was cut short: `complete`
makes them from the stored text, at the next `index` or at the next question. One process commits at a time (a file
lock, held for the commit only, never while encoding); what it meant to add is checked again under the lock.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from thresher.errors import DocumentError, EncoderMismatch, StoreError, UsageError
from thresher.indexing import stores
from thresher.indexing.catalog import Catalog, Changes, Entry, Place
from thresher.indexing.index_config import IndexConfig, encodes_text, labelled
from thresher.indexing.ingest import Incoming, Report
from thresher.indexing.records import (
    DOCUMENT_COLUMNS,
    DocumentRecord,
    to_chunk_row,
    to_document,
    to_document_row,
    to_places,
    to_record,
    with_places,
)
from thresher.protocols import ChunkTable, Progress, Records, Store
from thresher.types import Chunk, Document, Metadata

if TYPE_CHECKING:
    from filelock import FileLock

    from thresher.types import Vectors

BATCH_CHUNKS = 256
"""Chunks encoded and committed together: a few seconds of work, the most that a kill can cost."""

CHUNK_CHARACTERS = 1000
"""A chunk of the default layout is about so long."""

READ_DOCUMENTS = 64
"""Stored documents read at once."""

LOCK_SECONDS = 600.0
"""A commit takes about a second, building a vector index minutes; held longer, it belongs to a process that hangs."""

_FILE_COLUMNS = {"source": "text", "sha256": "text", "root": "text", "given": "text", "documents": "whole"}
_TABLE_COLUMNS = {"name": "text", "fingerprint": "text", "level": "text", "encoder": "text", "dimension": "whole"}
_CHUNKLESS_COLUMNS = {"key": "text", "name": "text", "document": "text"}
_COUNTER_COLUMNS = {"name": "text", "value": "whole"}


@dataclass(frozen=True, slots=True)
class _Prepared:
    """Documents that were cut, and the chunks with vectors that came of it."""

    documents: set[str]
    chunks: list[tuple[Chunk, Vectors]]


class DocumentStore:
    """The documents and chunk tables of one collection; cheap to make, opened at the first use."""

    def __init__(self, folder: Path, store: Store | None = None) -> None:
        """`store` in place of the one that the collection was made with, see `stores`."""
        self.folder = folder
        self._given = store
        self._chosen = stores.DEFAULT
        self._opened: dict[str, ChunkTable] = {}
        self._in_step: dict[str, tuple[int, int]] = {}
        self._listed: tuple[int, list[dict[str, Any]]] = (-1, [])

    # --- what is there

    @cached_property
    def _store(self) -> Store:
        return self._given or stores.opened(self.folder, stores.recorded(self.folder) or self._chosen)

    @property
    def is_new(self) -> bool:
        """Whether no store was chosen yet."""
        return self._given is None and stores.recorded(self.folder) is None

    def choose(self, name: str) -> None:
        """Keep the tables of a new collection in the store of that name. UsageError where it was made with another."""
        stores.check(name)
        own = stores.recorded(self.folder)
        if own is None:
            self._chosen = name
            self.__dict__.pop("_store", None)
        elif own != name:
            raise UsageError(
                f"was made with the store {own!r}, not {name!r}",
                subject=f"collection {self.folder.name}",
                next_step="leave `store` out, or index into another collection",
            )

    @property
    def exists(self) -> bool:
        """Whether anything was ever indexed here."""
        return self._store.exists

    def records(self) -> list[DocumentRecord]:
        """All documents, in the order they were added."""
        columns = [name for name in DOCUMENT_COLUMNS if name not in ("about", "pages", "tables", "text")]
        rows = self._documents.rows(columns)
        return [to_record(row) for row in sorted(rows, key=lambda row: row["number"])]

    def document(self, document_id: str) -> Document:
        """A stored document with its text; StoreError for one that is not, or no longer, here."""
        stored = self.documents([document_id])
        if not stored:
            raise StoreError("no such document", subject=document_id, next_step="see `documents()`")
        return stored[document_id]

    def documents(self, document_ids: Sequence[str]) -> dict[str, Document]:
        """Documents in the order asked; those that another process removed or replaced meanwhile are left out."""
        rows = self._documents.get(document_ids)
        return {id_: to_document(rows[id_]) for id_ in document_ids if id_ in rows}

    def texts(self, document_ids: Iterable[str]) -> dict[str, str]:
        """The text of each document."""
        return {id_: row["text"] for id_, row in self._documents.get(document_ids).items()}

    def also(self, document_ids: Iterable[str]) -> dict[str, tuple[str, ...]]:
        """All sources of each document, the first one first."""
        rows = self._documents.get(document_ids)
        return {id_: tuple(place.source for place in to_places(row["places"])) for id_, row in rows.items()}

    def metadata(self) -> dict[str, Metadata]:
        """The documents' own metadata by id, for filters."""
        return {row["id"]: json.loads(row["metadata"]) for row in self._documents.rows(["id", "metadata"])}

    def tables(self) -> list[dict[str, Any]]:
        """Every chunk table: its name, fingerprint, level, encoder and number of chunks."""
        return [{**row, "chunks": self.open(row["name"]).count()} for row in self._known_tables()]

    def catalog(self) -> Catalog:
        """Which place holds which document, as of now."""
        rows = self._documents.rows(["id", "number", "places", "about"])
        catalog = Catalog(Entry(row["id"], row["number"], to_places(row["places"]), row["about"]) for row in rows)
        counters = {row["name"]: row["value"] for row in self._counters.rows(["name", "value"])}
        catalog.reserve(counters.get("document", 0))
        return catalog

    def all_places(self) -> list[Place]:
        """Every place of every document; one that stands twice is damage, and a catalog would hide it."""
        return [place for row in self._documents.rows(["places"]) for place in to_places(row["places"])]

    def files(self) -> dict[str, int]:
        """Every file that was read completely, with its number of documents."""
        return {row["source"]: row["documents"] for row in self._files.rows(["source", "documents"])}

    def open(self, name: str) -> ChunkTable:
        """A chunk table by its name, as it is."""
        if name not in self._opened:  # An open table shows every change, so opening it once is enough.
            self._opened[name] = self._store.open(name)
        return self._opened[name]

    # --- chunk tables

    def table(
        self, layout: IndexConfig, level: str, *, progress: Callable[[int, int], None] | None = None
    ) -> ChunkTable:
        """The chunk table of a layout, brought into step with the documents; `progress` as in `complete`."""
        self.complete(layout, progress=progress)
        return self.open(layout.table_name(level))

    def check_encoder(self, layout: IndexConfig) -> None:
        """Raise EncoderMismatch when this collection's vectors were all made by another encoder."""
        if any(row["encoder"] == layout.encoder.name for row in self._known_tables()):
            return
        encoders = {row["encoder"] for row in self.tables() if row["chunks"]}
        if encoders and layout.encoder.name not in encoders:
            raise EncoderMismatch(
                f"its vectors were made by {', '.join(sorted(encoders))}, not by {layout.encoder.name}, "
                "and vectors of two encoders cannot be compared",
                subject=f"collection {self.folder.name}",
                next_step="ask with that encoder, or call `add(PATH)` with the new one to encode the documents again",
            )

    def missing(self, layout: IndexConfig) -> list[str]:
        """Ids of documents that have no chunks in a layout's tables (which exist), in the order they were added.

        A document that was cut before and gave no chunk of a level (nothing but blanks) does not lack any.
        """
        opened = [self.open(layout.table_name(level)) for level in layout.levels]
        versions = (self._documents.version, sum(table.version for table in opened))
        if self._in_step.get(layout.fingerprint) == versions:
            return []
        done = [set(table.document_ids()) for table in opened]
        ids = [row["id"] for row in self._numbered()]
        missing = [id_ for id_ in ids if not all(id_ in have for have in done)]
        if missing:
            empty = {(row["name"], row["document"]) for row in self._chunkless.rows(["name", "document"])}
            have = list(zip(map(layout.table_name, layout.levels), done, strict=True))
            missing = [id_ for id_ in missing if not all(id_ in ids or (name, id_) in empty for name, ids in have)]
        if not missing:
            self._in_step[layout.fingerprint] = versions
        return missing

    def complete(self, layout: IndexConfig, *, progress: Callable[[int, int], None] | None = None) -> int:
        """Make the chunks a layout's tables lack from the stored text; returns how many were added.

        `progress` is called with documents done and documents in all.
        """
        self._create_tables(layout)
        missing = self.missing(layout)
        if missing:
            # Another process may be between its two transactions: what is missing once the lock is free is really so.
            with self._committing():
                missing = self.missing(layout)
        added = done = 0
        if missing and progress is not None:
            progress(0, len(missing))
        for documents in self._gathered(missing):
            known = self._known_vectors(layout.encoder.name, documents)
            added += self._commit_chunks(layout, self._prepared(layout, documents, known))
            done += len(documents)
            if progress is not None:
                progress(done, len(missing))
        if added:
            self.maintain(layout)
        return added

    def expected(self, layout: IndexConfig, document_ids: Sequence[str]) -> Iterator[tuple[str, Counter[str]]]:
        """For each document how many chunks of each level a layout cuts it into; nothing is encoded."""
        for at in range(0, len(document_ids), READ_DOCUMENTS):
            for id_, document in self.documents(document_ids[at : at + READ_DOCUMENTS]).items():
                yield id_, Counter(chunk.level for chunk in layout.chunker(document) if chunk.level in layout.levels)

    def maintain(self, layout: IndexConfig | None = None, *, drop_versions: bool = False) -> None:
        """Compact and bring the indexes of a layout's tables (default: of all tables) up to date."""
        names = {row["name"] for row in self._known_tables()}
        if layout is not None:
            names = {layout.table_name(level) for level in layout.levels}
        with self._committing():
            for name in sorted(names):
                self.open(name).maintain(drop_versions=drop_versions)
            for table in (self._documents, self._files, self._tables, self._counters, self._chunkless):
                table.maintain(drop_versions=drop_versions)

    # --- taking in

    def add(
        self,
        incoming: Iterable[Incoming | DocumentError],
        layouts: Sequence[IndexConfig],
        *,
        prune: Callable[[Place], bool] | None = None,
        progress: Progress | None = None,
        batch_chunks: int = BATCH_CHUNKS,
    ) -> Report:
        """Take in files: unchanged ones are skipped, changed ones replaced, broken ones reported.

        `prune(place)` says which places may be removed when they were not met; `progress` is called with the number
        of chunks just encoded. Whatever happens, what was committed stays.
        """
        run = _Adding(self, layouts, progress, batch_chunks)
        for item in incoming:
            if isinstance(item, DocumentError):
                run.report.failed.append(item)
            else:
                run.take(item)
        run.flush()
        if prune is not None:
            run.prune(prune)
        for layout in layouts:
            run.report.chunks += self.complete(layout)
        # Stale without a change: a run before this one was cut short after its last commit.
        if run.changed or any(self.open(row["name"]).stale() for row in self._known_tables()):
            self.maintain()
        return run.report

    def remove(self, places: Iterable[Place], *, files: Iterable[str] = ()) -> Changes:
        """Forget places, and documents that have no other; `files` will be read again when they are indexed next."""
        with self._committing():
            catalog = self.catalog()
            changes = catalog.remove(places)
            # First: a file that is recorded as read but has no documents would be skipped by the next `index`.
            self._files.merge([], remove=files)
            self._apply(changes, catalog, {})
        if changes.gone:
            self.maintain()
        return changes

    def drop_chunks(self, name: str, document_ids: Iterable[str]) -> None:
        """Remove the chunks of documents from one table; they are made again when the table is next completed."""
        with self._committing():
            self.open(name).delete(document_ids)

    @contextmanager
    def settled(self) -> Iterator[None]:
        """While inside, no other process is between two transactions, and none begins one."""
        with self._committing():
            yield

    # --- inside

    @cached_property
    def _documents(self) -> Records:
        return self._records("documents", "id", DOCUMENT_COLUMNS)

    @cached_property
    def _files(self) -> Records:
        return self._records("files", "source", _FILE_COLUMNS)

    @cached_property
    def _tables(self) -> Records:
        return self._records("tables", "name", _TABLE_COLUMNS)

    @cached_property
    def _counters(self) -> Records:
        return self._records("counters", "name", _COUNTER_COLUMNS)

    @cached_property
    def _chunkless(self) -> Records:
        return self._records("chunkless", "key", _CHUNKLESS_COLUMNS)

    def _records(self, name: str, key: str, columns: Mapping[str, str]) -> Records:
        if self._given is None:
            stores.record(self.folder, self._chosen)
        return self._store.records(name, key=key, columns=columns)

    def _known_tables(self) -> list[dict[str, Any]]:
        """What is recorded of each chunk table that is there, by name."""
        version = self._tables.version
        if self._listed[0] != version:
            present = self._store.chunk_tables()
            rows = [row for row in self._tables.rows(list(_TABLE_COLUMNS)) if row["name"] in present]
            self._listed = (version, sorted(rows, key=lambda row: str(row["name"])))
        return self._listed[1]

    def _numbered(self) -> list[dict[str, Any]]:
        return sorted(self._documents.rows(["id", "number"]), key=lambda row: int(row["number"]))

    @cached_property
    def _lock(self) -> FileLock:
        from filelock import FileLock

        # One object, so that a thread that holds it may take it again.
        return FileLock(self.folder / "commit.lock", timeout=LOCK_SECONDS)

    @contextmanager
    def _committing(self) -> Iterator[None]:
        """Only one thread of all processes is inside; the lock dies with its holder."""
        from filelock import Timeout

        self.folder.mkdir(parents=True, exist_ok=True)
        try:
            self._lock.acquire()
        except Timeout as error:
            raise StoreError(
                f"another process has held its lock for {LOCK_SECONDS:.0f} s",
                subject=f"collection {self.folder.name}",
                next_step="wait for that process or end it, then try again",
            ) from error
        try:
            yield
        finally:
            self._lock.release()

    def _create_tables(self, layout: IndexConfig) -> None:
        names = {level: layout.table_name(level) for level in layout.levels}
        if set(names.values()) <= {row["name"] for row in self._known_tables()}:
            return
        with self._committing():
            for name in names.values():
                self._store.create(name, dimension=layout.encoder.dimension)
            # Last: a table without this record is one whose making was cut short, and is made again.
            self._tables.merge(
                [
                    {
                        "name": name,
                        "fingerprint": layout.fingerprint,
                        "level": level,
                        "encoder": layout.encoder.name,
                        "dimension": layout.encoder.dimension,
                    }
                    for level, name in names.items()
                ]
            )

    def _gathered(self, document_ids: Sequence[str]) -> Iterator[list[Document]]:
        """Stored documents in batches of about `BATCH_CHUNKS` chunks, read when their turn comes."""
        batch: list[Document] = []
        for at in range(0, len(document_ids), READ_DOCUMENTS):
            for document in self.documents(document_ids[at : at + READ_DOCUMENTS]).values():
                batch.append(document)
                if sum(len(gathered.text) for gathered in batch) >= BATCH_CHUNKS * CHUNK_CHARACTERS:
                    yield batch
                    batch = []
        if batch:
            yield batch

    def _known_vectors(self, encoder: str, documents: Sequence[Document]) -> dict[str, Vectors]:
        """Texts of these documents that an encoder has already read, for whatever table, and their vectors."""
        ids = [document.id for document in documents]
        known: dict[str, Vectors] = {}
        with self._committing():  # or a purge could take away the version that is being read
            for row in self._known_tables():
                if row["encoder"] == encoder and encodes_text(row["fingerprint"], row["level"]):
                    for batch in self.open(row["name"]).chunks(ids):
                        known.update((chunk.titled, vector) for chunk, vector in batch)
        return known

    def _prepared(
        self,
        layout: IndexConfig,
        documents: Sequence[Document],
        known: dict[str, Vectors],
        progress: Progress | None = None,
    ) -> _Prepared:
        """Chunks of the stored levels with their vectors. `known` gives those of texts read before, and gets the new.

        `progress` is told of every chunk, encoded or known.
        """
        cut = [chunk for document in documents for chunk in labelled(layout.chunker(document))]
        chunks = [chunk for chunk in cut if chunk.level in layout.levels]
        texts = [layout.embedding_text(chunk) for chunk in chunks]
        unread = [text for text in dict.fromkeys(texts) if text not in known]
        if progress is not None and len(unread) < len(texts):
            progress(len(texts) - len(unread))
        known.update(zip(unread, layout.encoder.encode(unread, progress=progress), strict=True))
        vectors = [known[text] for text in texts]
        return _Prepared({document.id for document in documents}, list(zip(chunks, vectors, strict=True)))

    def _commit_chunks(self, layout: IndexConfig, prepared: _Prepared) -> int:
        """Append the chunks of documents that still exist and still lack them."""
        with self._committing():
            return self._append(layout, prepared, set(self.missing(layout)))

    def _append(self, layout: IndexConfig, prepared: _Prepared, wanted: set[str]) -> int:
        """Append the chunks of the wanted documents; call under the lock."""
        needed = prepared.documents & wanted
        rows = self._documents.get(needed)
        added = 0
        empty = []
        for level in layout.levels:
            name = layout.table_name(level)
            done = set(self.open(name).document_ids()) if len(layout.levels) > 1 else set()
            fresh = [
                to_chunk_row(chunk, vector, rows[chunk.document_id])
                for chunk, vector in prepared.chunks
                if chunk.level == level and chunk.document_id in needed - done
            ]
            self.open(name).append(fresh)
            added += len(fresh)
            without = sorted(needed - done - {row.chunk.document_id for row in fresh})
            empty += [{"key": f"{name}/{id_}", "name": name, "document": id_} for id_ in without]
        if empty:
            self._chunkless.merge(empty)
        return added

    def _apply(self, changes: Changes, catalog: Catalog, added: dict[str, str]) -> None:
        """Write what a catalog changed; call under the lock. `added` gives each new document's time of adding."""
        if changes.empty:
            return
        opened = [self.open(row["name"]) for row in self._known_tables()]
        stored = self._documents.get(changes.kept)
        kept = [with_places(stored[id_], entry.places) for id_, entry in sorted(changes.kept.items())]
        new = [to_document_row(document, entry, added[document.id]) for document, entry in changes.new]
        for table in opened:
            table.delete(changes.gone | changes.restated)
            for row in kept:
                if row["id"] in changes.renamed:
                    table.rename(row["id"], source=row["source"], title=row["title"])
        if new:
            self._counters.merge([{"name": "document", "value": catalog.highest}])
        if kept or changes.gone or changes.restated:
            self._documents.merge([*kept, *new], remove=changes.gone)
        else:
            self._documents.append(new)


class _Adding:
    """One `add`: gathers documents into batches and commits each of them."""

    def __init__(
        self, store: DocumentStore, layouts: Sequence[IndexConfig], progress: Progress | None, batch_chunks: int
    ) -> None:
        self.report = Report()
        self.changed = False
        self._store = store
        self._layouts = layouts
        self._progress = progress
        self._batch_characters = batch_chunks * CHUNK_CHARACTERS
        self._seen = store._documents.version
        self._catalog = store.catalog()
        self._files = {row["source"]: row for row in store._files.rows(list(_FILE_COLUMNS))}
        self._pending: list[Document] = []
        self._read: list[dict[str, Any]] = []
        self._characters = 0
        self._met: set[str] = set()
        for layout in layouts:
            store._create_tables(layout)

    def take(self, item: Incoming) -> None:
        """Take in one file; skip it when it is known and unchanged."""
        self._met.add(item.source)
        known = self._files.get(item.source)
        if known is not None and (known["sha256"], known["given"]) == (item.sha256, item.given):
            self.report.unchanged += known["documents"]
            return
        rows: set[Place] = set()
        failures = len(self.report.failed)
        try:
            for document in item.documents():
                if isinstance(document, DocumentError):
                    self.report.failed.append(document)
                    continue
                place = Place(document.source, document.container)
                if place in rows:
                    self.report.failed.append(_repeated(place))
                    continue
                rows.add(place)
                self._gather(document)
        except DocumentError as error:
            self.report.failed.append(error)
            return
        if len(self.report.failed) > failures:
            return  # Not recorded as read: it is tried again, and reported again, next time.
        gone = [place for place in self._catalog.places_in(item.source) if place not in rows]
        if gone:
            # Before the file is recorded as read: a kill in between would keep the vanished rows for good.
            self.flush()
            self.report.count(self._store.remove(gone))
            self.changed = True
        self._read.append(
            {
                "source": item.source,
                "sha256": item.sha256,
                "root": item.root,
                "given": item.given,
                "documents": len(rows),
            }
        )

    def flush(self) -> None:
        """Encode and commit what is pending."""
        if not (self._pending or self._read):
            return
        documents, self._pending, self._characters = self._pending, [], 0
        added = {document.id: _now() for document in documents}
        fresh: dict[str, Document] = {}
        for document in documents:
            if not self._catalog.holds(document):
                fresh.setdefault(document.id, document)  # of copies, the first one's title is the document's
        known: defaultdict[str, dict[str, Vectors]] = defaultdict(dict)  # by encoder
        prepared = [
            self._store._prepared(layout, list(fresh.values()), known[layout.encoder.name], self._progress)
            for layout in self._layouts
        ]
        with self._store._committing():
            self._refresh()
            changes = self._catalog.put(documents)
            self._store._apply(changes, self._catalog, added)
            self._seen = self._store._documents.version
            new = {document.id for document, _ in changes.new}
            for layout, chunks in zip(self._layouts, prepared, strict=True):
                self.report.chunks += self._store._append(layout, chunks, new)
            if self._read:
                self._store._files.merge(self._read)
                self._read = []
        self.report.count(changes)
        self.changed = self.changed or not changes.empty

    def prune(self, may_go: Callable[[Place], bool]) -> None:
        """Remove the places that were not met and may go."""
        self._refresh()
        gone = [place for place in self._catalog.places() if place.file not in self._met and may_go(place)]
        if gone:
            self.report.count(self._store.remove(gone, files={place.file for place in gone}))
            self.changed = True

    def _refresh(self) -> None:
        """Read the catalog again if another process, or a removal, changed it."""
        version = self._store._documents.version
        if version != self._seen:
            self._seen = version
            self._catalog = self._store.catalog()

    def _gather(self, document: Document) -> None:
        self._pending.append(document)
        self._characters += len(document.text)
        if self._characters >= self._batch_characters:
            self.flush()


def _repeated(place: Place) -> DocumentError:
    return DocumentError(
        "this id stands twice in the corpus; the first row was kept",
        subject=f"{place.container}#{place.source}",
        next_step="give each row an id of its own",
    )


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
