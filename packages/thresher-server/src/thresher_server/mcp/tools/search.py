"""`search_documents`: the passages that answer a question, within a budget of tokens, and the verdict on them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated

from mcp.server import MCPServer
from mcp_types import CallToolResult
from pydantic import Field

from thresher.collection import DEFAULT_LIMIT, Collection
from thresher.types import Excerpt, Judgement
from thresher.types import SearchResult as Found
from thresher_server.asking import check_length
from thresher_server.mcp import wording
from thresher_server.mcp.addresses import opened, resource
from thresher_server.mcp.desk import Desk, told
from thresher_server.mcp.fitting import Reply, fitted
from thresher_server.mcp.shapes import Dropped, Passage, SearchResult
from thresher_server.mcp.tools.arguments import MOST_TOKENS, READS, CollectionName, Question, Recipe, Where, described
from thresher_server.security.keys import Scope

USUAL_TOKENS = 800
MOST_HITS = 50

FEW = 5
"""Dropped passages shown: enough to see whether the search went wrong."""

Budget = Annotated[int, Field(ge=1, le=MOST_TOKENS, description="tokens of passages at most; fewer are often enough")]
Limit = Annotated[int, Field(ge=1, le=MOST_HITS, description="chunks to look at, before they are cut to the budget")]


def add(server: MCPServer, desk: Desk) -> None:
    """Register the tool."""
    tool = Searching(desk).search_documents
    server.add_tool(tool, title="Search documents", description=described(tool), annotations=READS)
    desk.scopes[tool.__name__] = Scope.READ


@dataclass(frozen=True, slots=True)
class Searching:
    """The tool `search_documents`."""

    desk: Desk

    @told
    async def search_documents(
        self,
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
        desk = self.desk
        there = desk.named(collection, Scope.READ)
        check_length(desk.service, question)
        searching = partial(
            there.search,
            question,
            recipe=desk.recipe(recipe),
            limit=limit,
            where=where,
            settings=desk.settings,
            max_tokens=max_tokens,
        )
        found = await desk.worked(searching)
        desk.did("search", there)
        others = [name for name in desk.names() if name != there.name]

        def reply(number: int) -> Reply:
            result = search_result(there, found, number)
            return Reply(wording.search(result, others), result)

        return fitted(reply, len(found.spans or ()))


def search_result(collection: Collection, found: Found, number: int) -> SearchResult:
    """The result with its first `number` passages."""
    spans = found.spans or ()
    shown = [passage(collection, span) for span in spans[:number]]
    left_out = f"{len(spans) - number} passages were left out: ask for fewer tokens." if number < len(spans) else ""
    return SearchResult(
        collection=collection.name,
        recipe=found.recipe,
        verdict=None if found.verdict is None else found.verdict.value,
        confidence=found.confidence,
        reason=found.reason,
        passages=shown,
        tokens=sum(span.tokens for span in spans[:number]),
        dropped=likeliest(found.dropped),
        dropped_in_all=len(found.dropped),
        degraded=list(found.degraded),
        omitted=left_out,
    )


def passage(collection: Collection, span: Excerpt) -> Passage:
    """A span with its source and address."""
    chunk = None if span.evidence is None else span.evidence.hit.chunk
    id_ = "" if chunk is None else chunk.document_id
    return Passage(
        marker=span.rank,
        text=span.text,
        heading=span.heading,
        score=span.score.value,
        source=span.source,
        title=span.title,
        page=span.page,
        start=span.start,
        end=span.end,
        url=opened(span.url, collection.name, id_, span.source, span.page),
        document=resource(collection.name, id_),
    )


def likeliest(judgements: Sequence[Judgement]) -> list[Dropped]:
    """The dropped passages with the highest scores."""
    best = sorted(judgements, key=lambda one: one.score.value if one.score else 0.0, reverse=True)
    return [
        Dropped(
            source=one.hit.chunk.source,
            page=one.hit.chunk.page,
            score=one.score.value if one.score else None,
            why=one.reason,
        )
        for one in best[:FEW]
    ]
