"""How documents are cut and encoded: what makes a chunk table what it is."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from thresher.protocols import CHUNK_TABLE_PREFIX, Chunker, Encoder, Progress, Summarizer
from thresher.text import terms as analyzer
from thresher.types import Chunk, Document

if TYPE_CHECKING:
    from thresher.types import Vectors

    Encoded = Mapping[str, Sequence[tuple[Chunk, Vectors]]]
    """Chunks with their vectors, by the document that they were cut from, or by the fingerprint of the config."""

_UNTITLED = " | without titles"
"""In the fingerprint where the title is not in front of a chunk."""

_STANDS_FOR = " | chunks as "
"""In the fingerprint before the name of what is encoded in place of the chunks."""


@dataclass(frozen=True, slots=True)
class IndexConfig:
    """A way of cutting and encoding: what makes a chunk table what it is."""

    chunker: Chunker
    encoder: Encoder
    levels: tuple[str, ...] = ("chunk",)
    """Levels that are stored, one table each."""
    summarizer: Summarizer | None = None
    """What is encoded in place of the text of the level `chunk` (ECRAG: its summary); subchunks are encoded as text."""
    workers: int = 1
    """Chunks that are summarised at the same time."""
    announce: Callable[[Sequence[str]], None] | None = None
    """Called with the texts that are about to be summarised."""
    titled: bool = True
    """Whether the title of its document stands in front of a chunk for the encoder and BM25."""
    by_parts: bool = False
    """Whether a chunk with subchunks is not encoded: its vector is the mean of theirs, brought to unit length."""

    @property
    def fingerprint(self) -> str:
        """Two configs with the same fingerprint share their tables."""
        titles = "" if self.titled else _UNTITLED
        plain = f"{self.chunker.fingerprint} | {self.encoder.name} | terms {analyzer.VERSION}{titles}"
        instead = "mean of subchunks" if self.by_parts else self.summarizer and self.summarizer.name
        return f"{plain}{_STANDS_FOR}{instead}" if instead else plain

    @property
    def about(self) -> str:
        """For people: how it cuts, and what is encoded of a chunk where that is not its title and text."""
        encoded = "" if self.summarizer is None else f", encoded by {self.summarizer.name}"
        return f"{self.chunker.fingerprint}{encoded}{'' if self.titled else ', without titles'}"

    @property
    def tables(self) -> dict[str, str]:
        """Names of the chunk tables by level."""
        return {level: self.table_name(level) for level in self.levels}

    def table_name(self, level: str) -> str:
        """Name of the chunk table of one level."""
        return CHUNK_TABLE_PREFIX + hashlib.sha256(f"{self.fingerprint} | {level}".encode()).hexdigest()[:16]

    def to_encode(self, chunks: Sequence[Chunk]) -> list[Chunk]:
        """Those of some documents' chunks that the encoder reads; the others' vectors are made of these."""
        parents = {chunk.parent_id for chunk in chunks} if self.by_parts else set()
        return [chunk for chunk in chunks if chunk.id not in parents]

    def embedding_texts(self, chunks: Sequence[Chunk]) -> list[str]:
        """What the encoder reads of each chunk; an error of the summarizer is raised once those begun have ended."""
        if self.announce is not None:
            self.announce([chunk.text for chunk in chunks if chunk.level == "chunk"])
        if self.workers == 1:
            return [self.embedding_text(chunk) for chunk in chunks]
        pool = ThreadPoolExecutor(self.workers, thread_name_prefix="summaries")
        try:
            return list(pool.map(self.embedding_text, chunks))
        finally:
            pool.shutdown(cancel_futures=True)

    def embedding_text(self, chunk: Chunk) -> str:
        """What the encoder reads of a chunk here: its text, or what stands for it; with `titled` after the title."""
        if self.summarizer is not None and chunk.level == "chunk":
            chunk = replace(chunk, text=self.summarizer(chunk.text))
        return chunk.titled if self.titled else chunk.text


def encode(
    config: IndexConfig, documents: Iterable[Document], known: dict[str, Vectors], progress: Progress | None = None
) -> Encoded:
    """By document, chunks of the stored levels with vectors; `known` vectors grow, `progress` counts every chunk."""
    documents = list(documents)
    cut = [chunk for document in documents for chunk in labelled(config.chunker(document))]
    chunks = [chunk for chunk in cut if chunk.level in config.levels]
    read = config.to_encode(chunks)
    texts = config.embedding_texts(read)
    unread = [text for text in dict.fromkeys(texts) if text not in known]
    if progress is not None and len(unread) < len(chunks):
        progress(len(chunks) - len(unread))
    known.update(zip(unread, config.encoder.encode(unread, progress=progress), strict=True))
    vectors = {chunk.id: known[text] for chunk, text in zip(read, texts, strict=True)}
    made: dict[str, list[tuple[Chunk, Vectors]]] = {document.id: [] for document in documents}
    for chunk, vector in with_means(chunks, vectors):
        made[chunk.document_id].append((chunk, vector))
    return made


def with_means(chunks: Sequence[Chunk], vectors: Mapping[str, Vectors]) -> list[tuple[Chunk, Vectors]]:
    """Each chunk with its vector (by id); one that has none of its own gets its subchunks' mean, of unit length."""
    import numpy as np

    sums: dict[str, Vectors] = {}
    for chunk in chunks:
        if chunk.parent_id is not None and chunk.parent_id not in vectors:
            sums[chunk.parent_id] = sums.get(chunk.parent_id, 0.0) + vectors[chunk.id]
    means = {id_: total / np.float32(np.linalg.norm(total)) for id_, total in sums.items()}
    return [(chunk, means[chunk.id] if chunk.id in means else vectors[chunk.id]) for chunk in chunks]


def encodes_text(fingerprint: str, level: str) -> bool:
    """Whether the vectors in a level's table of a config with this fingerprint are those of the chunks themselves."""
    return level != "chunk" or _STANDS_FOR not in fingerprint


def reads_titles(fingerprint: str) -> bool:
    """Whether the vectors of a config with this fingerprint are those of `Chunk.titled`, not of the text alone."""
    return _UNTITLED not in fingerprint


def labelled(chunks: Iterable[Chunk]) -> Iterator[Chunk]:
    """The chunks of one document with the part of their labels that lies within it: Chunk7 or Chunk7-Sub2."""
    parents: dict[str, str] = {}
    for chunk in chunks:
        if chunk.parent_id is None:
            label = parents[chunk.id] = f"Chunk{chunk.number}"
        else:
            label = f"{parents[chunk.parent_id]}-Sub{chunk.number}"
        yield replace(chunk, label=label)
