"""Documents as the store's records, and back."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from thresher.indexing.catalog import Entry, Place
from thresher.types import Chunk, ChunkRow, Document, Mark, Metadata, Page, Public, Table

if TYPE_CHECKING:
    from thresher.types import Vectors

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


def with_places(row: Mapping[str, Any], places: Sequence[Place]) -> dict[str, Any]:
    """The record with other places, the first its source; a title that is the old file's name, no heading, follows."""
    listed = stable_json([[place.source, place.container] for place in places])
    before, now = PurePosixPath(row.get("source", places[0].source)).stem, PurePosixPath(places[0].source).stem
    title = row["title"]
    if title == before:
        spans = json.loads(row["pages"])
        marks = spans.get("marks", ()) if isinstance(spans, dict) else ()
        title = before if any(mark[1:] == ["heading", before] for mark in marks) else now
    return {**row, "source": places[0].source, "title": title, "places": listed}


def to_places(text: str) -> tuple[Place, ...]:
    """The places of a record."""
    return tuple(Place(source, container) for source, container in json.loads(text))


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
