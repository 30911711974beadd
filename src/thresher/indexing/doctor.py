"""Checks a collection on disk and mends it.

Damaged chunks are dropped with all of their document, and made again from the stored text. A document whose text does
not match its id, a hash, is removed if its file is there for the next `index`. Other documents are never touched.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from thresher.indexing.catalog import DocumentRecord
from thresher.indexing.index_config import IndexConfig
from thresher.indexing.store import READ_DOCUMENTS, DocumentStore
from thresher.protocols import MOST_VERSIONS, ChunkTable
from thresher.types import Public

UNIT_TOLERANCE = 1e-3  # float32 of 384 dimensions is exact to about 1e-6; what is a thousand times worse is damage


@dataclass(frozen=True, slots=True)
class Finding(Public):
    """A defect, and whether it was mended."""

    where: str
    what: str
    mended: bool


def examine(store: DocumentStore, configs: Sequence[IndexConfig], *, repair: bool) -> list[Finding]:
    """Check documents, chunks and indexes under the lock; with `repair`, mend them. `configs` can be rebuilt here."""
    with store.upkeep(), store.locked():
        records = store.records()
        findings = [
            *_documents(store, records),
            *_texts(store, records, repair),
            *_files(store, repair),
            *_tables(store, records, configs, repair),
            *_versions(store, repair),
        ]
        # What a killed `index` leaves, and the next question mends.
        for config in (config for config in configs if _present(store, config)):
            if missing := store.missing(config):
                what = f"{len(missing)} documents have no chunks yet"
                findings.append(Finding(config.fingerprint, what, mended=repair))
    if repair:  # Encoding takes long; others may commit meanwhile.
        for config in configs:
            if _present(store, config):
                store.complete(config)
    return findings


def _documents(store: DocumentStore, records: Sequence[DocumentRecord]) -> Iterator[Finding]:
    for id_, times in Counter(record.id for record in records).items():
        if times > 1:
            yield Finding("documents", f"document {id_} is stored {times} times", mended=False)
    for number, times in Counter(record.number for record in records).items():
        if times > 1:
            yield Finding("documents", f"the number {number} was given to {times} documents", mended=False)
    for place, times in Counter(store.all_places()).items():
        if times > 1:
            yield Finding("documents", f"{place.source} points at {times} documents", mended=False)


def _texts(store: DocumentStore, records: Sequence[DocumentRecord], repair: bool) -> Iterator[Finding]:
    """The id of a document is the beginning of the hash of its text."""
    ids = [record.id for record in records]
    wrong = [
        id_
        for at in range(0, len(ids), READ_DOCUMENTS)
        for id_, text in store.texts(ids[at : at + READ_DOCUMENTS]).items()
        if not sha256(text.encode()).hexdigest().startswith(id_)
    ]
    if not wrong:
        return
    catalog = store.catalog()
    bad = {id_: catalog.entry(id_).places for id_ in wrong}
    for can_be_read, cure in ((True, "the next index reads them again"), (False, "their files are not there")):
        found = [id_ for id_, places in bad.items() if all(Path(one.file).is_file() for one in places) is can_be_read]
        if found:
            mended = repair and can_be_read
            if mended:
                store.remove([place for id_ in found for place in bad[id_]])
            what = f"the text of {len(found)} documents is not the one that was read; {cure}"
            yield Finding("documents", what, mended=mended)


def _files(store: DocumentStore, repair: bool) -> Iterator[Finding]:
    """A file that is recorded as read must have its documents; forgetting the record makes it be read again."""
    known = Counter(place.file for place in store.all_places())
    catalog, recorded = store.catalog(), store.files()
    lost = {source for source, row in recorded.items() if known[source] < row["documents"]}
    other = {source for source, row in recorded.items() if catalog.contents_of(source) != row["contents"]} - lost
    other_text = "hold another text than was recorded when they were read"
    for what, files in {"are recorded as read but lack documents": lost, other_text: other}.items():
        if files:
            if repair:
                store.remove([], files=files)
            yield Finding("files", f"{len(files)} files {what}; the next index reads them again", mended=repair)


def _tables(
    store: DocumentStore, records: Sequence[DocumentRecord], configs: Sequence[IndexConfig], repair: bool
) -> Iterator[Finding]:
    known = {record.id: record for record in records}
    for row in store.tables():
        table = store.open(row["name"])
        where = f"{row['fingerprint']} ({row['level']})"
        chunks = table.document_ids()
        bad = {
            "chunks without a document": set(chunks) - set(known),
            "documents with some of their chunks only": set(_incomplete(store, configs, row["name"], chunks)),
            **_damaged(store, table, known),
        }
        for what, documents in bad.items():
            if documents:
                if repair:
                    table.delete(documents)
                yield Finding(where, f"{what}: {len(documents)} documents", mended=repair)
        stale = table.stale()
        if stale and repair:
            table.maintain()
        left = table.stale() if stale and repair else stale
        for what in stale:
            yield Finding(where, what, mended=repair and what not in left)


def _versions(store: DocumentStore, repair: bool) -> Iterator[Finding]:
    crowded = {name: number for name, number in store.versions().items() if number > MOST_VERSIONS}
    if crowded:
        if repair:
            store.maintain()
        mended = repair and not store.bloated
        yield Finding("versions", f"{sum(crowded.values())} versions of {len(crowded)} tables are kept", mended=mended)


def _incomplete(
    store: DocumentStore, configs: Sequence[IndexConfig], name: str, chunks: Mapping[str, int]
) -> Iterator[str]:
    """Documents that have chunks in a table, but not as many as the table's config cuts them into."""
    ids = sorted(chunks)
    makers = [(one, level) for one in configs for level, table in one.tables.items() if table == name]
    for config, level in makers:
        for at in range(0, len(ids), READ_DOCUMENTS):
            for id_, document in store.documents(ids[at : at + READ_DOCUMENTS]).items():
                if sum(chunk.level == level for chunk in config.chunker(document)) != chunks[id_]:
                    yield id_


def _damaged(store: DocumentStore, table: ChunkTable, known: Mapping[str, DocumentRecord]) -> dict[str, set[str]]:
    """Documents whose chunks repeat an id, are not the document's, or have vectors that are not of unit length."""
    import numpy as np

    seen: set[str] = set()
    damaged: dict[str, set[str]] = {
        "chunks that stand twice": set(),
        "chunks that are not their document's text": set(),
        "chunks under another source or title than their document's": set(),
        "vectors that are not of unit length": set(),
    }
    repeated, different, misplaced, wrong = damaged.values()
    for batch in table.chunks():
        texts = store.texts({chunk.document_id for chunk, _ in batch} & set(known))
        for chunk, vector in batch:
            if chunk.id in seen:
                repeated.add(chunk.document_id)
            seen.add(chunk.id)
            if not abs(float(np.linalg.norm(vector)) - 1.0) <= UNIT_TOLERANCE:  # written so that NaN is damage too
                wrong.add(chunk.document_id)
            if chunk.document_id in texts:
                if texts[chunk.document_id][chunk.start : chunk.end] != chunk.text:
                    different.add(chunk.document_id)
                record = known[chunk.document_id]
                if (chunk.source, chunk.title) != (record.source, record.title):
                    misplaced.add(chunk.document_id)
    return damaged


def _present(store: DocumentStore, config: IndexConfig) -> bool:
    return set(config.tables.values()) <= {row["name"] for row in store.known_tables()}
