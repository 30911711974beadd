"""What an `add` is given, on its way to the collection: found, read when its turn comes, counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, BinaryIO

from thresher.errors import DocumentError
from thresher.home.places import Home, working_folder
from thresher.indexing.catalog import stable_json
from thresher.indexing.on_disk import state
from thresher.indexing.prepare import Incoming
from thresher.types import Document, Metadata

if TYPE_CHECKING:
    from thresher.documents.reading_process import ReadingProcess, ReadingTask
    from thresher.documents.sources import Hints, Item, Limits


@dataclass(frozen=True, slots=True)
class IndexProgress:
    """How far an `add` is: bytes of all files that were found, and chunks encoded so far."""

    total_bytes: int
    done_bytes: int
    """Read or, because their files are as they were, passed by."""
    chunks: int
    file: str = ""
    """Which is being read, or was read last."""
    unchanged_bytes: int = 0
    """Of the done ones: those that were passed by."""
    waiting: int = 0
    """Chunks of the batch in work that are not encoded yet."""
    batch_bytes: int = 0
    """The done ones with this batch: a file of which one document came counts whole."""


class Inputs:
    """One `add`'s way from arguments to incoming files, counting bytes on the way."""

    def __init__(
        self,
        arguments: Sequence[str],
        include: Sequence[str],
        exclude: Sequence[str],
        stdin: BinaryIO | None,
        metadata: Metadata,
        home: Home,
        progress: Callable[[IndexProgress], None] | None,
        limits: Limits,
        stop: Callable[[], bool] | None = None,
        *,
        public_only: bool = False,
    ) -> None:
        from thresher.documents.sources import Item, discover

        self._metadata = metadata
        self._progress = progress
        self._limits = limits
        self._stop = stop or (lambda: False)
        self._public_only = public_only
        # The last three where the folder itself is the home.
        kept = working_folder(home)
        ours = (kept, kept / "collections", kept / "replies", kept / "server")
        self._found = list(discover(arguments, include=include, exclude=exclude, skip=ours, stdin=stdin))
        folders = (Path(argument).expanduser() for argument in arguments)
        self._roots = [folder.resolve().as_posix() for folder in folders if folder.is_dir()]
        self._sizes = {item.source: _size(item) for item in self._found if isinstance(item, Item)}
        self.skipped: Counter[str] = Counter()
        """Files of the folders that are no documents, counted by what they are."""
        self._done = self._unchanged = self._chunks = self._waiting = 0
        self._reached = self._batch_bytes = 0
        self._file = ""

    def incoming(self) -> Generator[Incoming | DocumentError, None, None]:
        """The files in order, each fetched here and read in a process of its own when its turn comes."""
        from thresher.documents.reading_process import ReadingProcess

        with ReadingProcess(self._limits) as process:
            yield from self._incoming(process)

    def _incoming(self, process: ReadingProcess) -> Iterator[Incoming | DocumentError]:
        from thresher.documents import registry
        from thresher.documents.sources import fetch, file_beside

        given = stable_json(dict(self._metadata)) if self._metadata else ""
        for item in self._found:
            if self._stop():
                return
            if isinstance(item, DocumentError):
                yield item
                continue
            before = self._done
            size, modified = _state(item)  # before it is read: a change from here on shows
            try:
                data, hints = fetch(item, public_only=self._public_only)
                if others := registry.beside(data, partial(file_beside, item)):
                    hints = replace(hints, beside=others)
            except DocumentError as error:
                yield error
            else:
                if item.path and item.root != item.source and (what := registry.passed_by(data, item.source)):
                    self.skipped[what] += 1
                    self._done = before + self._sizes[item.source]
                    self._unchanged += self._sizes[item.source]
                    continue
                read = partial(
                    self._counted, item.source, partial(process.read, item, data, hints, metadata=self._metadata)
                )
                elsewhere = partial(self._handed_over, item, data, hints) if _travels(item, data, hints) else None
                digest = sha256(data).hexdigest()
                yield Incoming(
                    item.source, digest, item.root, read, given, registry.EXTRACTION, size, modified, elsewhere
                )
                self._unchanged += 0 if self._file == item.source else self._sizes[item.source]
            self._done = before + self._sizes[item.source]
            self._tell()

    def begun(self, chunks: int) -> None:
        """So many chunks are encoded from now on."""
        self._waiting, self._batch_bytes = chunks, max(self._reached, self._done)
        self._tell()

    def encoded(self, chunks: int) -> None:
        """Count encoded chunks."""
        self._chunks += chunks
        self._waiting = max(0, self._waiting - chunks)
        self._tell()

    def folder_of(self, file: str) -> str:
        """The given folder that a file lies in; empty for none."""
        return next((root for root in self._roots if file.startswith(f"{root.rstrip('/')}/")), "")

    def _counted(
        self, source: str, read: Callable[[], Iterator[Document | DocumentError]]
    ) -> Iterator[Document | DocumentError]:
        """The documents of one file, its bytes counted while its text comes."""
        before, size, characters = self._done, self._sizes[source], 0
        self._file = source
        self._tell()
        for number, document in enumerate(read()):
            if number and self._stop():
                what = "reading was stopped; the rest of the file is not indexed"
                raise DocumentError(what, subject=source, next_step="add it again")
            if isinstance(document, Document):
                characters += len(document.text)
                self._done = before + min(characters, size)
            self._reached = self._done if number else before + size
            yield document

    def _handed_over(self, item: Item, data: bytes, hints: Hints) -> ReadingTask:
        """What reads a file in another process."""
        from thresher.documents.reading_process import ReadingTask

        self._file = item.source
        self._tell()
        return ReadingTask(item, data, hints, self._metadata, self._limits)

    def _tell(self) -> None:
        if self._progress is not None:
            total = sum(self._sizes.values())
            counts = (self._unchanged, self._waiting, self._batch_bytes)
            self._progress(IndexProgress(total, self._done, self._chunks, self._file, *counts))


def incoming_text(text: str, source: str, metadata: Metadata) -> Incoming:
    """A text as the Markdown file that it could be, under a source of the caller's."""
    from thresher.documents import registry
    from thresher.documents.read import parse
    from thresher.documents.sources import Hints, Item

    data = text.encode()
    item = Item(source=source, root=source, data=data)
    read = partial(parse, item, data, Hints(content_type="text/markdown"), metadata=metadata)
    given = stable_json(dict(metadata)) if metadata else ""
    return Incoming(source, sha256(data).hexdigest(), source, read, given, registry.EXTRACTION)


def _travels(item: Item, data: bytes, hints: Hints) -> bool:
    """Whether another process can read a file: not what may be rows, nor where this program has kinds of its own."""
    from thresher.documents.registry import KINDS, by_extension, by_mime_type
    from thresher.documents.sources import file_name

    if item.data is not None or not all(str(kind.reader).startswith(".") for kind in KINDS.values()):
        return False
    kinds = (by_extension(PurePosixPath(file_name(item, hints)).suffix), by_mime_type(hints.content_type))
    return "jsonl" not in [kind.name for kind in kinds if kind is not None] and data.lstrip()[:1] != b"{"


def _size(item: Item) -> int:
    """Bytes of an input; 0 for what is not known before it is fetched."""
    return len(item.data) if item.data is not None else _state(item)[0] or 0


def _state(item: Item) -> tuple[int | None, int | None]:
    """Size and time of change of a local file, see `on_disk`; None for anything else, and where it cannot be told."""
    with suppress(OSError):
        return (None if item.path is None else state(item.path)) or (None, None)
    return None, None
