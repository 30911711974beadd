"""`search` and `fetch`, in the exact form of ChatGPT's connectors and deep research.

An id is `COLLECTION/DOCUMENT`, or `COLLECTION/DOCUMENT@OFFSET` for the rest of a document that is too long for one
result: `metadata.next_id` has it. Collections are those that the operator named, or the default one.
"""

from __future__ import annotations

import re
from functools import partial
from typing import Annotated
from urllib.parse import quote, unquote

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import CallToolResult
from pydantic import Field

from thresher.collection import Collection
from thresher.links import file_name
from thresher.types import Hit
from thresher_server.asking import check_length
from thresher_server.mcp.desk import Desk
from thresher_server.mcp.resources import document_url, find_document, url_for_people
from thresher_server.mcp.shapes import FetchedPage, FoundPage, FoundPages
from thresher_server.mcp.wording import MOST_TOKENS, beginning, fitted, replied
from thresher_server.searching import share
from thresher_server.security.keys import Scope

MOST_FOUND = 10
"""Documents of a search, as in OpenAI's example."""

SEARCHED = 5
"""Collections of one search at most."""

ID = re.compile(r"(?P<collection>[^/@]+)/(?P<document>[^/@]+)(?:@(?P<start>[0-9]{1,12}))?")


def add(server: MCPServer, desk: Desk) -> None:
    """Register both tools."""

    @desk.tool(server, Scope.READ, "Search")
    async def search(
        query: Annotated[str, Field(min_length=1, description="one question, in whole words")],
    ) -> Annotated[CallToolResult, FoundPages]:
        """Find documents of the person that answer a question; the judge drops the others.

        No results mean that the documents do not say it. Fetch a result to read it.
        """
        check_length(desk.service, query)
        hits: list[tuple[Collection, Hit]] = []
        for there in _searched(desk):
            hits += [(there, hit) for hit in await desk.worked(partial(_hits, desk, there, query))]
            desk.did("search", there)
        hits.sort(key=lambda one: share(one[1].score), reverse=True)
        results: dict[str, FoundPage] = {}
        for there, hit in hits:
            page = _page(there, hit)
            results.setdefault(page.id, page)
        pages = FoundPages(results=list(results.values())[:MOST_FOUND])
        return replied(pages.model_dump_json(), pages)

    @desk.tool(server, Scope.READ, "Fetch")
    async def fetch(
        id: Annotated[str, Field(min_length=1, max_length=400, description="the id of a result of search")],
    ) -> Annotated[CallToolResult, FetchedPage]:
        """Read a document that search found. If `metadata.next_id` is there, fetch it for the rest."""
        parts = ID.fullmatch(id)
        if parts is None:
            raise ToolError(f"{id!r} is no id; take one that search returned")
        there = desk.named(unquote(parts["collection"]), Scope.READ)
        start = int(parts["start"] or 0)
        record = await desk.worked(lambda: find_document(there, unquote(parts["document"])))
        document = await desk.worked(lambda: there.document(record.id))
        rest = beginning(document.text[start:], MOST_TOKENS / 2)  # a result contains it twice
        known = {"source": record.source, "kind": record.kind, "collection": there.name, "date": record.date or ""}

        def fetched(number: int) -> FetchedPage:
            end = start + number
            next_id = f"{_id(there.name, record.id)}@{end}" if end < len(document.text) else ""
            return FetchedPage(
                id=id,
                title=record.title or file_name(record.source),
                text=rest[:number],
                url=document_url(desk.visit.address, there.name, record),
                metadata={name: value for name, value in {**known, "next_id": next_id}.items() if value},
            )

        return fitted(fetched, len(rest), FetchedPage.model_dump_json)


def _searched(desk: Desk) -> list[Collection]:
    """The collections that the operator or the key names; without names the default one."""
    named = desk.caller.collections or ()
    there = [desk.seen(name) for name in desk.names() if name in named]
    return there[:SEARCHED] or [desk.named(None, Scope.READ)]


def _hits(desk: Desk, collection: Collection, query: str) -> tuple[Hit, ...]:
    """The hits that the judge keeps; none where the verdict is that they do not answer the question."""
    recipe = desk.service.front.recipe
    found = collection.evidence(query, recipe=recipe, limit=MOST_FOUND, outside="none", settings=desk.visit.settings)
    return tuple(passage.hit for passage in found.passages)


def _page(collection: Collection, hit: Hit) -> FoundPage:
    chunk = hit.chunk
    return FoundPage(
        id=_id(collection.name, chunk.document_id),
        title=chunk.title or file_name(chunk.source),
        url=url_for_people(hit.url, collection.name, chunk.document_id, chunk.source, chunk.page),
    )


def _id(collection: str, document: str) -> str:
    return f"{quote(collection, safe='')}/{quote(document, safe='')}"
