"""Documents: add, list, read, open, forget, reindex."""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import quote

from fastapi import APIRouter, Query, Request
from fastapi import Path as InPath
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import FileResponse, JSONResponse
from pydantic import Field, ValidationError

from thresher.collection import Collection, DocumentRecord
from thresher.errors import UnknownSetting
from thresher.links import file_name
from thresher_server.asking import worked
from thresher_server.conversations import forget_sources
from thresher_server.jobs.worker import STARTS_A_JOB, started
from thresher_server.naming import READING, Opened, Served, is_there, with_words
from thresher_server.problems import Problem, replies
from thresher_server.receiving import received
from thresher_server.routes.search import LONGEST_FILTER
from thresher_server.searching import address_of
from thresher_server.security.access import Reader, Writer
from thresher_server.security.keys import Caller, Scope
from thresher_server.service import Service
from thresher_server.shapes import Body, DocumentReply, Reply
from thresher_server.uploads import Originals, Uploads, forget_document, missing

router = APIRouter(prefix="/api/collections/{collection}/documents", tags=["documents"], responses=replies(404))

DocumentId = Annotated[str, InPath(max_length=100, description="a document's id", examples=["1f6c0a3e"])]

MOST_ADDRESSES = 1000
LONGEST_ADDRESS = 4096
MOST_LISTED = 1000
MOST_CHARACTERS = 1_000_000
"""Of a document's text in one reply; longer ranges take several."""

LARGEST_LIST = 4 * 1024 * 1024
"""Bytes of a list of addresses."""

SHOWN = {
    ".pdf": "application/pdf",
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".gif": "image/gif",
    ".webp": "image/webp",
    **dict.fromkeys((".txt", ".md", ".csv", ".tsv", ".json", ".jsonl", ".log", ".rst"), "text/plain; charset=utf-8"),
}
"""Files shown by a browser, with content types. Others are downloads, also HTML and SVG: they may contain a script."""

FILE_CONTENT: dict[str, dict[str, Any]] = {
    kind.partition(";")[0]: {} for kind in ("application/octet-stream", *SHOWN.values())
}
"""Content types of files."""

FILE_HEADERS = {"Content-Security-Policy": "default-src 'none'; sandbox", "Cache-Control": "private, no-cache"}


class DocumentList(Reply):
    """Documents in the order they were added."""

    documents: list[DocumentReply]
    total: int = Field(description="documents that match, without the limit")


class DocumentText(Reply):
    """A range of a document's text; offsets in code points, end exclusive."""

    text: str
    start: int
    end: int
    characters: int = Field(description="of the whole document")


class Deleted(Reply):
    """The deleted sources."""

    deleted: list[str]


class Addresses(Body):
    """Web pages and files by address."""

    urls: list[Annotated[str, Field(max_length=LONGEST_ADDRESS, pattern=r"^[hH][tT][tT][pP][sS]?://\S+$")]] = Field(
        min_length=1, max_length=MOST_ADDRESSES, examples=[["https://example.org/report.pdf"]]
    )
    recipe: str | None = Field(None, max_length=100, description="a recipe to cut and encode them for")


FORM = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": ["files"],
                    "properties": {
                        "files": {"type": "array", "items": {"type": "string", "format": "binary"}, "minItems": 1},
                        "recipe": {"type": "string", "description": "a recipe to cut and encode them for"},
                    },
                }
            },
            "application/json": {"schema": Addresses.model_json_schema()},
        },
    }
}


@router.get("", summary="List documents", dependencies=[READING])
def listed(
    caller: Reader,
    collection: Opened,
    service: Served,
    request: Request,
    where: Annotated[
        str | None, Query(max_length=LONGEST_FILTER, description="a filter on metadata", examples=["kind = 'pdf'"])
    ] = None,
    words: Annotated[str | None, Query(max_length=200, description="words that source or title must have")] = None,
    limit: Annotated[int, Query(ge=1, le=MOST_LISTED)] = 100,
    offset: Annotated[int, Query(ge=0, le=10**9)] = 0,
) -> DocumentList:
    """Documents that match the filter and have the words, without their texts."""
    if not is_there(collection):
        return DocumentList(documents=[], total=0)
    found = with_words(collection.documents(where=where), words)
    told = _shown(service, request, collection, found[offset : offset + limit])
    return DocumentList(documents=told, total=len(found))


@router.post("", summary="Add documents", openapi_extra=FORM, **STARTS_A_JOB)
async def add(caller: Writer, collection: Opened, service: Served, request: Request) -> JSONResponse:
    """Files as a form, or web addresses as JSON; a job indexes them. A file replaces an earlier one of its name."""
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() == "multipart/form-data":
        return await _sent(service, caller, collection, request)
    body = await _addresses(request)
    inner = caller.may(Scope.ADMIN)
    arguments = {"sources": body.urls, "recipe": body.recipe, "public_only": not inner}
    return await started(service, caller, collection.name, "add", arguments)


@router.get("/{document}", summary="One document", dependencies=[READING])
def one(caller: Reader, collection: Opened, document: DocumentId, service: Served, request: Request) -> DocumentReply:
    """A document without its text."""
    return _shown(service, request, collection, [_record(collection, document)])[0]


@router.get("/{document}/text", summary="A document's text", dependencies=[READING])
def text(
    caller: Reader,
    collection: Opened,
    document: DocumentId,
    start: Annotated[int, Query(ge=0, le=10**12)] = 0,
    end: Annotated[int | None, Query(ge=0, le=10**12)] = None,
) -> DocumentText:
    """A range of the text as the engine reads it; without an end, at most a million characters."""
    _record(collection, document)
    whole = collection.document(document).text
    last = min(len(whole) if end is None else end, len(whole), start + MOST_CHARACTERS)
    first = min(start, last)
    return DocumentText(text=whole[first:last], start=first, end=last, characters=len(whole))


@router.get(
    "/{document}/file",
    summary="A document's original",
    response_class=FileResponse,
    responses={200: {"content": FILE_CONTENT, "description": "the file"}},
)
def file(caller: Reader, collection: Opened, document: DocumentId, service: Served) -> FileResponse:
    """The file as it was sent, or from this machine if the operator indexed it there."""
    path = Originals(collection).file(document)
    if path is None:
        raise Problem(404, "has no file here", subject=f"document {document}", next_step="see its text, or its source")
    kind = SHOWN.get(path.suffix.lower())
    return FileResponse(
        path,
        media_type=kind or "application/octet-stream",
        filename=path.name,
        content_disposition_type="inline" if kind else "attachment",
        headers=FILE_HEADERS,
    )


@router.delete("/{document}", summary="Forget a document")
async def delete(
    caller: Writer,
    collection: Opened,
    document: DocumentId,
    service: Served,
    purge: Annotated[
        bool, Query(description="also remove old versions, and traces and conversations that quote it")
    ] = False,
) -> Deleted:
    """Removes the file too if it was uploaded; `purge` also removes what quotes the document."""
    gone = await worked(service, lambda: forget_document(collection, document, purge=purge))
    service.audit.write(caller.name, "delete", collection=collection.name, sources=gone, purge=purge)
    return Deleted(deleted=sorted(map(file_name, gone)))


@router.delete("", summary="Forget what was deleted before")
async def forget(
    caller: Writer,
    collection: Opened,
    service: Served,
    source: Annotated[str, Query(min_length=1, max_length=LONGEST_ADDRESS, description="its file's name, or address")],
) -> Deleted:
    """Purges deleted sources of a name from old versions, traces and conversations."""
    try:
        gone = await worked(service, lambda: collection.purge_deleted(source))
    except UnknownSetting as error:
        step = "a document that is there is forgotten by its id, with `purge`"
        raise Problem(404, "was not deleted here, or is there", subject=f"source {source}", next_step=step) from error
    await run_in_threadpool(forget_sources, service.home, collection.name, gone)
    await run_in_threadpool(Uploads(service.home, collection).forget_unread, gone)  # of a deletion that was cut short
    service.audit.write(caller.name, "delete", collection=collection.name, sources=gone, purge=True)
    return Deleted(deleted=sorted(map(file_name, gone)))


@router.post("/{document}/reindex", summary="Read a document again", **STARTS_A_JOB)
async def reindex(caller: Writer, collection: Opened, document: DocumentId, service: Served) -> JSONResponse:
    """For a new version of the extraction or a changed file."""
    await run_in_threadpool(_record, collection, document)
    places = (await run_in_threadpool(Originals, collection)).places(document)
    sources = sorted({place.file for place in places})
    arguments = {"document": document, "sources": sources, "public_only": not caller.may(Scope.ADMIN)}
    return await started(service, caller, collection.name, "reindex", arguments)


# --- uploads ----------------------------------------------------------------------------------------------------------


async def _sent(service: Service, caller: Caller, collection: Collection, request: Request) -> JSONResponse:
    """Keep the files of a form. Raises Problem 422 without any, 409 if a name is a folder's, 507 for a full disk."""
    uploads = Uploads(service.home, collection)
    folder = await run_in_threadpool(lambda: uploads.folder)
    async with received(request, folder) as form:
        if not form.files:
            raise Problem(422, "holds no files", subject="the form", next_step="send some as `files`")
        sources = list(dict.fromkeys(str(uploads.place(name)) for name, _ in form.files))
        arguments = {"sources": sources, "recipe": form.fields.get("recipe") or None}
        keep = partial(_keep, uploads, form.files)
        return await started(service, caller, collection.name, "add", arguments, keep)


def _keep(uploads: Uploads, files: Iterable[tuple[str, Path]]) -> None:
    places = [(name, path, uploads.place(name)) for name, path in files]
    for name, path, place in places:
        try:
            uploads.take(path, place)
        except (FileExistsError, NotADirectoryError, IsADirectoryError) as error:
            raise Problem(409, "is a folder here, or lies in a file", subject=name, next_step="rename it") from error
    uploads.share(str(place) for *_, place in places)


async def _addresses(request: Request) -> Addresses:
    data = bytearray()
    async for piece in request.stream():
        data += piece
        if len(data) > LARGEST_LIST:
            raise Problem(413, "is too long", subject="the list of addresses", next_step="send it in parts")
    try:
        return Addresses.model_validate_json(bytes(data))
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, ("body", *first["loc"])))
        raise Problem(422, first["msg"], subject=place, next_step="send files as a form, or {'urls': []}") from error


# --- lookup -----------------------------------------------------------------------------------------------------------


def _shown(
    service: Service, request: Request, collection: Collection, records: Iterable[DocumentRecord]
) -> list[DocumentReply]:
    """The records, with the address where people open each, and whether its original is available."""
    address = f"{address_of(service, request)}/d/{quote(collection.name, safe='')}"
    originals = Originals(collection)
    return [
        DocumentReply(
            **json.loads(json.dumps(record.to_dict())),
            url=f"{address}/{record.id}",
            file=originals.file(record.id) is not None,
        )
        for record in records
    ]


def _record(collection: Collection, document: str) -> DocumentRecord:
    records = collection.documents() if is_there(collection) else []
    for record in records:
        if record.id == document:
            return record
    raise missing(document)
