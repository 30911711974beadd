"""Open WebUI's interfaces for external services: a document loader, and a web search over a collection.

Both follow what `open_webui.retrieval` sends and reads (`loaders/external_document.py`, `web/external.py`).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Annotated, Any
from urllib.parse import unquote

from fastapi import APIRouter, Header, Query, Request
from pydantic import BaseModel, Field

from thresher.documents.reading_process import ReadingProcess
from thresher.documents.sources import Hints, Item, Limits
from thresher.errors import DocumentError
from thresher.links import file_name
from thresher.recipes import settings_keys
from thresher.settings import CollectionSettings, resolved
from thresher.types import Document, Hit
from thresher_server.asking import while_connected, worked
from thresher_server.naming import Served
from thresher_server.openai.conversation import Text
from thresher_server.problems import Problem, replies
from thresher_server.searching import search_hits
from thresher_server.security.access import Asker, Reader
from thresher_server.service import Service
from thresher_server.shapes import Foreign

router = APIRouter(tags=["open webui"])

MOST_RESULTS = 50

NO_TEXT = "No extractable text"
"""On these words Open WebUI reads the file by its own means."""

MEANT_OTHERWISE = frozenset({"html", "parameters", "file_id", "source_url", "name", "hash", "created_by", "page"})
"""Metadata with a meaning in Open WebUI (`html` shows a text as a page), which a file must not set."""


class LoadedText(BaseModel):
    """The text of a page, or of a document without pages."""

    page_content: str
    metadata: dict[str, str | int | float | bool] = Field(
        description="source, title, kind, and the document's own metadata; page counts from 0, as in Open WebUI"
    )


class WebSearch(Foreign):
    """A search by Open WebUI."""

    query: Text = Field(examples=["When does the ferry leave?"])
    count: int = Field(3, ge=1, le=MOST_RESULTS)


class WebResult(BaseModel):
    """A passage with its address."""

    link: str
    title: str
    snippet: str


BINARY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
    }
}


@router.put(
    "/process",
    summary="The text of a file, for Open WebUI's external document loader",
    responses=replies(500, 504),
    openapi_extra=BINARY,
)
async def process(
    request: Request,
    caller: Asker,
    service: Served,
    x_filename: Annotated[str, Header(description="the file's name, percent-encoded", examples=["notes.md"])] = "",
    content_type: Annotated[str, Header(include_in_schema=False)] = "",
) -> list[LoadedText]:
    """A text for each page of the file, parsed in a separate process with limits; nothing is stored."""
    data, name = await request.body(), _bare(x_filename)
    return await while_connected(request, worked(service, lambda: _read(service, data, name, content_type)))


@router.post(
    "/search", summary="Passages as Open WebUI's external web search", responses=replies(400, 404, 409, 500, 504)
)
async def search(
    asked: WebSearch,
    request: Request,
    caller: Reader,
    service: Served,
    collection: Annotated[str | None, Query(description="COLLECTION or COLLECTION/RECIPE")] = None,
) -> list[WebResult]:
    """Passages of a collection, best first; the snippet is the whole passage."""
    hits = await search_hits(service, request, caller, collection, asked.query, limit=asked.count)
    return [_result(hit) for hit in hits]


def _result(hit: Hit) -> WebResult:
    chunk = hit.chunk
    return WebResult(link=hit.url, title=chunk.title or file_name(chunk.source), snippet=chunk.text)


# --- reading a file


def _bare(given: str) -> str:
    name = PurePosixPath(unquote(given).replace("\\", "/")).name
    return "".join(mark for mark in name if mark.isprintable()) or "document"


def _read(service: Service, data: bytes, name: str, content_type: str) -> list[LoadedText]:
    """The texts of a file. Raises DocumentError for a file that cannot be read, Problem 422 for one without text."""
    item = Item(source=name, root=name, path=Path(name))  # only a name: the bytes are given
    hints = Hints(content_type="" if PurePosixPath(name).suffix else content_type)
    texts: list[LoadedText] = []
    failed: list[str] = []
    try:
        with ReadingProcess(_limits(service)) as process:
            for read in process.read(item, data, hints):
                if isinstance(read, Document):
                    texts.extend(_texts(read))
                else:
                    failed.append(str(read))
    except DocumentError as error:
        if "no text" not in error.what:
            raise
        raise Problem(422, f"{NO_TEXT}: {error.what}", subject=name, next_step=error.next_step) from error
    if not texts:
        raise Problem(422, failed[0] if failed else NO_TEXT, subject=name, next_step="check its content")
    if failed:
        texts[0].metadata["failed"] = "; ".join(failed)
    return texts


def _limits(service: Service) -> Limits:
    """The limits of the home, within the time limit of a reply."""
    settings = resolved(CollectionSettings, {}, home=service.home, known=settings_keys()).reading
    seconds = min(settings.seconds, service.settings.timeout_seconds)
    return Limits(**settings.model_copy(update={"seconds": seconds}).model_dump())


def _texts(document: Document) -> Iterator[LoadedText]:
    own = {name: value for name, value in document.metadata.items() if name not in MEANT_OTHERWISE}
    told = {**own, "source": document.source, "title": document.title, "kind": document.kind}
    if document.date is not None:
        told["date"] = document.date
    if not document.pages:
        yield LoadedText(page_content=document.text, metadata=told)
    for page in document.pages:
        text = document.text[page.start : page.end]
        if text.strip():
            yield LoadedText(page_content=text, metadata={**told, "page": page.number - 1})
