"""A way of cutting and encoding documents: what makes a chunk table what it is."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from thresher.indexing import analyzer
from thresher.indexing.lance import CHUNK_TABLE_PREFIX
from thresher.protocols import Chunker, Encoder
from thresher.types import Chunk


@dataclass(frozen=True, slots=True)
class Layout:
    """A way of cutting and encoding: what makes a chunk table what it is."""

    chunker: Chunker
    encoder: Encoder
    levels: tuple[str, ...] = ("chunk",)
    """Levels that are stored, one table each."""

    @property
    def fingerprint(self) -> str:
        """Two layouts with the same fingerprint share their tables."""
        return f"{self.chunker.fingerprint} | {self.encoder.name} | terms {analyzer.VERSION}"

    def table_name(self, level: str) -> str:
        """Name of the chunk table of one level."""
        return CHUNK_TABLE_PREFIX + hashlib.sha256(f"{self.fingerprint} | {level}".encode()).hexdigest()[:16]


def labelled(chunks: Iterable[Chunk]) -> Iterator[Chunk]:
    """The chunks of one document with the part of their labels that lies within it: Chunk7 or Chunk7-Sub2."""
    parents: dict[str, str] = {}
    for chunk in chunks:
        if chunk.parent_id is None:
            label = parents[chunk.id] = f"Chunk{chunk.number}"
        else:
            label = f"{parents[chunk.parent_id]}-Sub{chunk.number}"
        yield replace(chunk, label=label)


def embedding_text(chunk: Chunk) -> str:
    """What the encoder reads: the title in front, unless the chunk starts with it."""
    if not chunk.title or chunk.text.startswith(chunk.title):
        return chunk.text
    return f"{chunk.title}\n{chunk.text}"
