"""The shapes of the parts. A part is anything callable with the right shape; no base classes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, Self, TypeAlias, runtime_checkable

from thresher.types import (
    Chunk,
    ChunkRow,
    Correction,
    Decision,
    Document,
    Evidence,
    Generation,
    Hit,
    Judged,
    Judgement,
    Query,
    Reading,
    Refined,
    Scale,
    Score,
    Scores,
    SupportReading,
)

if TYPE_CHECKING:
    from thresher.types import Filter, Vectors

Progress = Callable[[int], None]
"""Called with the number of things just finished."""

Counting = Callable[[int, str], AbstractContextManager[Progress]]
"""Shows progress: how many there are, of what; gives what is called with the number just done."""

Documents = Callable[[Sequence[str]], Mapping[str, Document]]
"""The documents of some ids."""

CHUNK_TABLE_PREFIX = "chunks_"
"""What the name of every table of chunks begins with in every store."""


def in_silence(text: str) -> None:
    """Nobody is waiting for the sentences of an answer."""


# --- adding documents -------------------------------------------------------------------------------------------------


class Chunker(Protocol):
    """A document to its chunks, in document order, parents before children."""

    @property
    def fingerprint(self) -> str:
        """Name and settings in one line; two chunkers with the same fingerprint cut alike."""

    def __call__(self, document: Document) -> Sequence[Chunk]: ...


class Summarizer(Protocol):
    """A text to a shorter one that stands for it when it is encoded; the same text has the same one, never empty."""

    @property
    def name(self) -> str:
        """Stable identity; part of the fingerprint of a chunk table whose vectors are of summaries."""

    def __call__(self, text: str) -> str: ...


class Encoder(Protocol):
    """Texts to vectors of unit length."""

    @property
    def name(self) -> str:
        """Stable identity of the weights; part of a chunk table's fingerprint."""

    @property
    def dimension(self) -> int: ...

    @property
    def max_tokens(self) -> int:
        """Tokens read at once; longer texts are windowed, never cut off silently."""

    def encode(self, texts: Sequence[str], *, progress: Progress | None = None) -> Vectors:
        """(n_texts, dimension) float32, rows of unit length."""

    def encode_query(self, text: str) -> Vectors:
        """(dimension,) float32 of unit length."""

    def warm_up(self) -> None:
        """Load the weights now instead of at the first use."""


class CrossEncoder(Protocol):
    """Scores a question and a text together."""

    @property
    def name(self) -> str: ...

    def __call__(self, question: str, texts: Sequence[str]) -> Sequence[Score]: ...


class PairReader(Protocol):
    """Reads a question and a text together: whether the text answers, and where."""

    @property
    def name(self) -> str: ...

    def read(self, question: str, texts: Sequence[str], titles: Sequence[str] | None = None) -> list[Reading]:
        """One reading per text, in their order; a title is read before its text and holds no answer."""


class SupportReader(Protocol):
    """Reads a claim and a text together: whether the text supports it, denies it, or does neither."""

    @property
    def name(self) -> str: ...

    def check(self, claim: str, texts: Sequence[str], titles: Sequence[str] | None = None) -> list[SupportReading]:
        """One reading per text, in their order; a title is read before its text."""


class LanguageModel(Protocol):
    """A chat model: messages in, text out."""

    @property
    def name(self) -> str: ...

    def complete(self, system: str, user: str, *, schema: Mapping[str, Any] | None = None) -> str:
        """The reply to one exchange; with `schema` (JSON schema of an object) the reply is asked to be such JSON.

        Whether it is remains to be read: servers differ in what they keep to. Raises ProviderError, BudgetSpent.
        """


# --- the store --------------------------------------------------------------------------------------------------------


MOST_VERSIONS = 60
"""Versions of a table from which a collection is tidied up; twice as many as the store on Lance keeps of one."""


class ChunkTable(Protocol):
    """The chunks of one chunking, level and encoder: rows, vectors, BM25 and filters; every change one transaction."""

    @property
    def version(self) -> int:
        """Grows with every change, by any process."""

    @property
    def versions(self) -> int:
        """How many versions are kept, the newest included; after `maintain` at most `MOST_VERSIONS`."""

    def nearest(self, vector: Vectors, *, limit: int, where: Filter | None = None) -> list[tuple[Chunk, float]]:
        """Chunks and their cosine, best first; ties by id."""

    def matching(self, query: str, *, limit: int, where: Filter | None = None) -> list[tuple[Chunk, float]]:
        """Chunks and their BM25 (k1 1.2, b 0.75, idf ln(1+(N-n+.5)/(n+.5))), best first; ties by id.

        The terms are those of `text.terms`; chunks that share none with the query are not returned.
        """

    def document_frequencies(self, query: str) -> dict[str, int]:
        """For each index term of the query, in how many chunks it occurs."""

    def average_terms(self) -> float:
        """Mean number of index terms of a chunk (BM25's average length)."""

    def vectors(self, ids: Sequence[str]) -> Vectors:
        """(n_ids, dimension) float32, in the order of `ids`; KeyError for an id that is not there."""

    def chunks(self, document_ids: Iterable[str] | None = None) -> Iterator[list[tuple[Chunk, Vectors]]]:
        """The chunks of some or all documents with their vectors, in batches."""

    def count(self) -> int:
        """Number of chunks."""

    def document_ids(self) -> dict[str, int]:
        """Number of chunks of each document that has any."""

    def chunk_counts(self, document_ids: Iterable[str]) -> dict[str, int]:
        """The same of some documents, looked up: it takes no longer in a large table."""

    def append(self, rows: Sequence[ChunkRow]) -> None:
        """Add chunks."""

    def delete(self, document_ids: Iterable[str]) -> None:
        """Remove all chunks of the documents."""

    def rename(self, document_id: str, *, source: str, title: str) -> None:
        """Give the chunks of a document another source and title."""

    def stale(self) -> list[str]:
        """What `maintain` would mend, in words."""

    def maintain(self, *, drop_versions: bool = False) -> None:
        """Compact, drop old versions, and bring every index up to the newest row.

        Others read, add and delete meanwhile; one process at a time maintains. With `drop_versions` nothing of a
        deleted row is left, and nobody else may change the table.
        """


class Records(Protocol):
    """A table of small records with a key; every change one transaction."""

    @property
    def version(self) -> int:
        """Grows with every change, by any process."""

    @property
    def versions(self) -> int:
        """How many versions are kept, the newest included; after `maintain` at most `MOST_VERSIONS`."""

    def rows(self, columns: Sequence[str]) -> list[dict[str, Any]]:
        """All records, the given columns only."""

    def get(self, keys: Iterable[str]) -> dict[str, dict[str, Any]]:
        """Whole records by key; missing keys are left out."""

    def merge(self, rows: Sequence[Mapping[str, Any]], *, remove: Iterable[str] = ()) -> None:
        """Insert or replace records by key and remove others, in one transaction."""

    def append(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """Add records whose keys are known to be new."""

    def maintain(self, *, drop_versions: bool = False) -> None:
        """Compact, and drop old versions."""


class RecordStore(Protocol):
    """Where the documents, and all that is known of them, live."""

    @property
    def exists(self) -> bool:
        """Whether anything was ever stored here."""

    def records(self, name: str, *, key: str, columns: Mapping[str, str]) -> Records:
        """A table of records, created when missing; `columns` maps names to `text` or `whole`.

        Columns that a table made earlier lacks are added to it, without values.
        """


class ChunkStore(Protocol):
    """Where chunk tables live, which can be made again from the documents."""

    def chunk_tables(self) -> set[str]:
        """Names of the chunk tables there are."""

    def create(self, name: str, *, dimension: int) -> None:
        """Make an empty chunk table."""

    def open(self, name: str) -> ChunkTable:
        """A chunk table that exists."""

    def discard(self, name: str) -> None:
        """Remove a chunk table; nothing where it is not there."""

    def bytes_of(self, name: str) -> int:
        """What a chunk table that exists takes on disk."""


class Store(RecordStore, ChunkStore, Protocol):
    """Where a collection's tables live. A change is seen by every reader at once and wholly, or not at all."""


# --- what is kept besides the tables ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A small file that is kept; `name` is relative, with "/", `modified` in seconds since the epoch."""

    name: str
    bytes: int
    modified: float


class Files(Protocol):
    """What a home or a collection keeps besides its tables: small files by name ("traces/ab12.json").

    Names are relative, with "/", and none of their parts begins with a dot. A failure is a StoreError; UsageError for a
    name that cannot be one.
    """

    def read(self, name: str) -> bytes | None:
        """The content; None where there is no such file."""

    def write(self, name: str, content: bytes, *, durable: bool = False) -> None:
        """Whole or not at all: a reader sees the old content or the new one. `durable` outlasts a power cut too."""

    def create(self, name: str, content: bytes) -> bool:
        """Write a file that is not there yet; False where it is. One of several concurrent calls gets True."""

    def find(self, name: str) -> StoredFile | None:
        """What is known of a file without its content; None where there is no such file."""

    def list(self, prefix: str = "") -> Sequence[StoredFile]:
        """The files whose names begin with the prefix, those in folders below too, the oldest first."""

    def remove(self, names: Iterable[str]) -> None:
        """Remove files; those that are not there are passed over."""

    def lock(self, name: str, seconds: float) -> AbstractContextManager[None]:
        """While inside, nobody else holds the lock of that name, on any machine; it ends with its holder.

        StoreError where it was not to be had in so many seconds.
        """

    def below(self, name: str) -> Files:
        """The files in a folder."""

    def where(self, name: str) -> str:
        """Where a file is, for messages."""


@runtime_checkable
class RemoteFolder(Protocol):
    """A folder that is on no disk of this machine: what an entry point of `thresher.homes` makes of an address.

    Two of the same address are equal and hash alike; `str` gives the address, which holds no secret.
    """

    @property
    def kind(self) -> str:
        """What such folders are in, in one word that `a` and `the` go with."""

    @property
    def name(self) -> str:
        """The last part of the address."""

    @property
    def parent(self) -> Self:
        """The folder that holds it."""

    def __truediv__(self, name: str) -> Self: ...

    def files(self) -> Files:
        """The files in it. They may have a method `remembered`: the same, asked for again only after a while."""

    def folders(self) -> Sequence[str]:
        """The names of the folders in it, sorted."""

    def size(self) -> tuple[int, int]:
        """Files in it and below it, and their bytes."""

    def remove_all(self) -> None:
        """Remove whatever is in it."""

    def store(self) -> Store:
        """The default store, kept in it."""

    def purge_remark(self) -> str:
        """What a purge cannot reach, in words; the empty text where it reaches everything."""


Home: TypeAlias = Path | RemoteFolder
"""Where collections are, a folder of this machine or a remote one. That of a collection is another of the same kind."""


# --- what a part says of itself ---------------------------------------------------------------------------------------


def about(part: object) -> str:
    """What a part says of itself in a few words, e.g. "dense 10", for `thresher show`; of a function, its name."""
    return str(getattr(part, "about", None) or getattr(part, "__name__", type(part).__name__))


# --- the slots of the ask path, in order ------------------------------------------------------------------------------


class Rewriter(Protocol):
    """The question to the words that are searched."""

    def __call__(self, query: Query) -> Query: ...


class Retriever(Protocol):
    """A query to candidates, best first; what a wrapper dropped is still in the result."""

    def __call__(self, query: Query) -> Judged: ...


class Scorer(Protocol):
    """A number for each hit, on one scale: what judges and strip filters are made of."""

    @property
    def name(self) -> str: ...

    @property
    def scale(self) -> Scale: ...

    def __call__(self, query: Query, hits: Sequence[Hit]) -> Scores: ...


class Judge(Protocol):
    """What each hit is worth for the query."""

    def __call__(self, query: Query, hits: Sequence[Hit]) -> Judged: ...


class Decider(Protocol):
    """What the judged hits are worth together."""

    def __call__(self, query: Query, judged: Sequence[Judgement]) -> Decision: ...


class Corrector(Protocol):
    """Goes and gets more when the decision asks for it."""

    def __call__(self, query: Query, decision: Decision) -> Correction: ...


class Refiner(Protocol):
    """Hits to the evidence the generator sees."""

    def __call__(self, query: Query, hits: Sequence[Hit]) -> Refined: ...


class Generator(Protocol):
    """Evidence to an answer, or an abstention."""

    def __call__(self, query: Query, evidence: Sequence[Evidence]) -> Generation: ...


class Verifier(Protocol):
    """The draft, repaired where its sentences are not supported."""

    def __call__(self, query: Query, draft: Generation, refined: Refined) -> Generation:
        """The draft comes without notes: those that are returned are the verifier's own."""
