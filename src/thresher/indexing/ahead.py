"""Files that are prepared elsewhere, several at a time, while the committer takes them in their order.

A file that another process can read goes out whole; a file of rows is read here and goes out in parts, which several
workers share. The number of parts under way or waiting is bounded.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from itertools import chain, groupby

from thresher.errors import DocumentError, WorkerDied
from thresher.indexing.catalog import Catalog
from thresher.indexing.prepare import Incoming, Part, Prepared
from thresher.types import Document

PART_CHARACTERS = 64_000
"""Of rows that are prepared together: some 64 chunks, one or two seconds of a core; what a worker that dies costs."""


@dataclass(frozen=True, slots=True)
class Workers:
    """Prepare parts; at most `most` are under way or wait for the committer."""

    submit: Callable[[Part], Future[Prepared]]
    most: int
    part_characters: int = PART_CHARACTERS


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
                yield replace(item, documents=lambda taken=taken: _documents(taken))  # type: ignore[misc]

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
                yield _Piece(number, item, prepared=self._workers.submit(Part(item.elsewhere(), held=held)))
            else:
                yield from self._rows(number, item)

    def _rows(self, number: int, item: Incoming) -> Iterator[_Piece]:
        found: list[Document | DocumentError] = []
        characters, failed = 0, None
        try:
            for row in item.documents():
                assert not isinstance(row, Prepared)
                found.append(row)
                characters += len(row.text) if isinstance(row, Document) else 0
                if characters >= self._workers.part_characters:
                    yield self._begun(_Piece(number, item, found))
                    found, characters = [], 0
        except DocumentError as error:
            failed = error
        yield self._begun(_Piece(number, item, found, failed=failed))

    def _begun(self, piece: _Piece) -> _Piece:
        """Have the rows encoded that the collection does not hold."""
        catalog = self._catalog()
        documents = [one for one in piece.found if isinstance(one, Document) and not catalog.holds(one)]
        return replace(piece, prepared=self._workers.submit(Part(documents=documents))) if documents else piece


def _documents(pieces: Iterable[_Piece]) -> Iterator[Prepared | DocumentError]:
    """What came of the pieces of one file. Of rows whose worker died, and died again, there is an error alone."""
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
            yield lost
        for failed in (prepared.failed, piece.failed):
            if failed is not None:
                raise failed
