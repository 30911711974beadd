"""`search_documents`: the passages that answer a question, within a budget of tokens, and the verdict on them;
`list_documents`: the collections and documents there are.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Annotated

from mcp.server import MCPServer
from mcp_types import CallToolResult
from pydantic import Field

from thresher.collection import DEFAULT_LIMIT, Collection
from thresher.types import Chunk, Excerpt
from thresher.types import SearchResult as Found
from thresher_server.mcp import wording
from thresher_server.mcp.desk import Desk
from thresher_server.mcp.resources import document_url, resource, url_for_people
from thresher_server.mcp.shapes import CollectionTold, DocumentList, DocumentTold, Dropped, Passage, SearchResult
from thresher_server.mcp.tools import MOST_EVIDENCE, CollectionName, Question, Recipe, Where
from thresher_server.mcp.wording import fitted
from thresher_server.naming import with_words
from thresher_server.security.keys import Scope

USUAL_TOKENS = 800
MOST_HITS = 50
MOST_COLLECTIONS = 100

FEW = 5
"""Dropped passages shown: enough to see whether the search went wrong."""

Budget = Annotated[int, Field(ge=1, le=MOST_EVIDENCE, description="tokens of passages at most; fewer are often enough")]
Limit = Annotated[int, Field(ge=1, le=MOST_HITS, description="chunks to look at, before they are cut to the budget")]
Words = Annotated[str | None, Field(max_length=200, description="words that source or title must have")]


def add(server: MCPServer, desk: Desk) -> None:
    """Register both tools."""

    @desk.tool(server, Scope.READ, "Search documents")
    async def search_documents(
        question: Question,
        collection: CollectionName = None,
        max_tokens: Budget = USUAL_TOKENS,
        limit: Limit = DEFAULT_LIMIT,
        where: Where = None,
        recipe: Recipe = None,
    ) -> Annotated[CallToolResult, SearchResult]:
        """Find the passages of the person's documents that answer a question, and whether they suffice.

        Call it before you state anything that these documents may know. One facet per call: for "A and B" or a
        comparison call it once for each. Do not call it for general knowledge, arithmetic, the text of this
        conversation, or to see which documents there are (list_documents).
        The passages are verbatim, best first, at most `max_tokens` in all: cite them by file and page. A verdict
        "incorrect" means that the documents do not say it: then do not answer from them.
        """
        there = desk.named(collection, Scope.READ)
        found = await desk.visit.search(
            there, question, recipe=desk.recipe(recipe), limit=limit, where=where, max_tokens=max_tokens
        )
        others = [name for name in desk.names() if name != there.name]
        return fitted(
            partial(_found, there, found), len(found.spans or ()), lambda result: wording.search(result, others)
        )

    @desk.tool(server, Scope.READ, "List documents")
    async def list_documents(
        collection: CollectionName = None,
        words: Words = None,
        where: Where = None,
        limit: Annotated[int, Field(ge=1, le=200)] = 50,
        offset: Annotated[int, Field(ge=0, le=10**9)] = 0,
    ) -> Annotated[CallToolResult, DocumentList]:
        """List the collections that may be asked, and the documents of one: names, kinds, lengths, no texts.

        Call it once to learn what there is, or to find a document by its name. Do not call it to find an answer:
        search_documents reads all the texts.
        """
        there = desk.named(collection, Scope.READ)
        records = with_words(await desk.worked(lambda: there.documents(where=where)), words)
        names = desk.names()[:MOST_COLLECTIONS]
        counts = await desk.worked(lambda: [CollectionTold(name=name, documents=_number(desk, name)) for name in names])
        public_url = desk.visit.address
        shown = [
            DocumentTold(
                **record.to_dict(),
                document=resource(there.name, record.id),
                url=document_url(public_url, there.name, record),
            )
            for record in records[offset : offset + limit]
        ]

        def listed(number: int) -> DocumentList:
            end = offset + number
            return DocumentList(
                collection=there.name,
                documents=shown[:number],
                total=len(records),
                next_offset=end if end < len(records) else None,
                collections=counts,
            )

        return fitted(listed, len(shown), lambda result: wording.documents(result, offset))


def _number(desk: Desk, name: str) -> int:
    return len(desk.seen(name).opened.store.records())


def _found(collection: Collection, found: Found, number: int) -> SearchResult:
    """The result with its first `number` passages."""
    spans = found.spans or ()
    left_out = f"{len(spans) - number} passages were left out: ask for fewer tokens." if number < len(spans) else ""
    return SearchResult(
        collection=collection.name,
        recipe=found.recipe,
        verdict=None if found.verdict is None else found.verdict.value,
        confidence=found.confidence,
        reason=found.reason,
        passages=[_passage(collection, span) for span in spans[:number]],
        tokens=sum(span.tokens for span in spans[:number]),
        dropped=likeliest((one.hit.chunk, one.score.value if one.score else None, one.reason) for one in found.dropped),
        dropped_in_all=len(found.dropped),
        degraded=list(found.degraded),
        omitted=left_out,
    )


def _passage(collection: Collection, span: Excerpt) -> Passage:
    id_ = "" if span.evidence is None else span.evidence.hit.chunk.document_id
    url = url_for_people(span.url, collection.name, id_, span.source, span.page)
    told = {**span.to_dict(), "marker": span.rank, "url": url, "document": resource(collection.name, id_)}
    return Passage(**told)


def likeliest(dropped: Iterable[tuple[Chunk, float | None, str]]) -> list[Dropped]:
    """The dropped passages with the highest scores, of (chunk, score, why)."""
    best = sorted(dropped, key=lambda one: one[1] or 0.0, reverse=True)[:FEW]
    return [Dropped(source=chunk.source, page=chunk.page, score=score, why=why) for chunk, score, why in best]
