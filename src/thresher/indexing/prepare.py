"""Documents on their way to the committer: read, cut and encoded. No store; what goes in and comes out is picklable.

Workers turn a `Part` of a file into a `Prepared`; their rows equal those of a single process, since a vector depends on
its text alone.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from thresher.errors import DocumentError
from thresher.indexing.catalog import Catalog, Entry
from thresher.indexing.index_config import IndexConfig, labelled, with_means
from thresher.protocols import Progress
from thresher.types import Chunk, Document

if TYPE_CHECKING:
    from thresher.types import Vectors

    Encoded = Mapping[str, Sequence[tuple[Chunk, Vectors]]]
    """Chunks with their vectors, by the document that they were cut from, or by the fingerprint of the config."""


Read = Callable[[], Iterator[Document | DocumentError]]
"""Reads one file: its documents, and as values rows that failed; a file that cannot be read raises DocumentError."""


@dataclass(frozen=True, slots=True)
class Part:
    """A unit of work for a worker: a file to be read, or rows of a file that was read already."""

    read: Read | None = None
    documents: Sequence[Document] = ()
    held: Sequence[Entry] = ()
    """What the collection holds of the file: documents that are still the same are not encoded again."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """Documents of one file in their order, rows that failed among them, and the chunks of those that are new."""

    found: Sequence[Document | DocumentError] = ()
    encoded: Mapping[str, Encoded] = field(default_factory=dict)
    """By document."""
    failed: DocumentError | None = None
    """What ended the reading before the end of the file."""

    @property
    def chunks(self) -> int:
        """Chunks that were encoded, of all configs."""
        return sum(len(chunks) for encoded in self.encoded.values() for chunks in encoded.values())


@dataclass(frozen=True, slots=True)
class Incoming:
    """A file or URL to take in; `documents` reads it, yields its documents and, as values, rows that failed."""

    source: str
    sha256: str
    root: str
    documents: Callable[[], Iterator[Document | DocumentError | Prepared]]
    given: str = ""
    """What the caller added to its metadata, as JSON: a change of it is a change of the file."""
    extraction: int | None = None
    """Which version of the extraction reads it."""
    elsewhere: Callable[[], Read] | None = None
    """Gives what reads it in another process; None for what is read here alone: rows, and kinds of a program's own."""


def prepare(part: Part, configs: Sequence[IndexConfig]) -> Prepared:
    """Read a part and encode what the collection does not hold, by config; `part.documents` are not sent back."""
    found: list[Document | DocumentError] = []
    failed = None
    if part.read is not None:
        try:
            for one in part.read():
                found.append(one)
        except DocumentError as error:
            failed = error
    known = Catalog(part.held)
    fresh: dict[str, Document] = {}
    for document in (*part.documents, *found):
        if isinstance(document, Document) and not known.holds(document):
            fresh.setdefault(document.id, document)
    vectors: defaultdict[str, dict[str, Vectors]] = defaultdict(dict)  # by encoder: what configs share is encoded once
    encoded: dict[str, dict[str, Sequence[tuple[Chunk, Vectors]]]] = {id_: {} for id_ in fresh}
    for config in configs:
        for id_, chunks in encode(config, fresh.values(), vectors[config.encoder.name]).items():
            encoded[id_][config.fingerprint] = chunks
    return Prepared(found, encoded, failed)


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
