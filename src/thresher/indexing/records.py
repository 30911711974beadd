"""Documents as the store's records, and back."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from thresher.indexing.catalog import Entry, Place
from thresher.types import Chunk, ChunkRow, Document, Metadata, Page, Public, Table

if TYPE_CHECKING:
    from thresher.types import Vectors

DOCUMENT_COLUMNS = {
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
}


@dataclass(frozen=True, slots=True)
class DocumentRecord(Public):
    """What is known of a stored document without reading its text."""

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


def to_json(value: Any) -> str:
    """Compact JSON with sorted keys: the same value is always the same text."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def to_chunk_row(chunk: Chunk, vector: Vectors, document: dict[str, Any]) -> ChunkRow:
    """A chunk as it is stored, with the source, title and label its document's record gives it."""
    label = f"Doc{document['number']}-{chunk.label}"
    placed = replace(chunk, source=document["source"], title=document["title"], label=label)
    return ChunkRow(placed, document["kind"], document["added"], document["date"], vector)


def to_document_row(document: Document, entry: Entry, added: str) -> dict[str, Any]:
    """A document's record; `added` is an ISO 8601 time."""
    row = {
        "id": document.id,
        "number": entry.number,
        "title": document.title,
        "kind": document.kind,
        "page_count": len(document.pages),
        "characters": len(document.text),
        "added": added,
        "date": document.date,
        "metadata": to_json(dict(document.metadata)),
        "about": entry.about,
        "pages": to_json([[page.number, page.start, page.end] for page in document.pages]),
        "tables": to_json([[table.start, table.end, table.rows] for table in document.tables]),
        "text": document.text,
    }
    return with_places(row, entry.places)


def with_places(row: dict[str, Any], places: Sequence[Place]) -> dict[str, Any]:
    """The record with other places, the first of which is its source."""
    listed = to_json([[place.source, place.container] for place in places])
    return {**row, "source": places[0].source, "places": listed}


def to_places(text: str) -> tuple[Place, ...]:
    """The places of a record."""
    return tuple(Place(source, container) for source, container in json.loads(text))


def to_record(row: dict[str, Any]) -> DocumentRecord:
    """What people are shown of a record."""
    return DocumentRecord(
        id=row["id"],
        number=row["number"],
        source=row["source"],
        also=tuple(place.source for place in to_places(row["places"])[1:]),
        title=row["title"],
        kind=row["kind"],
        pages=row["page_count"],
        characters=row["characters"],
        added=row["added"],
        date=row["date"],
        metadata=json.loads(row["metadata"]),
    )


def to_document(row: dict[str, Any]) -> Document:
    """The document of a record."""
    first = to_places(row["places"])[0]
    return Document(
        id=row["id"],
        source=first.source,
        title=row["title"],
        text=row["text"],
        kind=row["kind"],
        pages=tuple(Page(*page) for page in json.loads(row["pages"])),
        tables=tuple(
            Table(start, end, tuple((low, high) for low, high in rows))
            for start, end, rows in json.loads(row["tables"])
        ),
        date=row["date"],
        metadata=json.loads(row["metadata"]),
        container=first.container,
    )
