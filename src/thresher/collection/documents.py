"""The documents of an open collection: added, listed, deleted, purged."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, TypeVar

from thresher import recipes
from thresher.collection.opened import Opened
from thresher.collection.options import AddOptions
from thresher.errors import UnknownSetting, UsageError, check_type, without_password
from thresher.filters import holds, parse, resolve
from thresher.indexing.catalog import DocumentRecord, SourceRef
from thresher.protocols import in_silence
from thresher.settings import CollectionSettings, collection_model, dotted, known_to
from thresher.types import Metadata

if TYPE_CHECKING:
    from thresher.collection.forgetting import Forgetting
    from thresher.indexing.ingest import Report


@dataclass(frozen=True, slots=True)
class Documents:
    """What `Collection` does with documents."""

    opened: Opened

    def add(self, sources: Sequence[str | Path], options: AddOptions) -> Report:
        """Take in files, folders and addresses; see `Collection.add`."""
        started = perf_counter()
        for source in sources:
            check_type("source", source, (str, Path), "a path, an address, or - for standard input")
        if not sources:
            raise UsageError("nothing was given to add", next_step="give files, folders or addresses")
        metadata, announce = options.get("metadata") or {}, options.get("announce")
        check_type("metadata", metadata, Mapping, "a mapping of names to values")
        from thresher.documents.sources import Limits
        from thresher.indexing.ingest import Ingest
        from thresher.indexing.inputs import Inputs
        from thresher.indexing.on_disk import is_gone
        from thresher.recipes.making import described, workers

        parts = replace(self.opened.parts(), announce=announce)
        settings, prune = options.get("settings"), options.get("prune", False)
        around = self._kept_by(settings)
        indexed = self.opened.indexed(listed("recipe", options.get("recipe", ())), settings, parts)
        configs = [config for _, _, config in indexed]
        reading = Inputs(
            [str(source) for source in sources],
            listed("include", options.get("include", ())),
            listed("exclude", options.get("exclude", ())),
            options.get("stdin"),
            metadata,
            self.opened.home,
            options.get("progress"),
            Limits(**around.reading.model_dump()),
            options.get("stop"),
            public_only=options.get("public_only", False),
        )
        making = partial(described, indexed, self.opened.models.own_encoder)
        helping = workers(options.get("processes", 1), options.get("on"), making)
        with helping as prepare, closing(reading.incoming()) as incoming:
            ingest = Ingest(
                self.opened.store,
                configs,
                progress=reading.encoded,
                begun=reading.begun,
                announce=announce or in_silence,
                workers=prepare,
            )
            report = ingest.run(
                incoming, vanished=is_gone, folder_of=reading.folder_of, prune=prune, reread=options.get("reread")
            )
        return replace(report, skipped=dict(reading.skipped), seconds=perf_counter() - started)

    def add_text(
        self,
        text: str,
        source: str,
        title: str,
        metadata: Metadata | None,
        recipe: str | recipes.Recipe | Sequence[str | recipes.Recipe],
        settings: Mapping[str, Any] | None,
    ) -> Report:
        """Take in a text; see `Collection.add_text`."""
        from thresher.documents.cleaning import has_half_pair
        from thresher.indexing.ingest import Ingest
        from thresher.indexing.inputs import incoming_text

        for name, given in (("text", text), ("source", source), ("title", title)):
            check_type(name, given, str, "a text")
            if has_half_pair(given):
                raise UsageError("has half of a surrogate pair", subject=name, next_step="correct it")
        check_type("metadata", metadata or {}, Mapping, "a mapping of names to values")
        if not source.strip():
            raise UsageError("is empty", subject="source", next_step="give the text a name that is unique here")
        started = perf_counter()
        self._kept_by(settings)
        configs = self.opened.index_configs(listed("recipe", recipe), settings)
        stated = {**(metadata or {}), **({"title": title} if title else {})}
        report = Ingest(self.opened.store, configs).run([incoming_text(text, source, stated)])
        return replace(report, seconds=perf_counter() - started)

    def _kept_by(self, settings: Mapping[str, Any] | None) -> CollectionSettings:
        """How documents are read and kept; a new collection gets its store."""
        around = self.opened.kept_by(known_to(collection_model(), dict(dotted(settings or {}))))
        if self.opened.store.is_new:
            self.opened.store.choose(around.store)
        return around

    def delete(self, sources: Sequence[str | Path | SourceRef], *, purge: bool) -> list[str]:
        """Forget sources; the sources that went."""
        for source in sources:
            check_type("source", source, (str, Path, SourceRef), "a file, an address or a corpus")
        places = [place for source in sources for place in self._meant(source, purge)]
        if purge:
            self.forgetting.purge(places)
        else:
            self.opened.store.remove(places, files={place.file for place in places})
        return sorted({place.source for place in places})

    def _meant(self, source: str | Path | SourceRef, purge: bool) -> list[SourceRef]:
        if isinstance(source, SourceRef):
            return [source]
        try:
            return meant(str(source), self.opened.existing().catalog().places())
        except UnknownSetting:
            if not purge:
                raise
            return self.forgetting.remembered(partial(meant, str(source)), str(source))

    def purge_deleted(self, name: str) -> list[str]:
        """Purge the sources of a file name that were deleted or replaced before."""
        from thresher.links import file_name

        check_type("name", name, str, "the name of a file, or a source")
        forgetting = self.forgetting
        here = set(forgetting.store.catalog().places())

        def gone(places: set[SourceRef]) -> list[SourceRef]:
            found = sorted(one for one in places - here if name in (one.source, file_name(one.source)))
            if not found:
                raise UnknownSetting(name, [], kind="source that was deleted")
            return found

        places = forgetting.remembered(gone, name)
        forgetting.purge(places)
        return sorted({place.source for place in places})

    @property
    def forgetting(self) -> Forgetting:
        """What a purge reaches."""
        from thresher.collection.forgetting import Forgetting

        opened = self.opened
        return Forgetting(opened.home, opened.existing(), opened.files, opened.traces, opened.labels, opened.replies)

    def records(self, where: str | None) -> list[DocumentRecord]:
        """All documents in the order they were added, or those that a filter on their fields holds for."""
        records = self.opened.named(self.opened.existing().records())
        if where is None:
            return records
        columns = ("source", "title", "kind", "added", "date")
        rows = {
            one.id: {**one.metadata, **{name: getattr(one, name) for name in columns}, "document_id": one.id}
            for one in records
        }
        restricted = resolve(parse(where), lambda: rows)
        return [record for record in records if holds(restricted, rows[record.id])]

    def tables(self) -> list[dict[str, Any]]:
        """The chunk tables: `name`, `fingerprint`, `level`, `encoder`, `chunks`, `bytes` and `recipes` that use it.

        `estimated` is what ECRAG's formulas expect (X3 in docs/methods.md) of tables that are cut as it does.
        """
        from thresher.chunking.hierarchical import HierarchicalChunker

        characters = [record.characters for record in self.opened.existing().records()]
        used: dict[str, list[str]] = {}
        expected: dict[str, int] = {}
        for recipe, config in self.opened.own_configs().items():
            for level, name in config.tables.items() if config else ():
                used.setdefault(name, []).append(recipe)
                if config and isinstance(config.chunker, HierarchicalChunker):
                    expected[name] = sum(config.chunker.estimate(number)[level] for number in characters)
        return [
            {**row, "recipes": used.get(row["name"], []), "estimated": expected.get(row["name"])}
            for row in self.opened.existing().tables()
        ]

    def ready(self) -> list[str]:
        """The recipes that can be asked without an index being made."""
        store = self.opened.existing()
        return [name for name, config in self.opened.own_configs().items() if not config or store.has_index(config)]

    def index(self, recipe: str, progress: Callable[[int, int], None] | None) -> int:
        """Make what the index of a recipe lacks; the chunks made."""
        store = self.opened.existing()
        return sum(store.complete(one, progress=progress) for one in self.opened.index_configs([recipe], None))

    def discard(self, recipe: str) -> list[str]:
        """Remove the index of a recipe; the recipes that used it. UsageError for that of the usual recipe."""
        store, configs = self.opened.existing(), self.opened.own_configs()
        config = configs[recipes.get(recipe).name]
        usual = recipes.front(self.opened.home).recipe
        used = [name for name, one in configs.items() if one and config and one.fingerprint == config.fingerprint]
        if usual in used:
            what, step = f"is used by {usual}, the usual recipe", "set another usual `recipe` first"
            raise UsageError(what, subject=f"the index of {recipe}", next_step=step)
        if config is None or not store.has_index(config):
            raise UsageError("is not there", subject=f"the index of {recipe}", next_step="see `tables()`")
        store.discard(config)
        return used

    def extractions(self) -> dict[str, int]:
        """Documents by the extraction that read them: `current`, `older`, `unknown`; `add` renews its own."""
        from thresher.documents import registry

        counted = self.opened.existing().extractions()
        current, unknown = counted.pop(registry.EXTRACTION, 0), counted.pop(None, 0)
        return {"current": current, "older": counted.total(), "unknown": unknown}

    def storage(self) -> dict[str, int]:
        """What it takes on disk: `files`, `bytes`, and `versions`, the most that one of its tables keeps."""
        store = self.opened.existing()
        files, bytes_ = store.size()
        return {"files": files, "bytes": bytes_, "versions": max(store.versions().values())}


def meant(source: str, known: Iterable[SourceRef]) -> list[SourceRef]:
    """The places a person means by a source: exact, a path from here, a corpus file, or an ending of one source."""
    places = sorted(known)
    for name in (source, without_password(source), str(Path(source).absolute()), str(Path(source).resolve())):
        exact = [place for place in places if name in (place.source, place.container)]
        if exact:
            return exact
    # An absolute path means what it says: it is never taken for the ending of another one.
    ending = [place for place in places if not Path(source).is_absolute() and place.file.endswith(f"/{source}")]
    files = {place.file for place in ending}
    if len(files) == 1:
        return ending
    if files:
        raise UsageError(
            f"means {len(files)} sources", subject=source, next_step=f"give more of the path, e.g. {min(files)}"
        )
    raise UnknownSetting(source, {place.source for place in places}, kind="source")


Item = TypeVar("Item", bound=str | recipes.Recipe)


def listed(name: str, given: Item | Sequence[Item]) -> Sequence[Item]:
    """One or several, as several. Raises WrongType for what is neither."""
    if isinstance(given, str | recipes.Recipe):
        return [given]
    check_type(name, given, Sequence, "one, or a list of them")
    return given
