"""Documents on their way to the committer: read, cut and encoded, here or ahead of it by workers elsewhere. No store.

Workers turn a `WorkUnit` into a `Prepared`, both picklable; their rows equal those of a single process, since a vector
depends on its text alone. A file that another process can read goes out whole; a file of rows is read here and goes out
in units, which several workers share. The number of units under way or waiting is bounded.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from itertools import chain, groupby
from typing import TYPE_CHECKING

from thresher.errors import DocumentError, WorkerDied
from thresher.indexing.catalog import Catalog, Entry
from thresher.indexing.index_config import IndexConfig, encode
from thresher.types import Chunk, Document

if TYPE_CHECKING:
    from thresher.indexing.index_config import Encoded
    from thresher.types import Vectors


ReadFile = Callable[[], Iterator[Document | DocumentError]]
"""Reads one file: its documents, and as values rows that failed; a file that cannot be read raises DocumentError."""


@dataclass(frozen=True, slots=True)
class WorkUnit:
    """What one worker prepares at once: a file to be read, or rows of a file that was read already."""

    read: ReadFile | None = None
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
    """A file or URL to take in."""

    source: str
    sha256: str
    root: str
    documents: ReadFile
    given: str = ""
    """What the caller added to its metadata, as JSON: a change of it is a change of the file."""
    extraction: int | None = None
    """Which version of the extraction reads it."""
    size: int | None = None
    """Bytes of a local file as it was read; None for anything else."""
    modified: int | None = None
    """When it was changed last by then, in nanoseconds since 1970; None with `size`."""
    elsewhere: Callable[[], ReadFile] | None = None
    """Gives what reads it in another process; None for what is read here alone: rows, and kinds of a program's own."""
    ahead: Callable[[], Iterator[Prepared]] | None = None
    """Gives what workers made of it."""

    def prepared(self) -> Iterator[Prepared]:
        """Its documents in their order, with the chunks that were made ahead; a file that cannot be read raises."""
        return (Prepared([one]) for one in self.documents()) if self.ahead is None else self.ahead()


def prepare(unit: WorkUnit, configs: Sequence[IndexConfig]) -> Prepared:
    """Read a unit and encode what the collection does not hold, by config; `unit.documents` are not sent back."""
    found: list[Document | DocumentError] = []
    failed = None
    if unit.read is not None:
        try:
            for one in unit.read():
                found.append(one)
        except DocumentError as error:
            failed = error
    known = Catalog(unit.held)
    fresh: dict[str, Document] = {}
    for document in (*unit.documents, *found):
        if isinstance(document, Document) and not known.holds(document):
            fresh.setdefault(document.id, document)
    vectors: defaultdict[str, dict[str, Vectors]] = defaultdict(dict)  # by encoder: what configs share is encoded once
    encoded: dict[str, dict[str, Sequence[tuple[Chunk, Vectors]]]] = {id_: {} for id_ in fresh}
    for config in configs:
        for id_, chunks in encode(config, fresh.values(), vectors[config.encoder.name]).items():
            encoded[id_][config.fingerprint] = chunks
    return Prepared(found, encoded, failed)


# --- ahead of the committer -------------------------------------------------------------------------------------------

UNIT_CHARACTERS = 64_000
"""Of rows that are prepared together: some 64 chunks, one or two seconds of a core; what a worker that dies costs."""


@dataclass(frozen=True, slots=True)
class Workers:
    """Prepare units; at most `most` are under way or wait for the committer."""

    submit: Callable[[WorkUnit], Future[Prepared]]
    most: int
    unit_characters: int = UNIT_CHARACTERS


@dataclass(frozen=True, slots=True)
class _Piece:
    """The next of an incoming file: nothing of one that is passed by, all of one that is read elsewhere, some rows."""

    number: int
    item: Incoming | DocumentError
    found: Sequence[Document | DocumentError] = ()
    prepared: Future[Prepared] | None = None
    failed: DocumentError | None = None


class Ahead:
    """The same incoming files, their documents prepared by workers ahead of the committer."""

    def __init__(self, workers: Workers, passes_by: Callable[[Incoming], bool], catalog: Callable[[], Catalog]) -> None:
        """`passes_by` says whether a file is not to be read; `catalog` what is held now."""
        self._workers = workers
        self._passes_by = passes_by
        self._catalog = catalog

    def __call__(self, incoming: Iterable[Incoming | DocumentError]) -> Iterator[Incoming | DocumentError]:
        """In the order they come; those of a file have to be taken before the next file is asked for."""
        for _, pieces in groupby(self._bounded(self._pieces(incoming)), key=lambda piece: piece.number):
            first = next(pieces)
            item = first.item
            if isinstance(item, DocumentError) or self._passes_by(item):
                yield item
            else:
                taken = chain([first], pieces)  # noqa: B031 - the first is put back in front
                yield replace(item, ahead=lambda taken=taken: _prepared(taken))  # type: ignore[misc]

    def _bounded(self, pieces: Iterable[_Piece]) -> Iterator[_Piece]:
        """The pieces in their order, begun while there is room."""
        waiting: deque[_Piece] = deque()
        for piece in pieces:
            waiting.append(piece)
            under_way = sum(one.prepared is not None for one in waiting)
            while waiting:
                prepared = waiting[0].prepared
                if prepared is not None and not prepared.done() and under_way < self._workers.most:
                    break
                under_way -= prepared is not None
                yield waiting.popleft()
        yield from waiting

    def _pieces(self, incoming: Iterable[Incoming | DocumentError]) -> Iterator[_Piece]:
        for number, item in enumerate(incoming):
            if isinstance(item, DocumentError) or self._passes_by(item):
                yield _Piece(number, item)
            elif item.elsewhere is not None:
                held = self._catalog().entries_in(item.source)
                yield _Piece(number, item, prepared=self._workers.submit(WorkUnit(item.elsewhere(), held=held)))
            else:
                yield from self._rows(number, item)

    def _rows(self, number: int, item: Incoming) -> Iterator[_Piece]:
        found: list[Document | DocumentError] = []
        characters, failed = 0, None
        try:
            for row in item.documents():
                found.append(row)
                characters += len(row.text) if isinstance(row, Document) else 0
                if characters >= self._workers.unit_characters:
                    yield self._begun(_Piece(number, item, found))
                    found, characters = [], 0
        except DocumentError as error:
            failed = error
        yield self._begun(_Piece(number, item, found, failed=failed))

    def _begun(self, piece: _Piece) -> _Piece:
        """Have the rows encoded that the collection does not hold."""
        catalog = self._catalog()
        documents = [one for one in piece.found if isinstance(one, Document) and not catalog.holds(one)]
        return replace(piece, prepared=self._workers.submit(WorkUnit(documents=documents))) if documents else piece


def _prepared(pieces: Iterable[_Piece]) -> Iterator[Prepared]:
    """What came of the pieces of one file. Rows whose worker died twice become one error."""
    for piece in pieces:
        prepared = Prepared()
        try:
            if piece.prepared is not None:
                prepared = piece.prepared.result()
            yield replace(prepared, found=[*piece.found, *prepared.found])
        except WorkerDied as error:
            assert not isinstance(piece.item, DocumentError)
            rows = [one.source for one in piece.found if isinstance(one, Document)]
            which = f" (rows {rows[0]} to {rows[-1]})" if rows else ""
            lost = DocumentError(error.what, subject=f"{piece.item.source}{which}", next_step=error.next_step)
            if not piece.found:
                raise lost from error
            yield Prepared([lost])
        for failed in (prepared.failed, piece.failed):
            if failed is not None:
                raise failed
