"""How documents are cut and encoded: what makes a chunk table what it is."""

from __future__ import annotations

import hashlib
import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING

from thresher.protocols import CHUNK_TABLE_PREFIX, Chunker, Encoder, Progress, Summarizer
from thresher.text import terms as analyzer
from thresher.types import Chunk, Document, Table

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
        if self.summarizer is not None and not self.encodes_itself(chunk):
            chunk = replace(chunk, text=self.summarizer(chunk.text))
        return chunk.titled if self.titled else chunk.text

    def encodes_itself(self, chunk: Chunk) -> bool:
        """Whether no summary stands for a chunk."""
        return self.summarizer is None or chunk.level != "chunk"


def encode(
    config: IndexConfig,
    documents: Iterable[Document],
    known: dict[str, Vectors],
    progress: Progress | None = None,
    begun: Progress | None = None,
) -> Encoded:
    """By document, chunks of the stored levels with vectors.

    `known` vectors grow, `progress` counts every chunk, and `begun` is told how many there will be.
    """
    documents = list(documents)
    cut = [chunk for document in documents for chunk in labelled(config.chunker(document))]
    chunks = [chunk for chunk in cut if chunk.level in config.levels]
    if begun is not None:
        begun(len(chunks))
    read = config.to_encode(chunks)
    by_id = {document.id: document for document in documents}
    texts = [
        (config.encodes_itself(chunk) and rows_in_words(by_id[chunk.document_id], chunk, titled=config.titled))
        or (text,)
        for chunk, text in zip(read, config.embedding_texts(read), strict=True)
    ]
    unread = [text for text in dict.fromkeys(chain.from_iterable(texts)) if text not in known]
    shared = None if progress is None else _shared(len(chunks), len(unread), progress)
    known.update(zip(unread, config.encoder.encode(unread, progress=shared), strict=True))
    vectors = {chunk.id: mean([known[text] for text in of]) for chunk, of in zip(read, texts, strict=True)}
    made: dict[str, list[tuple[Chunk, Vectors]]] = {document.id: [] for document in documents}
    for chunk, vector in with_means(chunks, vectors):
        made[chunk.document_id].append((chunk, vector))
    return made


LONG_TABLE = 1000
"""Rows above which those of a table are encoded by their words: what repeats is read once, figures not at all."""


def rows_in_words(document: Document, chunk: Chunk, *, titled: bool) -> tuple[str, ...]:
    """Of a chunk of a long table the words of each row, without cells' bars and what holds a digit; else nothing."""
    if chunk.kind != "table":
        return ()
    rows = [row for one in document.tables_over(chunk.start, chunk.end) for row in _long(one, chunk)]
    words = (" ".join(word for word in document.text[slice(*row)].split() if not _FIGURE.search(word)) for row in rows)
    return tuple(replace(chunk, text=one).titled if titled else one for one in dict.fromkeys(words) if one)


_FIGURE = re.compile(r"\d|^\W+$")


def _long(table: Table, chunk: Chunk) -> Sequence[tuple[int, int]]:
    if len(table.rows) <= LONG_TABLE:
        return ()
    return table.rows[bisect_left(table.rows, (chunk.start,)) : bisect_left(table.rows, (chunk.end,))]


def _shared(chunks: int, texts: int, progress: Progress) -> Progress:
    """A progress in texts as one in chunks, which end together."""
    if chunks and not texts:
        progress(chunks)
    read = done = 0

    def count(more: int) -> None:
        nonlocal read, done
        read += more
        before, done = done, chunks * read // max(1, texts)
        progress(done - before)

    return count


def mean(vectors: Sequence[Vectors]) -> Vectors:
    """Their mean, brought to unit length; of one itself."""
    import numpy as np

    if len(vectors) == 1:
        return vectors[0]
    total: Vectors = np.sum(vectors, axis=0)
    return total / np.float32(np.linalg.norm(total))


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
