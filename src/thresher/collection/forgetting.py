"""Forgetting sources with whatever quotes them, and looking where a text is still kept.

A purge is written down before it begins and struck out at its end: the next purge, or doctor, finishes one that was cut
short; a document that was added meanwhile at the same place stays. What was deleted without a purge before is known by
name from old versions, traces and labels.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from thresher.errors import UnknownSetting
from thresher.home import folders
from thresher.home.places import COLLECTIONS, Home, working_folder
from thresher.indexing.catalog import RECORD_TABLES, SourceRef
from thresher.indexing.store import DocumentStore
from thresher.protocols import Files
from thresher.tracing.feedback import Feedback
from thresher.tracing.traces import Traces

FILE = "purging.json"
"""The places of a purge that has begun, each with the number of its document or null, until it has ended."""

OVERLAP = 4096
"""Bytes of two pieces of a file that are searched in both: more than a searched text is long."""

PIECE = 16 * 1024 * 1024
"""Bytes of a file that are searched at once."""


@dataclass(frozen=True, slots=True)
class Forgetting:
    """What may hold the text of a collection's documents besides the newest version of its tables."""

    home: Home
    store: DocumentStore
    files: Files
    traces: Traces
    labels: Feedback
    replies: Files

    def remembered(self, meant: Callable[[set[SourceRef]], list[SourceRef]], name: str) -> list[SourceRef]:
        """Those that are `meant` among the places that old versions, traces and labels name. Raises as it does.

        The place `name` where none is, and a store cannot say what its old versions hold.
        """
        past = self.store.past_places()
        labelled = {passage.source for label in self.labels.labels() for passage in label.passages}
        quoted = {SourceRef(source) for source in self.traces.sources() | labelled}
        try:
            return meant(quoted | (past or set()))
        except UnknownSetting:
            if past is not None:
                raise
            return [SourceRef(name)]

    def purge(self, places: Iterable[SourceRef]) -> None:
        """Forget places, and drop what quotes them."""
        numbers = self._numbers()
        meant = {**self._begun(), **{place: numbers.get(place) for place in places}}
        rows = [[place.source, place.container, number] for place, number in sorted(meant.items())]
        self.files.write(FILE, json.dumps(rows).encode(), durable=True)
        self.finish()

    def unfinished(self) -> list[SourceRef]:
        """The places of a purge that was cut short."""
        return list(self._begun())

    def _begun(self) -> dict[SourceRef, int | None]:
        rows = json.loads(self.files.read(FILE) or b"[]")
        return {SourceRef(source, container): number for source, container, number in rows}

    def _numbers(self) -> dict[SourceRef, int]:
        """The number of the document at each place; none is given out twice."""
        catalog = self.store.catalog()
        entries = map(catalog.entry, catalog.ids)
        return {place: entry.number for entry in entries for place in entry.places}

    def finish(self) -> None:
        """Go on with a purge where it was cut short; every step may be done twice."""
        begun, numbers = self._begun(), self._numbers()
        there = [place for place, number in begun.items() if number is not None and numbers.get(place) == number]
        self.store.remove(there, files={place.file for place in there})
        self.store.maintain(drop_versions=True)
        sources = {place.source for place in begun}
        self.traces.forget(sources)
        self.labels.forget(sources)
        from thresher.models.reply_cache import ReplyCache

        ReplyCache(self.replies).clear()  # a reply may quote them, and does not say whom it quotes
        folder = self.store.folder
        for name in set(folders.names(self.home)) - {folder.name}:  # which may have looked in this one
            Traces(DocumentStore(self.home / COLLECTIONS / name).small_files.below("traces")).forget(sources)
        # What a judge learns from quotes them too.
        shutil.rmtree(working_folder(folder) / "training", ignore_errors=True)
        self.files.remove([FILE])

    def holding(self, text: str) -> Iterator[str]:
        """The tables and files of the collection, and of what its home keeps beside it, that hold a text."""
        for name, columns in RECORD_TABLES.items():
            rows = self.store.record_table(name).rows(list(columns))
            if any(text in str(value) for row in rows for value in row.values()):
                yield f"table {name}"
        for table in self.store.known_tables():
            batches = self.store.open(table["name"]).chunks()
            if any(text in f"{one.text}\n{one.title}\n{one.source}" for batch in batches for one, _ in batch):
                yield f"table {table['name']}"
        if isinstance(self.home, Path) and isinstance(self.store.folder, Path):
            needles = {text.encode(), json.dumps(text)[1:-1].encode()}
            for folder in (self.store.folder, self.home / "replies", self.home / "server"):
                for file in sorted(one for one in folder.rglob("*") if one.is_file()):
                    if _holds(file, needles):
                        yield str(file)


def _holds(file: Path, needles: Iterable[bytes]) -> bool:
    with open(file, "rb") as opened:
        before = b""
        while piece := opened.read(PIECE):
            if any(needle in before + piece for needle in needles):
                return True
            before = piece[-OVERLAP:]
    return False
