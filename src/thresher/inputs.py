"""What an `add` is given, on its way to the collection: found, read when its turn comes, counted, prepared elsewhere.

Another process prepares files as this one does: a `Making` travels with every part, the settings of recipes, resolved
here, so that neither the environment nor a `thresher.toml` over there counts. A process makes its configs of it once.
They must have the same fingerprints as those here; with another Thresher, or other weights, they have not.
"""

from __future__ import annotations

import pickle
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache, partial
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, BinaryIO

from thresher.errors import DocumentError, ThresherError, UsageError, check_type
from thresher.home.places import Home, working_folder
from thresher.indexing.catalog import Place, stable_json
from thresher.indexing.index_config import IndexConfig
from thresher.indexing.prepare import Incoming, Part, Prepared, Workers, prepare
from thresher.recipes.components import Components, Models
from thresher.recipes.registry import Recipe
from thresher.types import Document, Metadata

if TYPE_CHECKING:
    from thresher.documents.reading_process import ReadingProcess, ReadingTask
    from thresher.documents.sources import Hints, Item
    from thresher.protocols import Encoder
    from thresher.recipes.settings import RecipeSettings
    from thresher.settings import ReadingSettings


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
        bounds: ReadingSettings,
        stop: Callable[[], bool] | None = None,
        *,
        public_only: bool = False,
    ) -> None:
        from thresher.documents.sources import Item, discover

        self._metadata = metadata
        self._progress = progress
        self._bounds = bounds
        self._stop = stop or _never
        self._public_only = public_only
        # The last three where the folder itself is the home.
        kept = working_folder(home)
        ours = (kept, kept / "collections", kept / "replies", kept / "server")
        self._found = list(discover(arguments, include=include, exclude=exclude, skip=ours, stdin=stdin))
        self._roots = [Path(argument).resolve() for argument in arguments if Path(argument).is_dir()]
        self._sizes = {item.source: _size(item) for item in self._found if isinstance(item, Item)}
        self.skipped: Counter[str] = Counter()
        """Files of the folders that are no documents, counted by what they are."""
        self._done = self._unchanged = self._chunks = 0
        self._file = ""

    def incoming(self) -> Generator[Incoming | DocumentError, None, None]:
        """The files in order, each fetched here and read in a process of its own when its turn comes."""
        from thresher.documents.reading_process import ReadingProcess
        from thresher.documents.sources import Limits

        with ReadingProcess(Limits(**self._bounds.model_dump())) as process:
            yield from self._incoming(process)

    def _incoming(self, process: ReadingProcess) -> Iterator[Incoming | DocumentError]:
        from thresher.documents import registry
        from thresher.documents.sources import fetch

        given = stable_json(dict(self._metadata)) if self._metadata else ""
        for item in self._found:
            if self._stop():
                return
            if isinstance(item, DocumentError):
                yield item
                continue
            before = self._done
            try:
                data, hints = fetch(item, public_only=self._public_only)
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
                yield Incoming(item.source, digest, item.root, read, given, registry.EXTRACTION, elsewhere)
                self._unchanged += 0 if self._file == item.source else self._sizes[item.source]
            self._done = before + self._sizes[item.source]
            self._tell()

    def encoded(self, chunks: int) -> None:
        """Count encoded chunks."""
        self._chunks += chunks
        self._tell()

    def vanished(self, place: Place) -> bool:
        """Whether a place lies in one of the given folders and its file is gone."""
        path = Path(place.file)
        return any(root in path.parents for root in self._roots) and not path.exists()

    def _counted(
        self, source: str, read: Callable[[], Iterator[Document | DocumentError]]
    ) -> Iterator[Document | DocumentError]:
        """The documents of one file, its bytes counted while its text comes."""
        before, size, characters = self._done, self._sizes[source], 0
        self._file = source
        self._tell()
        for number, document in enumerate(read()):
            if number and self._stop():
                raise DocumentError("was left before its end", subject=source, next_step="add it again")
            if isinstance(document, Document):
                characters += len(document.text)
                self._done = before + min(characters, size)
            yield document

    def _handed_over(self, item: Item, data: bytes, hints: Hints) -> ReadingTask:
        """What reads a file in another process."""
        from thresher.documents.reading_process import ReadingTask
        from thresher.documents.sources import Limits

        self._file = item.source
        self._tell()
        return ReadingTask(item, data, hints, self._metadata, Limits(**self._bounds.model_dump()))

    def _tell(self) -> None:
        if self._progress is not None:
            total = sum(self._sizes.values())
            self._progress(IndexProgress(total, self._done, self._chunks, self._file, self._unchanged))


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


def _never() -> bool:
    return False


def _travels(item: Item, data: bytes, hints: Hints) -> bool:
    """Whether another process can read a file: not what may be rows, nor where this program has kinds of its own."""
    from thresher.documents.registry import KINDS, by_extension, by_mime_type
    from thresher.documents.sources import file_name

    if item.data is not None or not all(str(kind.reader).startswith(".") for kind in KINDS.values()):
        return False
    kinds = (by_extension(PurePosixPath(file_name(item, hints)).suffix), by_mime_type(hints.content_type))
    return "jsonl" not in [kind.name for kind in kinds if kind is not None] and data.lstrip()[:1] != b"{"


def _size(item: Any) -> int:
    """Bytes of a file; 0 for what is not known before it is fetched."""
    if item.data is not None:
        return len(item.data)
    try:
        return 0 if item.path is None else int(item.path.stat().st_size)
    except OSError:
        return 0


# --- prepared in other processes --------------------------------------------------------------------------------------

AHEAD = 2
"""Parts for each process that are under way or wait for the committer: one is worked on, one is at hand."""


@contextmanager
def workers(processes: int, on: str | None, making: Callable[[], bytes]) -> Iterator[Workers | None]:
    """Who prepares parts, ended at the end; None for this process alone. `making` gives a `Making` as it travels."""
    check_type("processes", processes, int, "a whole number from 1")
    if processes == 1 and on is None:
        yield None
        return
    from thresher.processes import pool

    chosen = pool(processes, on)
    assert chosen is not None
    packed = making()
    with chosen as opened:
        yield Workers(partial(opened.submit, prepared, packed), AHEAD * opened.number)


@dataclass(frozen=True, slots=True)
class Making:
    """Recipes with their settings, and what is to come of them."""

    recipes: Sequence[tuple[Recipe, RecipeSettings]]
    fingerprints: Sequence[str]
    own_encoder: Encoder | None
    """The caller's, where a recipe uses it."""

    def configs(self) -> list[IndexConfig]:
        """How to cut and encode. Raises ThresherError where this process would do it otherwise."""
        parts = Components.sketch(Models(own_encoder=self.own_encoder))
        made = [recipe.index_config(settings, parts) for recipe, settings in self.recipes]
        configs = [config for config in made if config is not None]
        if [config.fingerprint for config in configs] != list(self.fingerprints):
            raise ThresherError(
                "another process would cut or encode documents otherwise than this one",
                subject=", ".join(recipe.name for recipe, _ in self.recipes),
                next_step="install the same version of thresher, with the same models, on every machine",
            )
        return configs


def described(
    recipes: Sequence[tuple[Recipe, RecipeSettings, IndexConfig]], own_encoder: Encoder | None = None
) -> bytes:
    """A `Making` as it travels. Left out is what a chat model is paid for: that is announced, and done, here.

    Raises UsageError for an encoder that cannot travel.
    """
    found = {config.fingerprint: (recipe, settings) for recipe, settings, config in recipes if config.announce is None}
    if own_encoder is not None and all(settings.encoder != own_encoder.name for _, settings in found.values()):
        own_encoder = None
    travelling = [(replace(recipe, parts={}), settings) for recipe, settings in found.values()]
    try:
        if type(own_encoder).__module__ == "__main__":
            raise TypeError("its class is in the program that was started, which no other process imports")
        return pickle.dumps(Making(travelling, list(found), own_encoder))
    except Exception as error:  # whatever an object of a program's own raises
        raise UsageError(
            f"cannot be sent to another process ({error})",
            subject=f"encoder {getattr(own_encoder, 'name', '')}",
            next_step="put its class into a module, or index in one process",
        ) from error


def prepared(making: bytes, part: Part) -> Prepared:
    """A part, prepared as `making` says."""
    return prepare(part, _configs(making))


@cache
def _configs(making: bytes) -> list[IndexConfig]:
    made: Making = pickle.loads(making)
    return made.configs()
