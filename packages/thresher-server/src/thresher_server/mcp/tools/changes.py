"""`add_document` and `delete_document`, where the operator lets agents write.

A text is kept as a file of the home, like an upload. An address must be on the public internet, because a model chose
it. No file of this machine can be named.
"""

from __future__ import annotations

from pathlib import Path, PurePosixPath
from typing import Annotated

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import CallToolResult, ToolAnnotations
from pydantic import Field

from thresher.collection import Collection, Report
from thresher.home.places import make_folder
from thresher.links import file_name
from thresher_server.mcp.desk import Desk
from thresher_server.mcp.resources import find_document, parts, resource
from thresher_server.mcp.shapes import AddedDocument, DeletedDocument
from thresher_server.mcp.tools import CollectionName
from thresher_server.mcp.wording import replied
from thresher_server.security.keys import Scope
from thresher_server.uploads import Uploads, forget_document

LONGEST_TEXT = 1_000_000
"""Characters; about 400 pages."""

TEXT_KINDS = (".md", ".txt", ".markdown", ".html", ".csv", ".json", ".jsonl")
"""File endings by which a text is parsed; other names get the first one."""

WRITES = ToolAnnotations(read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=True)
DELETES = ToolAnnotations(read_only_hint=False, destructive_hint=True, idempotent_hint=True, open_world_hint=False)


def add(server: MCPServer, desk: Desk) -> None:
    """Register both tools."""

    @desk.tool(server, Scope.WRITE, "Add a document", WRITES)
    async def add_document(
        text: Annotated[str | None, Field(max_length=LONGEST_TEXT, description="the document; or give `url`")] = None,
        url: Annotated[
            str | None, Field(max_length=4096, pattern=r"^[hH][tT][tT][pP][sS]?://\S+$", description="a page or file")
        ] = None,
        name: Annotated[
            str | None, Field(min_length=1, max_length=200, description="a file name for `text`, e.g. minutes.md")
        ] = None,
        collection: CollectionName = None,
    ) -> Annotated[CallToolResult, AddedDocument]:
        """Add a text, or a page or file of the public web, to the person's documents.

        Call it only when the person wants something kept. A text of a name that is there already replaces it. Do not
        call it for notes of your own.
        """
        there = _writable(desk, collection)
        if (text is None) == (url is None):
            raise ToolError("give either `text` with a `name`, or `url`")
        if url is not None:
            report = await desk.worked(lambda: there.add(url, public_only=True))
            return _added(desk, there, url, report)
        if not name or not text or not text.strip():
            raise ToolError("a text needs words, and a `name` such as minutes.md")
        place = Uploads(desk.service.home, there).place(_with_ending(name))
        report = await desk.worked(lambda: _kept(there, place, text))
        return _added(desk, there, str(place), report)

    @desk.tool(server, Scope.WRITE, "Delete a document", DELETES)
    async def delete_document(
        document: Annotated[
            str, Field(min_length=1, description="`document` of list_documents, an id or a file's name")
        ],
        collection: CollectionName = None,
    ) -> Annotated[CallToolResult, DeletedDocument]:
        """Forget one of the person's documents; a file of theirs stays where it is.

        Call it only when the person names the document and wants it gone; it cannot be undone here.
        """
        in_address, named = parts(document)
        there = desk.named(in_address or collection, Scope.WRITE)
        gone = await desk.worked(lambda: forget_document(there, find_document(there, named).id))
        desk.did("delete", there, sources=gone)
        names = sorted(map(file_name, gone))
        forgotten = f"Forgotten in collection {there.name}: {', '.join(names)}."
        return replied(forgotten, DeletedDocument(collection=there.name, deleted=names))


def _writable(desk: Desk, name: str | None) -> Collection:
    """The collection to add to. The first document may make a collection that the key names, or the default one."""
    wanted = name or desk.service.front.collection
    is_new = wanted not in desk.service.engine.collections.names
    may_be_made = desk.caller.may(Scope.WRITE, wanted) and (desk.caller.collections is not None or name is None)
    return desk.seen(wanted) if is_new and may_be_made else desk.named(name, Scope.WRITE)


def _added(desk: Desk, collection: Collection, source: str, report: Report) -> CallToolResult:
    if report.failed:
        failed = report.failed[0]
        raise ToolError(f"{PurePosixPath(source).name}: not added: {failed.what}; {failed.next_step}")
    desk.did("add", collection, sources=[source])
    ids = [one.id for one in collection.opened.store.records() if source in (one.source, *one.also)]
    result = AddedDocument(
        collection=collection.name,
        name=PurePosixPath(source).name,
        state=_state(report),
        documents=[resource(collection.name, id_) for id_ in ids],
        chunks=report.chunks,
        seconds=report.seconds,
    )
    return replied(f"{result.name}: {result.state} in collection {collection.name}.", result)


def _state(report: Report) -> str:
    counts = {"added": report.added, "updated": report.updated, "duplicate": report.duplicates}
    return next((state for state, number in counts.items() if number), "unchanged")


def _with_ending(name: str) -> str:
    return name if PurePosixPath(name).suffix.lower() in TEXT_KINDS else f"{name}{TEXT_KINDS[0]}"


def _kept(collection: Collection, place: Path, text: str) -> Report:
    """Write a text and index it; a text that cannot be parsed is removed."""
    make_folder(place.parent)
    place.write_text(text, encoding="utf-8", errors="replace")
    report = collection.add(place)
    if report.failed:
        place.unlink(missing_ok=True)
    return report
