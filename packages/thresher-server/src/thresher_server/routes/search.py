"""Searches, and checks of texts against the documents."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse
from pydantic import Field

from thresher_server.asking import check_length
from thresher_server.naming import Opened, Served
from thresher_server.problems import replies
from thresher_server.searching import Visit
from thresher_server.security.access import Asker, Reader, check_settings
from thresher_server.shapes import Body, CheckReply, SearchReply

router = APIRouter(prefix="/api/collections/{collection}", tags=["search"], responses=replies(404))

MOST_HITS = 200
MOST_TOKENS = 1_000_000
LONGEST_FILTER = 2000

Recipe = Annotated[str | None, Field(max_length=100, description="a recipe by name; the server's default if not given")]
Where = Annotated[
    str | None,
    Field(max_length=LONGEST_FILTER, description="a filter on metadata", examples=["kind = 'pdf' AND page <= 3"]),
]
Settings = Annotated[
    dict[str, Any] | None,
    Field(description="settings of the recipe by dotted key", examples=[{"answer.style": "short"}]),
]
Tokens = Annotated[
    int | None,
    Field(ge=1, le=MOST_TOKENS, description="tokens of evidence at most: the smallest set of spans, best first"),
]


class SearchBody(Body):
    """A search and its options."""

    question: str = Field(min_length=1, examples=["When was the lighthouse built?"])
    recipe: Recipe = None
    limit: int = Field(5, ge=1, le=MOST_HITS, description="passages at most")
    where: Where = None
    max_tokens: Tokens = None
    settings: Settings = None


class CheckBody(Body):
    """A text to check."""

    text: str = Field(min_length=1, examples=["The lighthouse was built in 1849."])
    recipe: Recipe = None
    where: Where = None


@router.post("/search", summary="Find passages", response_model=SearchReply)
async def search(
    caller: Reader, collection: Opened, body: SearchBody, service: Served, request: Request
) -> JSONResponse:
    """Passages, best first, filtered by the recipe's judge if it has one; never from outside."""
    found = await Visit.of(service, request, caller).search(
        collection,
        body.question,
        recipe=body.recipe or service.front.recipe,
        limit=body.limit,
        where=body.where,
        settings=check_settings(caller, body.settings),
        max_tokens=body.max_tokens,
    )
    return JSONResponse(found.to_dict())


@router.post("/check", summary="Check a text against the documents", response_model=CheckReply)
async def check(caller: Asker, collection: Opened, body: CheckBody, service: Served, request: Request) -> JSONResponse:
    """Every claim of the text with its state and the spans that show it. No chat model is called."""
    check_length(service, body.text)
    recipe = body.recipe or service.front.recipe
    found = await Visit.of(service, request, caller).check(collection, body.text, recipe=recipe, where=body.where)
    return JSONResponse(found.to_dict())
