"""Documents, files and stores made by hand."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from thresher.chunking.fixed import RecursiveChunker
from thresher.chunking.hierarchical import HierarchicalChunker
from thresher.errors import DocumentError
from thresher.indexing.index_config import IndexConfig
from thresher.indexing.ingest import Incoming
from thresher.indexing.store import DocumentStore
from thresher.testing.fakes import HashEncoder
from thresher.types import Chunk, ChunkRow, Document

ENCODER = HashEncoder(32)
SMALL = IndexConfig(RecursiveChunker(120, 20), ENCODER)
LARGE = IndexConfig(RecursiveChunker(600, 0), ENCODER)
TREE = IndexConfig(HierarchicalChunker(size=300, overlap=0, subchunk_size=100), ENCODER, levels=("chunk", "subchunk"))


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

    def incoming(self) -> Iterator[Incoming | DocumentError]:
        given = json.dumps(self.metadata)
        for source, text in self.texts.items():
            state = sha(text + self.titles.get(source, ""))
            yield Incoming(source, state, "", lambda source=source: self._one(source), given)  # type: ignore[misc]
        for source, rows in self.corpora.items():
            yield Incoming(source, sha(json.dumps(rows)), "", lambda source=source: self._rows(source), given)  # type: ignore[misc]

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


def chunks_of(store: DocumentStore, layout: IndexConfig = SMALL, level: str = "chunk") -> list[Chunk]:
    """Every chunk of a table as it is, nothing completed, in order of document and place."""
    table = store.open(layout.table_name(level))
    found = [chunk for batch in table.chunks() for chunk, _ in batch]
    return sorted(found, key=lambda chunk: (chunk.document_id, chunk.start, chunk.end))


def assert_sound(store: DocumentStore, layouts: Sequence[IndexConfig] = (SMALL,)) -> None:
    """Each document once, whole, and under the source its record says; no chunk without its document."""
    records = {record.id: record for record in store.records()}
    assert len(records) == len(store.records())
    for layout in layouts:
        for level in layout.levels:
            by_document: dict[str, list[str]] = {}
            for chunk in chunks_of(store, layout, level):
                record = records[chunk.document_id]
                assert (chunk.source, chunk.title) == (record.source, record.title)
                assert chunk.label.startswith(f"Doc{record.number}-Chunk")
                by_document.setdefault(chunk.document_id, []).append(chunk.id)
            for id_, record in records.items():
                expected = [c.id for c in layout.chunker(store.document(id_)) if c.level == level]
                assert sorted(by_document.get(id_, [])) == sorted(expected), record.source


def bytes_holding(folder: Path, needle: bytes) -> list[Path]:
    """Files below a folder that hold some bytes."""
    return [file for file in sorted(folder.rglob("*")) if file.is_file() and needle in file.read_bytes()]
