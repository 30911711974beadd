"""Documents, files and collections made by hand."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from math import inf
from pathlib import Path
from typing import Any

from thresher.chunking.fixed import RecursiveChunker
from thresher.chunking.hierarchical import HierarchicalChunker
from thresher.errors import DocumentError
from thresher.indexing.index_config import IndexConfig
from thresher.indexing.ingest import Ingest, Report
from thresher.indexing.prepare import Incoming
from thresher.indexing.store import DocumentStore
from thresher.protocols import Store
from thresher.testing.fakes import HashEncoder
from thresher.types import Chunk, ChunkRow, Document

ENCODER = HashEncoder(32)
SMALL = IndexConfig(RecursiveChunker(120, 20), ENCODER)
LARGE = IndexConfig(RecursiveChunker(600, 0), ENCODER)
TREE = IndexConfig(HierarchicalChunker(size=300, overlap=0, subchunk_size=100), ENCODER, levels=("chunk", "subchunk"))


class ReadingEncoder:
    """The hash encoder, remembering the texts it read."""

    def __init__(self, name: str = ENCODER.name) -> None:
        self.texts: list[str] = []
        self.name, self.dimension, self.max_tokens = name, ENCODER.dimension, ENCODER.max_tokens

    def encode(self, texts: Any, *, progress: Any = None) -> Any:
        self.texts += texts
        return ENCODER.encode(texts, progress=progress)

    def encode_query(self, text: str) -> Any:
        return ENCODER.encode_query(text)

    def warm_up(self) -> None: ...


def sha(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def document(source: str, text: str, *, container: str = "", **more: Any) -> Document:
    return Document(
        sha(text)[:32], source, more.pop("title", ""), text, more.pop("kind", "text"), container=container, **more
    )


@dataclass
class Files:
    """A folder that exists in memory only: what it yields for an index run, and how often each file was parsed."""

    texts: dict[str, str] = field(default_factory=dict)
    corpora: dict[str, dict[str, str]] = field(default_factory=dict)
    """Files of several rows, by row id."""
    titles: dict[str, str] = field(default_factory=dict)
    metadata: dict[str, Any] = field(default_factory=dict)
    parsed: list[str] = field(default_factory=list)
    extraction: int = 1

    def incoming(self) -> Iterator[Incoming | DocumentError]:
        given = json.dumps(self.metadata)
        for source, text in self.texts.items():
            state = sha(text + self.titles.get(source, ""))
            yield Incoming(source, state, "", lambda source=source: self._one(source), given, self.extraction)  # type: ignore[misc]
        for source, rows in self.corpora.items():
            state = sha(json.dumps(rows))
            yield Incoming(source, state, "", lambda source=source: self._rows(source), given, self.extraction)  # type: ignore[misc]

    def _one(self, source: str) -> Iterator[Document | DocumentError]:
        self.parsed.append(source)
        yield document(source, self.texts[source], title=self.titles.get(source, ""), metadata=self.metadata)

    def _rows(self, source: str) -> Iterator[Document | DocumentError]:
        self.parsed.append(source)
        for row, text in self.corpora[source].items():
            yield document(row, text, container=source, kind="passage", metadata=self.metadata)


def prose(topic: str, sentences: int = 6) -> str:
    """A text of some hundred characters in which the topic stands in every sentence."""
    return " ".join(f"Sentence {n} of this text tells something about {topic}." for n in range(sentences))


def row(id: str, text: str, *, document_id: str = "d", encoder: HashEncoder = ENCODER, **more: Any) -> ChunkRow:
    """A chunk as it is stored."""
    kind, added, date = more.pop("kind", "text"), more.pop("added", "2024-01-01"), more.pop("date", None)
    source, title = more.pop("source", f"{document_id}.txt"), more.pop("title", "")
    chunk = Chunk(id, document_id, source, title, 0, len(text), text, **more)
    return ChunkRow(chunk, kind, added, date, encoder.encode_query(text))


def ingest(
    store: DocumentStore,
    incoming: Iterable[Incoming | DocumentError],
    *configs: IndexConfig,
    prune: Callable[[str], bool] | None = None,
    vanished: Callable[[str], bool] | None = None,
    reread: bool | None = False,
    **options: Any,
) -> Report:
    """One `index`, prepared for `SMALL` unless something else is given."""
    return Ingest(store, configs or (SMALL,), **options).run(
        incoming, vanished=prune or vanished, prune=prune is not None, reread=reread
    )


def counts(report: Report) -> tuple[int, int, int, int, int]:
    return report.added, report.updated, report.unchanged, report.duplicates, report.removed


def sources(store: DocumentStore) -> list[str]:
    return [record.source for record in store.records()]


def reopened(store: DocumentStore) -> DocumentStore:
    """The same collection as another process sees it."""
    return DocumentStore(store.folder, store._given, lock_seconds=0.05)


class Killed(BaseException):
    """Stands for a kill: nothing catches it, and what comes after it does not run."""


class MortalStore:
    """A store in whose tables a process is killed: instead of a certain change, or after so many changes."""

    def __init__(self, store: Store, *, instead_of: tuple[str, str] = ("", ""), steps: float = inf) -> None:
        """`instead_of` is how the name of a table begins, and the change."""
        self._store = store
        self.instead_of = instead_of
        self.steps = steps
        self.used: list[tuple[str, str]] = []
        """Tables and what was asked of them."""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def records(self, name: str, **options: Any) -> Any:
        return MortalTable(name, self._store.records(name, **options), self)

    def open(self, name: str) -> Any:
        return MortalTable(name, self._store.open(name), self)


class MortalTable:
    """A table of such a store."""

    def __init__(self, name: str, table: Any, store: MortalStore) -> None:
        self._name, self._table, self._store = name, table, store

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._table, name)
        self._store.used.append((self._name, name))
        if name in ("append", "delete", "rename", "maintain", "merge"):
            table, change = self._store.instead_of
            self._store.steps -= 1
            if self._store.steps < 0 or (change == name and self._name.startswith(table)):
                raise Killed
        return value


def chunks_of(store: DocumentStore, config: IndexConfig = SMALL, level: str = "chunk") -> list[Chunk]:
    """Every chunk of a table as it is, nothing completed, in order of document and place."""
    table = store.open(config.table_name(level))
    found = [chunk for batch in table.chunks() for chunk, _ in batch]
    return sorted(found, key=lambda chunk: (chunk.document_id, chunk.start, chunk.end))


def assert_sound(store: DocumentStore, configs: Sequence[IndexConfig] = (SMALL,)) -> None:
    """Each document once, whole, and under the source its record says; no chunk without its document."""
    records = {record.id: record for record in store.records()}
    assert len(records) == len(store.records())
    for config in configs:
        for level in config.levels:
            by_document: dict[str, list[str]] = {}
            for chunk in chunks_of(store, config, level):
                record = records[chunk.document_id]
                assert (chunk.source, chunk.title) == (record.source, record.title)
                assert chunk.label.startswith(f"Doc{record.number}-Chunk")
                by_document.setdefault(chunk.document_id, []).append(chunk.id)
            for id_, record in records.items():
                expected = [c.id for c in config.chunker(store.document(id_)) if c.level == level]
                assert sorted(by_document.get(id_, [])) == sorted(expected), record.source


def bytes_holding(folder: Path, needle: bytes) -> list[Path]:
    """Files below a folder that hold some bytes."""
    return [file for file in sorted(folder.rglob("*")) if file.is_file() and needle in file.read_bytes()]
