"""Which source holds which document, what an incoming document changes, and how it is recorded. Pure: no disk.

A document is its cleaned text. A source (a file, a URL, a row of a corpus) points at one document; several sources with
the same text point at the same one: the first is its `source`, the others are its `also`.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from operator import attrgetter
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from thresher.types import Chunk, ChunkRow, Document, Mark, Metadata, Page, Public, Table

if TYPE_CHECKING:
    from thresher.types import Vectors


@dataclass(frozen=True, slots=True, order=True)
class SourceRef:
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
    places: tuple[SourceRef, ...]
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


def contents(held: Mapping[SourceRef, str]) -> str:
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
    copies: Counter[str] = field(default_factory=Counter)
    """Further places that known documents got, by id."""
    added: int = 0
    updated: int = 0
    unchanged: int = 0
    removed: int = 0

    @property
    def duplicates(self) -> int:
        """Places that hold what another place holds already."""
        return self.copies.total()

    @property
    def empty(self) -> bool:
        """Whether nothing on disk has to change."""
        return not (self.new or self.kept or self.gone)


class Catalog:
    """All documents of a collection by id and by place, as of one moment."""

    def __init__(self, entries: Iterable[Entry]) -> None:
        self._by_id = {entry.id: entry for entry in entries}
        self._by_place = {place: entry.id for entry in self._by_id.values() for place in entry.places}
        self._by_file: defaultdict[str, set[SourceRef]] = defaultdict(set)
        for place in self._by_place:
            self._by_file[place.file].add(place)
        self.highest = max((entry.number for entry in self._by_id.values()), default=0)
        """The highest number given out so far."""

    def __len__(self) -> int:
        return len(self._by_id)

    def places(self) -> Iterable[SourceRef]:
        """Every known place."""
        return self._by_place.keys()

    def places_in(self, file: str) -> list[SourceRef]:
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
            place = SourceRef(document.source, document.container)
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
                changes.copies[document.id] += 1
            else:
                self.highest += 1
                entry = self._by_id[document.id] = Entry(document.id, self.highest, (place,), about(document))
                changes.new[document.id] = (document, entry)
                changes.added += before is None
            changes.updated += before is not None
            self._by_place[place] = document.id
            self._by_file[place.file].add(place)
        return changes

    def remove(self, places: Iterable[SourceRef]) -> Changes:
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

    def _detach(self, place: SourceRef, changes: Changes) -> None:
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
    return entry.places[0] == SourceRef(document.source, document.container) and entry.about != about(document)


# --- documents as the store's records, and back -----------------------------------------------------------------------

RECORD_TABLES: Mapping[str, Mapping[str, str]] = {
    "documents": {
        "id": "text",
        "number": "whole",
        "source": "text",
        "places": "text",
        "title": "text",
        "kind": "text",
        "page_count": "whole",
        "characters": "whole",
        "added": "text",
        "date": "text",
        "metadata": "text",
        "about": "text",
        "pages": "text",
        "tables": "text",
        "text": "text",
    },
    "read_files": {
        "source": "text",
        "sha256": "text",
        "root": "text",
        "given": "text",
        "documents": "whole",
        "contents": "text",
        "extraction": "whole",
        "size": "whole",
        "modified": "whole",
    },
    "tables": {"name": "text", "fingerprint": "text", "level": "text", "encoder": "text", "dimension": "whole"},
    "counters": {"name": "text", "value": "whole"},
    "chunkless": {"key": "text", "name": "text", "document": "text"},
}
"""The tables of a collection besides those of chunks, with their columns; the first one is the key."""


@dataclass(frozen=True, slots=True)
class DocumentRecord(Public):
    """A stored document without its text."""

    PUBLIC = "id source also title kind pages characters added date metadata"
    id: str
    number: int
    source: str
    also: tuple[str, ...]
    title: str
    kind: str
    pages: int
    characters: int
    added: str
    date: str | None
    metadata: Metadata


def stable_json(value: Any) -> str:
    """Compact JSON with sorted keys: the same value is always the same text."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def to_chunk_row(chunk: Chunk, vector: Vectors, document: Mapping[str, Any], *, titled: bool) -> ChunkRow:
    """A chunk to be stored, with source, title and label from its document's record; `titled` indexes the title too."""
    label = f"Doc{document['number']}-{chunk.label}"
    placed = replace(chunk, source=document["source"], title=document["title"], label=label)
    return ChunkRow(placed, document["kind"], document["added"], document["date"], vector, titled)


def to_document_row(document: Document, entry: Entry, added: str) -> dict[str, Any]:
    """A document's record; `added` is an ISO 8601 time."""
    # pages, or pages with marks and figures: a list in collections that were made before there were marks
    pages: Any = [[page.number, page.start, page.end] for page in document.pages]
    marks = [[mark.start, mark.kind, mark.name] for mark in document.marks]
    if others := {name: spans for name, spans in (("marks", marks), ("figures", document.figures)) if spans}:
        pages = {"pages": pages, **others}
    row = {
        **{name: getattr(document, name) for name in ("id", "title", "kind", "date", "text")},
        "number": entry.number,
        "about": entry.about,
        "added": added,
        "page_count": len(document.pages),
        "characters": len(document.text),
        "metadata": stable_json(dict(document.metadata)),
        "pages": stable_json(pages),
        "tables": stable_json([[table.start, table.end, table.rows] for table in document.tables]),
    }
    return with_places(row, entry.places)


def with_places(row: Mapping[str, Any], places: Sequence[SourceRef]) -> dict[str, Any]:
    """The record with other places, the first its source; a title that is the old file's name, no heading, follows."""
    listed = stable_json([[place.source, place.container] for place in places])
    before, now = PurePosixPath(row.get("source", places[0].source)).stem, PurePosixPath(places[0].source).stem
    title = row["title"]
    if title == before:
        spans = json.loads(row["pages"])
        marks = spans.get("marks", ()) if isinstance(spans, dict) else ()
        title = before if any(mark[1:] == ["heading", before] for mark in marks) else now
    return {**row, "source": places[0].source, "title": title, "places": listed}


def to_places(text: str) -> tuple[SourceRef, ...]:
    """The places of a record."""
    return tuple(SourceRef(source, container) for source, container in json.loads(text))


def to_record(row: Mapping[str, Any]) -> DocumentRecord:
    """The public part of a record."""
    also = tuple(place.source for place in to_places(row["places"])[1:])
    own = {field.name: row.get(field.name) for field in fields(DocumentRecord)}
    return DocumentRecord(**{**own, "also": also, "pages": row["page_count"], "metadata": json.loads(row["metadata"])})


def to_document(row: Mapping[str, Any]) -> Document:
    """The document of a record."""
    first = to_places(row["places"])[0]
    spans = json.loads(row["pages"])
    spans = spans if isinstance(spans, dict) else {"pages": spans}
    return Document(
        **{name: row[name] for name in ("id", "title", "kind", "date", "text")},
        source=first.source,
        container=first.container,
        pages=tuple(Page(*page) for page in spans["pages"]),
        marks=tuple(Mark(*mark) for mark in spans.get("marks", ())),
        figures=tuple((start, end) for start, end in spans.get("figures", ())),
        tables=tuple(Table(start, end, tuple(map(tuple, rows))) for start, end, rows in json.loads(row["tables"])),
        metadata=json.loads(row["metadata"]),
    )
