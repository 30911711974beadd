"""Dify's external knowledge API, which RAGFlow and others use too: `POST /retrieval` below the operator's address.

Formats follow Dify's documentation ("External Knowledge API"); `knowledge_id` is `COLLECTION` or `COLLECTION/RECIPE`.
"""

from __future__ import annotations

from typing import Any, Literal

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field

from thresher.links import file_name
from thresher.types import Hit
from thresher_server.naming import Served
from thresher_server.openai.conversation import Text
from thresher_server.problems import ErrorDetail, Problem, ShapedRoute
from thresher_server.searching import condition, joined, search_hits, share
from thresher_server.security.access import Reader
from thresher_server.shapes import Foreign

MOST_RECORDS = 100
"""Dify's own slider ends at 10, RAGFlow's at 100."""
MOST_CONDITIONS = 100

HEADER_MALFORMED, KEY_REFUSED, NO_SUCH_KNOWLEDGE = 1001, 1002, 2001
"""Error codes of Dify's documentation; other errors have their HTTP status as code."""


class Condition(Foreign):
    """A condition on one field of the metadata, or on one of several."""

    name: Text | list[Text] = Field(examples=["kind"])
    comparison_operator: str = Field(examples=["is"])
    value: Text | int | float | bool | list[Text | int | float] | None = Field(None, examples=["pdf"])


class MetadataCondition(Foreign):
    """All conditions, or at least one."""

    logical_operator: Literal["and", "or"] = "and"
    conditions: list[Condition] = Field([], max_length=MOST_CONDITIONS)


class RetrievalSetting(Foreign):
    """Number of records and lowest score."""

    top_k: int = Field(5, ge=1, le=MOST_RECORDS)
    score_threshold: float | None = Field(0.0, ge=0, le=1, description="0 for all")


class Retrieval(Foreign):
    """A question to a knowledge base."""

    knowledge_id: Text = Field(examples=["default"], description="COLLECTION or COLLECTION/RECIPE")
    query: Text = Field(examples=["When was the lighthouse built?"])
    retrieval_setting: RetrievalSetting = RetrievalSetting()
    metadata_condition: MetadataCondition | None = None


class Record(BaseModel):
    """A passage of a document."""

    content: str
    score: float = Field(ge=0, le=1)
    title: str
    metadata: dict[str, str | int] = Field(
        description="source, document_id, start, end, url, and page where it has one"
    )


class Records(BaseModel):
    """Passages, best first."""

    records: list[Record]


class DifyError(BaseModel):
    """Every error reply, with our own error."""

    error_code: int = Field(examples=[NO_SUCH_KNOWLEDGE])
    error_msg: str
    error: ErrorDetail


class DifyRoute(ShapedRoute):
    """A route with errors in Dify's format."""

    def shaped(self, problem: Problem, request: Request) -> Response:
        """Dify's code, with our own error."""
        told = {"error_code": _code(problem, request), "error_msg": problem.body["error"]["message"]}
        if problem.status == 401:
            problem.status = 403  # Dify shows this one to people who enter an address
        return JSONResponse({**told, **problem.body}, problem.status, problem.headers)


def _code(problem: Problem, request: Request) -> int:
    if problem.status == 401 and not request.headers.get("authorization", "").lower().startswith("bearer "):
        return HEADER_MALFORMED
    return {401: KEY_REFUSED, 403: KEY_REFUSED, 404: NO_SUCH_KNOWLEDGE}.get(problem.status, problem.status)


router = APIRouter(tags=["dify"], route_class=DifyRoute)
ERRORS: dict[int | str, dict[str, Any]] = {
    status: {"model": DifyError} for status in (400, 403, 404, 409, 413, 422, 429, 500, 502, 503, 504)
}


@router.post("/retrieval", summary="Passages for Dify's external knowledge", responses=ERRORS)
@router.post("/dify/retrieval", summary="The same, where /retrieval is in use", responses=ERRORS)
async def retrieval(asked: Retrieval, request: Request, caller: Reader, service: Served) -> Records:
    """Passages of a collection for a question, filtered by the recipe's judge if it has one; scores from 0 to 1."""
    setting = asked.retrieval_setting
    hits = await search_hits(
        service, request, caller, asked.knowledge_id, asked.query, limit=setting.top_k, where=_where(asked)
    )
    records = map(_record, hits)
    return Records(records=[one for one in records if one.score >= (setting.score_threshold or 0.0)])


def _record(hit: Hit) -> Record:
    chunk = hit.chunk
    place = {"document_id": chunk.document_id, "start": chunk.start, "end": chunk.end, "url": hit.url}
    page = {} if chunk.page is None else {"page": chunk.page}
    return Record(
        content=chunk.text,
        score=share(hit.score),
        title=chunk.title or file_name(chunk.source),
        metadata={"source": chunk.source, **place, **page},
    )


# --- conditions


def _where(asked: Retrieval) -> str | None:
    """The conditions as a filter. Raises Problem 422 for an invalid one."""
    if asked.metadata_condition is None:
        return None
    each = list(map(_either, asked.metadata_condition.conditions))
    return joined(each, asked.metadata_condition.logical_operator)


def _either(asked: Condition) -> str:
    names = [asked.name] if isinstance(asked.name, str) else asked.name
    told = joined([_condition(name, asked) for name in names], "or")
    if told is None:
        raise Problem(422, "names no field", subject="metadata_condition", next_step="give a name")
    return told


def _condition(name: str, asked: Condition) -> str:
    operator = OPERATORS.get(asked.comparison_operator.strip().lower())
    if operator is None:
        subject = f"comparison_operator {asked.comparison_operator!r}"
        raise Problem(422, "is no comparison", subject=subject, next_step=f"use one of {', '.join(OPERATORS)}")
    if operator.endswith("empty"):
        return condition(name, operator)
    if operator.endswith("in"):
        return condition(name, operator, _values(asked))
    if asked.value is None:
        raise Problem(422, f"needs one value with {operator!r}", subject=f"field {name}", next_step="give it")
    return condition(name, operator, asked.value)


WORDS = ("contains", "not contains", "start with", "end with", "in", "not in", "empty", "not empty")
OPERATORS = {
    **{operator: operator for operator in ("=", "!=", "<", "<=", ">", ">=", *WORDS)},
    **{"is": "=", "is not": "!=", "before": "<", "after": ">", "≠": "!=", "≤": "<=", "≥": ">="},
    **{"null": "empty", "not null": "not empty"},
}
"""Dify's comparisons by ours."""


def _values(condition: Condition) -> list[str | int | float]:
    match condition.value:
        case list() as values:
            return values
        case str() as text:
            return [part.strip() for part in text.split(",") if part.strip()]
        case None:
            return []
        case single:
            return [single]
