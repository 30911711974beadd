"""OpenAI's search of a vector store: `client.vector_stores.search(COLLECTION, query=...)`."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Path, Request
from pydantic import BaseModel, Field

from thresher.links import file_name
from thresher.types import Hit
from thresher_server.naming import Served
from thresher_server.openai.conversation import Text
from thresher_server.openai.problems import OpenAIRoute, openai_replies
from thresher_server.searching import condition, joined, search_hits, share
from thresher_server.security.access import Reader
from thresher_server.shapes import Foreign

router = APIRouter(tags=["openai"], route_class=OpenAIRoute)

MOST_RESULTS = 50
"""OpenAI's own limit."""
MOST_QUERIES = 10
LONGEST_ATTRIBUTE = 512
"""Characters: OpenAI's limit."""

COMPARED = {"eq": "=", "ne": "!=", "gt": ">", "gte": ">=", "lt": "<", "lte": "<=", "in": "in", "nin": "not in"}


class ComparisonFilter(Foreign):
    """A field of the metadata compared with one value or several."""

    type: Literal["eq", "ne", "gt", "gte", "lt", "lte", "in", "nin"]
    key: Text = Field(min_length=1, examples=["kind"])
    value: Text | int | float | bool | list[Text | int | float] = Field(examples=["pdf"])


class CompoundFilter(Foreign):
    """All filters, or at least one."""

    type: Literal["and", "or"]
    filters: list[ComparisonFilter | CompoundFilter] = Field(min_length=1, max_length=100)


class RankingOptions(Foreign):
    """Lowest score of a result; `ranker` is ignored, the recipe has its own."""

    score_threshold: float = Field(0.0, ge=0, le=1)


class VectorStoreSearch(Foreign):
    """A question to a vector store; several are searched one by one, and the best passages are returned."""

    query: Text | Annotated[list[Text], Field(min_length=1, max_length=MOST_QUERIES)] = Field(
        examples=["When was the lighthouse built?"]
    )
    filters: ComparisonFilter | CompoundFilter | None = None
    max_num_results: int = Field(10, ge=1, le=MOST_RESULTS)
    ranking_options: RankingOptions | None = None


class TextContent(BaseModel):
    """The text of a passage."""

    type: Literal["text"] = "text"
    text: str


class StoreHit(BaseModel):
    """A passage; `file_id` is its document's id."""

    file_id: str
    filename: str
    score: float = Field(ge=0, le=1)
    attributes: dict[str, str | int] = Field(description="title, source, url, start, end, and page where it has one")
    content: list[TextContent]


class StoreHits(BaseModel):
    """All passages, best first, on one page."""

    object: Literal["vector_store.search_results.page"] = "vector_store.search_results.page"
    search_query: list[str]
    data: list[StoreHit]
    has_more: bool = False
    next_page: str | None = None


@router.post(
    "/v1/vector_stores/{vector_store_id:path}/search",
    summary="Search a collection as OpenAI's vector store",
    responses=openai_replies(),
)
async def search(
    asked: VectorStoreSearch,
    vector_store_id: Annotated[str, Path(description="COLLECTION or COLLECTION/RECIPE", examples=["default"])],
    request: Request,
    caller: Reader,
    service: Served,
) -> StoreHits:
    """Passages of a collection for a question, filtered by the recipe's judge if it has one; scores from 0 to 1."""
    queries = [asked.query] if isinstance(asked.query, str) else asked.query
    where = None if asked.filters is None else _where(asked.filters)
    best: dict[str, Hit] = {}
    for query in queries:
        limit = asked.max_num_results
        for hit in await search_hits(service, request, caller, vector_store_id, query, limit=limit, where=where):
            known = best.get(hit.chunk.id)
            if known is None or share(known.score) < share(hit.score):
                best[hit.chunk.id] = hit
    least = asked.ranking_options.score_threshold if asked.ranking_options else 0.0
    rows = sorted(map(_row, best.values()), key=lambda row: -row.score)
    return StoreHits(search_query=queries, data=[row for row in rows if row.score >= least][: asked.max_num_results])


def _row(hit: Hit) -> StoreHit:
    chunk = hit.chunk
    texts = {"title": chunk.title, "source": chunk.source, "url": hit.url}
    attributes: dict[str, str | int] = {name: text[:LONGEST_ATTRIBUTE] for name, text in texts.items()}
    attributes |= {"start": chunk.start, "end": chunk.end}
    if chunk.page is not None:
        attributes["page"] = chunk.page
    return StoreHit(
        file_id=chunk.document_id,
        filename=file_name(chunk.source),
        score=share(hit.score),
        attributes=attributes,
        content=[TextContent(text=chunk.text)],
    )


def _where(asked: ComparisonFilter | CompoundFilter) -> str:
    if isinstance(asked, CompoundFilter):
        return joined([_where(one) for one in asked.filters], asked.type) or ""
    return condition(asked.key, COMPARED[asked.type], asked.value)
