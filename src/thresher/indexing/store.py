"""A collection on disk: documents once, and a chunk table for each way of cutting and encoding them.

The `documents` table is the truth; chunk tables are derived from it and may lag behind. Every change is ordered so that
a process killed between two transactions leaves a sound state:

    add:     documents (one merge) -> chunks (one append per table) -> file record
    replace: file record (out) -> old chunks -> documents (old out and new in, one merge) -> new chunks -> file record
    delete:  file record -> chunks -> documents

A file record says that a file with these bytes was read, and lets the next `index` pass it by. It is gone while the
documents of its file change: a change that was cut short and then taken back would else be passed by as unchanged.

A chunk therefore never outlives its document, and a document without chunks is one whose turn was cut short: `complete`
makes them from the stored text, at the next `index` or at the next question. One process commits at a time (a lock,
held for the commit only, never while encoding); what it meant to add is checked again under the lock. One process at a
time keeps the tables up, under a lock of its own: questions and commits go on while indexes are built.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cached_property
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from thresher.errors import EncoderMismatch, StoreError, UsageError
from thresher.home import places
from thresher.home.places import Home, make_folder
from thresher.indexing.catalog import (
    RECORD_TABLES,
    Catalog,
    Changes,
    DocumentRecord,
    Entry,
    SourceRef,
    to_chunk_row,
    to_document,
    to_document_row,
    to_places,
    to_record,
    with_places,
)
from thresher.indexing.index_config import IndexConfig, encode, encodes_text, reads_titles
from thresher.protocols import MOST_VERSIONS, ChunkTable, Files, Records, Store
from thresher.stores import registry
from thresher.types import Document, Metadata

if TYPE_CHECKING:
    from thresher.indexing.index_config import Encoded
    from thresher.types import Vectors

BATCH_CHUNKS = 256
"""Chunks encoded and committed together: a few seconds of work, the most that a kill can cost."""

CHUNK_CHARACTERS = 1000
"""A chunk of the default recipe is about so long."""

READ_DOCUMENTS = 64
"""Stored documents read at once."""

KEPT_CHARACTERS = 20_000_000
"""Of documents that stay in memory between questions."""

LOCK_SECONDS = 600.0
"""A commit takes about a second, a first upkeep of a million chunks minutes; what holds a lock longer hangs."""


class DocumentStore:
    """The documents and chunk tables of one collection; cheap to make, opened at the first use."""

    def __init__(self, folder: Home, store: Store | None = None, *, lock_seconds: float = LOCK_SECONDS) -> None:
        """`store` in place of the one that the collection was made with, see `stores`."""
        self.folder = folder
        self._given = store
        self._chosen: str | None = None
        self._made_with: str | None = None
        self._lock_seconds = lock_seconds
        self._record_tables: dict[str, Records] = {}
        self._chunk_tables: dict[str, ChunkTable] = {}
        self._known: tuple[int, list[dict[str, Any]]] = (-1, [])
        self._in_step: dict[str, tuple[int, int]] = {}
        self._kept_documents: tuple[int, dict[str, Document]] = (-1, {})
        self._locks: dict[str, Any] = {}

    # --- the store behind it

    @cached_property
    def _store(self) -> Store:
        return self._given or registry.opened(
            self.folder, registry.recorded(self.folder) or self._chosen or registry.DEFAULT
        )

    @property
    def _recorded(self) -> str | None:
        """The store that the collection was made with, read once: the record may be far."""
        self._made_with = self._made_with or registry.recorded(self.folder)
        return self._made_with

    @property
    def small_files(self) -> Files:
        """What is kept besides the tables: where these are, if their store keeps files, else in the folder."""
        kept: Files | None = getattr(self._store, "files", None)
        return kept or places.files_at(self.folder)

    @property
    def exists(self) -> bool:
        """Whether anything was ever indexed here."""
        return self._store.exists

    @property
    def is_shared(self) -> bool:
        """Whether machines that share a database or a remote folder, but no file here, may share its tables."""
        return hasattr(self._store, "shared_lock")

    @property
    def is_new(self) -> bool:
        """Whether no store was chosen yet."""
        return self._given is None and self._recorded is None

    @property
    def is_open_to_choice(self) -> bool:
        """Whether it is new and no call has chosen a store either."""
        return self.is_new and self._chosen is None

    def choose(self, name: str) -> None:
        """Keep the tables of a new collection in the store of that name. UsageError where it was made with another."""
        registry.check(name)
        own = self._recorded
        if own is None:
            self._chosen = name
            self.__dict__.pop("_store", None)
            self._locks.clear()
        elif own != name:
            raise UsageError(
                f"was made with the store {own!r}, not {name!r}",
                subject=f"collection {self.folder.name}",
                next_step="leave `store` out, or index into another collection",
            )

    def record_table(self, name: str) -> Records:
        """One of `RECORD_TABLES`, by name."""
        if name not in self._record_tables:
            if self._given is None:
                registry.record(self.folder, self._chosen or registry.DEFAULT)
            key, *_ = columns = RECORD_TABLES[name]
            self._record_tables[name] = self._store.records(name, key=key, columns=columns)
        return self._record_tables[name]

    def open(self, name: str) -> ChunkTable:
        """A chunk table by its name, as it is."""
        if name not in self._chunk_tables:  # An open table shows every change, so opening it once is enough.
            self._chunk_tables[name] = self._store.open(name)
        return self._chunk_tables[name]

    # --- what is there

    @property
    def version(self) -> int:
        """Grows with every change of the documents, by any process."""
        return self.record_table("documents").version

    def records(self) -> list[DocumentRecord]:
        """All documents, in the order they were added."""
        columns = [name for name in RECORD_TABLES["documents"] if name not in ("about", "pages", "tables", "text")]
        return [to_record(row) for row in sorted(self._rows("documents", *columns), key=itemgetter("number"))]

    def document(self, document_id: str) -> Document:
        """A stored document with its text; StoreError for one that is not, or no longer, here."""
        stored = self.documents([document_id])
        if not stored:
            raise StoreError("no such document", subject=document_id, next_step="see `documents()`")
        return stored[document_id]

    def documents(self, document_ids: Sequence[str]) -> dict[str, Document]:
        """Documents in the order asked; those that another process removed or replaced meanwhile are left out."""
        rows = self.record_table("documents").get(document_ids)
        return {id_: to_document(rows[id_]) for id_ in document_ids if id_ in rows}

    def kept_documents(self, document_ids: Sequence[str]) -> dict[str, Document]:
        """Documents for questions, which stay in memory, with what was found in them, until a document changes."""
        version = self.version
        known = self._kept_documents[1] if self._kept_documents[0] == version else {}
        found = {id_: known[id_] for id_ in document_ids if id_ in known}
        if missing := [id_ for id_ in document_ids if id_ not in known]:
            found |= self.documents(missing)
        kept, room = dict[str, Document](), KEPT_CHARACTERS
        for id_, document in {**found, **known}.items():  # what was asked for last stays longest
            if len(document.text) <= room:
                room -= len(document.text)
                kept[id_] = document
        self._kept_documents = (version, kept)
        return found

    def texts(self, document_ids: Iterable[str]) -> dict[str, str]:
        """The text of each document."""
        return {id_: row["text"] for id_, row in self.record_table("documents").get(document_ids).items()}

    def also(self, document_ids: Iterable[str]) -> dict[str, tuple[str, ...]]:
        """All sources of each document, the first one first."""
        rows = self.record_table("documents").get(document_ids)
        return {id_: tuple(place.source for place in to_places(row["places"])) for id_, row in rows.items()}

    def metadata(self) -> dict[str, Metadata]:
        """The documents' own metadata by id, for filters."""
        return {row["id"]: json.loads(row["metadata"]) for row in self._rows("documents", "id", "metadata")}

    def tables(self) -> list[dict[str, Any]]:
        """Every chunk table: its name, fingerprint, level, encoder, number of chunks, and bytes on disk."""
        return [
            {**row, "chunks": self.open(row["name"]).count(), "bytes": self.bytes_of(row["name"])}
            for row in self.known_tables()
        ]

    def known_tables(self) -> list[dict[str, Any]]:
        """What is recorded of each chunk table that is there, by name."""
        version = self.record_table("tables").version
        if self._known[0] != version:
            present = self._store.chunk_tables()
            rows = [row for row in self._rows("tables", *RECORD_TABLES["tables"]) if row["name"] in present]
            self._chunk_tables.clear()  # one may have been discarded, and made again
            self._in_step.clear()
            self._known = (version, sorted(rows, key=itemgetter("name")))
        return self._known[1]

    def versions(self) -> dict[str, int]:
        """How many versions of each table are kept, the newest included, by the table's name."""
        kept = {name: self.record_table(name).versions for name in RECORD_TABLES}
        return kept | {row["name"]: self.open(row["name"]).versions for row in self.known_tables()}

    @property
    def bloated(self) -> bool:
        """Whether a table keeps more versions than upkeep leaves."""
        return any(number > MOST_VERSIONS for number in self.versions().values())

    def bytes_of(self, name: str) -> int:
        """What a chunk table takes on disk."""
        return self._store.bytes_of(name)

    def size(self) -> tuple[int, int]:
        """Files in the collection's folder, and their bytes."""
        return places.size(self.folder)

    def catalog(self) -> Catalog:
        """Which place holds which document, as of now."""
        rows = self._rows("documents", "id", "number", "places", "about")
        catalog = Catalog(Entry(row["id"], row["number"], to_places(row["places"]), row["about"]) for row in rows)
        counters = {row["name"]: row["value"] for row in self._rows("counters", "name", "value")}
        catalog.reserve(counters.get("document", 0))
        return catalog

    def all_places(self) -> list[SourceRef]:
        """Every place of every document; one that stands twice is damage, and a catalog would hide it."""
        return [place for row in self._rows("documents", "places") for place in to_places(row["places"])]

    def past_places(self) -> set[SourceRef] | None:
        """The places of documents in older versions that are kept; None where the store cannot show these."""
        past = getattr(self.record_table("documents"), "past", None)
        return None if past is None else {place for places in past("places") for place in to_places(places)}

    def files(self) -> dict[str, dict[str, Any]]:
        """Every file that was read completely: its hash, what was added to its metadata, what it holds."""
        return {row["source"]: row for row in self._rows("read_files", *RECORD_TABLES["read_files"])}

    def extractions(self) -> Counter[int | None]:
        """Documents by the version of the extraction that read them (None: unrecorded), of completely read files."""
        read = {row["source"]: row["extraction"] for row in self._rows("read_files", "source", "extraction")}
        first = [to_places(row["places"])[0].file for row in self._rows("documents", "places")]
        return Counter(read[file] for file in first if file in read)

    def _rows(self, name: str, *columns: str) -> list[dict[str, Any]]:
        return self.record_table(name).rows(columns)

    # --- chunk tables

    def table(
        self, config: IndexConfig, level: str, *, progress: Callable[[int, int], None] | None = None
    ) -> ChunkTable:
        """The chunk table of one level, brought into step with the documents; `progress` as in `complete`."""
        self.complete(config, progress=progress)
        return self.open(config.table_name(level))

    def check_encoder(self, config: IndexConfig) -> None:
        """Raise EncoderMismatch when this collection's vectors were all made by another encoder."""
        if any(row["encoder"] == config.encoder.name for row in self.known_tables()):
            return
        if encoders := {row["encoder"] for row in self.tables() if row["chunks"]}:
            raise EncoderMismatch(
                f"its vectors were made by {', '.join(sorted(encoders))}, not by {config.encoder.name}, "
                "and vectors of two encoders cannot be compared",
                subject=f"collection {self.folder.name}",
                next_step="ask with that encoder, or call `add(PATH)` with the new one to encode the documents again",
            )

    def create_tables(self, config: IndexConfig) -> None:
        """Make the tables of a config that are not there."""
        if not self._unmade(config):
            return
        dimension = config.encoder.dimension
        same = {"fingerprint": config.fingerprint, "encoder": config.encoder.name, "dimension": dimension}
        with self.locked():
            unmade = self._unmade(config)  # once more: another process may have just made them, and be at their upkeep
            for name in unmade.values():
                self._store.create(name, dimension=dimension)
            # Last: a table without this record is one whose making was cut short, and is made again.
            rows = [{"name": name, "level": level, **same} for level, name in unmade.items()]
            self.record_table("tables").merge(rows)

    def _unmade(self, config: IndexConfig) -> dict[str, str]:
        """The tables of a config that were never made to the end, by level."""
        known = {row["name"] for row in self.known_tables()}
        return {level: name for level, name in config.tables.items() if name not in known}

    def missing(self, config: IndexConfig) -> list[str]:
        """Ids of documents without chunks in a config's tables (which exist), oldest first; blank ones lack none."""
        tables = {name: self.open(name) for name in config.tables.values()}
        versions = (self.version, sum(table.version for table in tables.values()))
        if self._in_step.get(config.fingerprint) == versions:
            return []
        cut = {name: set(table.document_ids()) for name, table in tables.items()}
        ids = [row["id"] for row in sorted(self._rows("documents", "id", "number"), key=itemgetter("number"))]
        missing = [id_ for id_ in ids if not all(id_ in done for done in cut.values())]
        if missing:
            for row in self._rows("chunkless", "name", "document"):
                if row["name"] in cut:
                    cut[row["name"]].add(row["document"])
            missing = [id_ for id_ in missing if not all(id_ in done for done in cut.values())]
        if not missing:
            self._in_step[config.fingerprint] = versions
        return missing

    def _lacking(self, config: IndexConfig, document_ids: set[str]) -> set[str]:
        """As `missing`, of some documents."""
        lacking: set[str] = set()
        for name in config.tables.values():
            without = document_ids - self.open(name).chunk_counts(document_ids).keys()
            known = self.record_table("chunkless").get(_without_chunks(name, id_) for id_ in without)
            lacking |= without - {row["document"] for row in known.values()}
        return lacking

    def has_index(self, config: IndexConfig) -> bool:
        """Whether a config's tables were made; documents that came since may lack their chunks there."""
        return not self._unmade(config)

    def discard(self, config: IndexConfig) -> None:
        """Remove a config's tables, which can be made again from the documents."""
        names = set(config.tables.values())
        with self.upkeep(), self.locked():
            # The record first: a table without one is made again.
            self.record_table("tables").merge([], remove=names & {row["name"] for row in self.known_tables()})
            chunkless = self.record_table("chunkless")
            gone = [row["key"] for row in chunkless.rows(["key", "name"]) if row["name"] in names]
            if gone:
                chunkless.merge([], remove=gone)
            for name in names:
                self._store.discard(name)

    def prepared(self, config: IndexConfig) -> bool:
        """Whether a config's tables are there and no document lacks its chunks; nothing is made."""
        made = {row["name"] for row in self.known_tables()}
        return set(config.tables.values()) <= made and not self.missing(config)

    def complete(self, config: IndexConfig, *, progress: Callable[[int, int], None] | None = None) -> int:
        """Make the chunks that a config's tables lack; returns how many. `progress` gets documents done and in all."""
        self.create_tables(config)
        if missing := self.missing(config):
            # Another process may be between its two transactions: what is missing once the lock is free is really so.
            with self.locked():
                missing = self.missing(config)
        added = done = 0
        if missing and progress is not None:
            progress(0, len(missing))
        for documents in self._batches(missing):
            encoded = encode(config, documents, self._known_vectors(config.encoder.name, documents))
            with self.locked():
                added += self.append(config, encoded, self._lacking(config, set(encoded)))
            done += len(documents)
            if progress is not None:
                progress(done, len(missing))
        if added:
            self.maintain(config)
        return added

    def maintain(self, config: IndexConfig | None = None, *, drop_versions: bool = False) -> None:
        """Bring the tables of a config (default: all) up to date; with `drop_versions` commits wait meanwhile."""
        names = config.tables.values() if config else [row["name"] for row in self.known_tables()]
        with self.upkeep(), self.locked() if drop_versions else nullcontext():
            for name in sorted(names):
                self.open(name).maintain(drop_versions=drop_versions)
            for name in RECORD_TABLES:
                self.record_table(name).maintain(drop_versions=drop_versions)

    # --- what is cut and encoded anew

    def _batches(self, document_ids: Sequence[str]) -> Iterator[list[Document]]:
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
        """Texts of these documents that an encoder has read for any table, and their vectors."""
        ids = [document.id for document in documents]
        known: dict[str, Vectors] = {}
        with self.locked():  # or a purge could take away the version that is being read
            for row in self.known_tables():
                if row["encoder"] == encoder and encodes_text(row["fingerprint"], row["level"]):
                    titled = reads_titles(row["fingerprint"])
                    for batch in self.open(row["name"]).chunks(ids):
                        known.update((chunk.titled if titled else chunk.text, vector) for chunk, vector in batch)
        return known

    # --- changes

    def locked(self) -> AbstractContextManager[None]:
        """While inside, no other thread of any process commits or is between two transactions of one change."""
        return self._held("commit")

    def upkeep(self) -> AbstractContextManager[None]:
        """Inside it no other process joins files or builds indexes; taken before `locked` if both are needed."""
        return self._held("upkeep")

    @contextmanager
    def _held(self, name: str) -> Iterator[None]:
        from filelock import FileLock, Timeout

        if isinstance(self.folder, Path):
            make_folder(self.folder)
        if name not in self._locks:  # one object for each lock, so that a thread that holds it may take it again
            if (shared := getattr(self._store, "shared_lock", None)) is not None:
                self._locks[name] = shared(name, self._lock_seconds)
            else:
                assert isinstance(self.folder, Path)
                self._locks[name] = FileLock(self.folder / f"{name}.lock", timeout=self._lock_seconds)
        lock = self._locks[name]
        try:
            lock.acquire()
        except Timeout as error:
            raise StoreError(
                f"another process has held its lock for {self._lock_seconds:.0f} s",
                subject=f"collection {self.folder.name}",
                next_step="wait for that process or end it, then try again",
            ) from error
        try:
            yield
        finally:
            lock.release()

    def remove(self, places: Iterable[SourceRef], *, files: Iterable[str] = ()) -> Changes:
        """Forget places, and documents that have no other; `files` will be read again when they are indexed next."""
        with self.locked():
            catalog = self.catalog()
            changes = catalog.remove(places)
            self._forget_files(files)
            self.apply(changes, catalog)
        if changes.gone:
            self.maintain()
        return changes

    def apply(self, changes: Changes, catalog: Catalog, added: str = "") -> None:
        """Write what a catalog changed; call under the lock. `added` is the time of new documents (ISO 8601)."""
        if changes.empty:
            return
        self._forget_files(changes.files)  # first: a kill from here on makes the next `index` read them again
        documents = self.record_table("documents")
        stored = documents.get(changes.kept)
        kept = [with_places(stored[id_], entry.places) for id_, entry in sorted(changes.kept.items())]
        new = [to_document_row(document, entry, added) for document, entry in changes.new.values()]
        for table in [self.open(row["name"]) for row in self.known_tables()]:
            table.delete(changes.gone | changes.restated)
            for row in kept:
                if row["id"] in changes.renamed:
                    table.rename(row["id"], source=row["source"], title=row["title"])
        if new:
            self.record_table("counters").merge([{"name": "document", "value": catalog.highest}])
        if kept or changes.gone or changes.restated:
            documents.merge([*kept, *new], remove=changes.gone)
        else:
            documents.append(new)

    def record_files(self, rows: Iterable[Mapping[str, Any]], catalog: Catalog) -> None:
        """Record files as read; call under the lock. Files whose documents another process changed are left out."""
        held = [row for row in rows if catalog.contents_of(row["source"]) == row["contents"]]
        self.record_table("read_files").merge(held)

    def _forget_files(self, files: Iterable[str]) -> None:
        table = self.record_table("read_files")
        if recorded := table.get(files):
            table.merge([], remove=recorded)

    def append(self, config: IndexConfig, encoded: Encoded, wanted: set[str]) -> int:
        """Append the chunks that wanted, stored documents lack; call under the lock. Returns how many."""
        rows = self.record_table("documents").get(encoded.keys() & wanted)
        needed = set(rows)
        added, empty = 0, list[dict[str, str]]()
        for level, name in config.tables.items():
            table = self.open(name)
            left = needed - table.chunk_counts(needed).keys() if len(config.levels) > 1 else needed
            fresh = [
                to_chunk_row(chunk, vector, rows[chunk.document_id], titled=config.titled)
                for document_id, chunks in encoded.items()
                if document_id in left
                for chunk, vector in chunks
                if chunk.level == level
            ]
            table.append(fresh)
            added += len(fresh)
            without = sorted(left - {row.chunk.document_id for row in fresh})
            empty += [{"key": _without_chunks(name, id_), "name": name, "document": id_} for id_ in without]
        if empty:
            self.record_table("chunkless").merge(empty)
        return added


def _without_chunks(table: str, document_id: str) -> str:
    """Key of the record that a document was cut and gave no chunk for a table."""
    return f"{table}/{document_id}"
