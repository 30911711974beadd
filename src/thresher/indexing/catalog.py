"""Which source holds which document, and what an incoming document changes. Pure: no disk, no store.

A document is its cleaned text. A source (a file, a URL, a row of a corpus) points at one document; several sources with
the same text point at the same one: the first is its `source`, the others are its `also`.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from operator import attrgetter

from thresher.types import Document


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """Where a document came from: a source, unique within its container (a corpus file; empty for ordinary files)."""

    source: str
    container: str = ""

    @property
    def file(self) -> str:
        """The file or URL that has to be read for it."""
        return self.container or self.source


@dataclass(frozen=True, slots=True)
class Entry:
    """One document of the catalog; `number` is the N of its label DocN."""

    id: str
    number: int
    places: tuple[Place, ...]
    about: str = ""
    """Fingerprint of what its first place says besides the text, see `about`."""


def about(document: Document) -> str:
    """Fingerprint of everything but the text: title, kind, date, metadata, pages, tables, marks and figures."""
    stated = (
        document.title,
        document.kind,
        document.date,
        sorted(document.metadata.items()),
        [(page.number, page.start, page.end) for page in document.pages],
        [(table.start, table.end, table.rows) for table in document.tables],
        [(mark.start, mark.kind, mark.name) for mark in document.marks],
        *([document.figures] if document.figures else ()),  # so that what has none keeps the fingerprint it had
    )
    return hashlib.sha256(json.dumps(stated).encode()).hexdigest()[:16]


def contents(held: Mapping[Place, str]) -> str:
    """Fingerprint of the texts a file holds: its places, each with the id of its document."""
    listed = sorted((place.source, id_) for place, id_ in held.items())
    return hashlib.sha256(json.dumps(listed).encode()).hexdigest()[:16]


@dataclass(slots=True)
class Changes:
    """What a batch of documents does to the catalog."""

    new: dict[str, tuple[Document, Entry]] = field(default_factory=dict)
    """Documents to be written, by id, in the order to write them."""
    kept: dict[str, Entry] = field(default_factory=dict)
    """Documents that stay with other places than before, by id."""
    renamed: set[str] = field(default_factory=set)
    """Ids among `kept` whose first place changed."""
    restated: set[str] = field(default_factory=set)
    """Ids among `new` that were there before, with the same text and number but another title, date or metadata."""
    gone: set[str] = field(default_factory=set)
    files: set[str] = field(default_factory=set)
    """Files of which a place holds something else than before, or is new or gone."""
    added: int = 0
    updated: int = 0
    unchanged: int = 0
    duplicates: int = 0
    removed: int = 0

    @property
    def empty(self) -> bool:
        """Whether nothing on disk has to change."""
        return not (self.new or self.kept or self.gone)


class Catalog:
    """All documents of a collection by id and by place, as of one moment."""

    def __init__(self, entries: Iterable[Entry]) -> None:
        self._by_id = {entry.id: entry for entry in entries}
        self._by_place = {place: entry.id for entry in self._by_id.values() for place in entry.places}
        self._by_file: defaultdict[str, set[Place]] = defaultdict(set)
        for place in self._by_place:
            self._by_file[place.file].add(place)
        self.highest = max((entry.number for entry in self._by_id.values()), default=0)
        """The highest number given out so far."""

    def __len__(self) -> int:
        return len(self._by_id)

    def places(self) -> Iterable[Place]:
        """Every known place."""
        return self._by_place.keys()

    def places_in(self, file: str) -> list[Place]:
        """The known places of one file, sorted."""
        return sorted(self._by_file.get(file, ()))

    def entries_in(self, file: str) -> list[Entry]:
        """The documents of one file, by number."""
        ids = {self._by_place[place] for place in self._by_file.get(file, ())}
        return sorted((self._by_id[id_] for id_ in ids), key=attrgetter("number"))

    def contents_of(self, file: str) -> str:
        """Fingerprint of the texts a file holds, see `contents`."""
        return contents({place: self._by_place[place] for place in self._by_file.get(file, ())})

    def holds(self, document: Document) -> bool:
        """Whether its text is known, and its metadata is that of its first place."""
        entry = self._by_id.get(document.id)
        return entry is not None and not _restates(entry, document)

    @property
    def ids(self) -> Iterable[str]:
        """The ids of all documents."""
        return self._by_id.keys()

    def entry(self, document_id: str) -> Entry:
        """The entry of a document."""
        return self._by_id[document_id]

    def reserve(self, highest: int) -> None:
        """Numbers up to `highest` were given out before, to documents that may be gone."""
        self.highest = max(self.highest, highest)

    def put(self, documents: Iterable[Document]) -> Changes:
        """Take in documents, replacing what their places held before."""
        changes = Changes()
        for document in documents:
            place = Place(document.source, document.container)
            before = self._by_place.get(place)
            if before == document.id:
                self._put_again(document, changes)
                continue
            changes.files.add(place.file)
            if before is not None:
                self._detach(place, changes)
            if document.id in self._by_id:
                entry = self._by_id[document.id]
                self._keep(replace(entry, places=(*entry.places, place)), changes)
                changes.duplicates += 1
            else:
                self.highest += 1
                entry = self._by_id[document.id] = Entry(document.id, self.highest, (place,), about(document))
                changes.new[document.id] = (document, entry)
                changes.added += before is None
            changes.updated += before is not None
            self._by_place[place] = document.id
            self._by_file[place.file].add(place)
        return changes

    def remove(self, places: Iterable[Place]) -> Changes:
        """Forget places; a document without any goes."""
        changes = Changes()
        for place in places:
            if place in self._by_place:
                self._detach(place, changes)
                changes.files.add(place.file)
                changes.removed += 1
        return changes

    def _put_again(self, document: Document, changes: Changes) -> None:
        """The same text at the same place; its metadata may have changed."""
        entry = self._by_id[document.id]
        if not _restates(entry, document):
            changes.unchanged += 1
            return
        entry = self._by_id[entry.id] = replace(entry, about=about(document))
        changes.kept.pop(entry.id, None)
        changes.renamed.discard(entry.id)
        if changes.new.pop(entry.id, None) is None:
            changes.restated.add(entry.id)
        changes.new[entry.id] = (document, entry)
        changes.files.add(entry.places[0].file)
        changes.updated += 1

    def _detach(self, place: Place, changes: Changes) -> None:
        entry = self._by_id[self._by_place.pop(place)]
        self._by_file[place.file].discard(place)
        left = tuple(other for other in entry.places if other != place)
        if not left:
            del self._by_id[entry.id]
            changes.kept.pop(entry.id, None)
            changes.new.pop(entry.id, None)
            changes.gone.add(entry.id)
            return
        self._keep(replace(entry, places=left), changes)
        if left[0] != entry.places[0]:
            changes.renamed.add(entry.id)

    def _keep(self, entry: Entry, changes: Changes) -> None:
        self._by_id[entry.id] = entry
        if entry.id in changes.new:
            changes.new[entry.id] = (changes.new[entry.id][0], entry)
        else:
            changes.kept[entry.id] = entry


def _restates(entry: Entry, document: Document) -> bool:
    """Whether the first place of an entry now says something else about the same text."""
    return entry.places[0] == Place(document.source, document.container) and entry.about != about(document)
