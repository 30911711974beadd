"""Reranking by the bundled judge, in the formats of Cohere (v1 and v2), Jina and text-embeddings-inference.

One handler serves all paths; the fields of a request show which format the client uses. Every document is returned
unless fewer are asked for: clients such as Open WebUI sort by `index` and read the scores by position.
"""

from __future__ import annotations

from typing import Literal
from uuid import uuid4

from fastapi import APIRouter, Request
from pydantic import BaseModel, ConfigDict, Field

from thresher import RankedText, Reranker
from thresher.models.encoders import token_count
from thresher_server.asking import check_length, check_number, while_connected, worked
from thresher_server.naming import Served
from thresher_server.openai.conversation import Text
from thresher_server.openai.problems import OpenAIRoute, openai_replies
from thresher_server.problems import Problem
from thresher_server.security.access import Asker
from thresher_server.service import Service
from thresher_server.shapes import Foreign

router = APIRouter(tags=["rerank"], route_class=OpenAIRoute)

MODEL = "thresher-judge"
COHERE_THRESHOLD = 0.1
"""Lowest score of a relevant span, if Cohere's client gives none."""


class RelevantSpans(Foreign):
    """Whether to return relevant spans, and which."""

    mode: Literal["enabled", "disabled"] = "disabled"
    threshold: float | None = Field(None, ge=0, le=1)
    max_spans: int | None = Field(None, ge=1)


class RerankRequest(Foreign):
    """A question and texts. `model` and `max_tokens_per_doc` are ignored: long texts are read whole.

    A document with several fields is read as its `text`, or as its `rank_fields`, one per line.
    """

    model: str | None = Field(None, examples=[MODEL])
    query: Text = Field(examples=["When does the ferry leave?"])
    documents: list[Text | dict[Text, Text]] | None = Field(
        None, examples=[["The ferry leaves at 06:40.", "The railway was opened in 1871."]]
    )
    texts: list[Text] | None = Field(None, description="instead of `documents`; the reply has TEI's format")
    top_n: int | None = Field(None, ge=0, description="number of results; all if omitted or 0")
    return_documents: bool | None = None
    rank_fields: list[Text] | None = None
    relevant_spans: RelevantSpans | None = None
    return_text: bool = Field(False, description="TEI only")

    @property
    def wants_spans(self) -> bool:
        """Whether spans are requested."""
        return self.relevant_spans is not None and self.relevant_spans.mode == "enabled"


class Span(BaseModel):
    """A span of a document: code points, end exclusive, and the probability that it suffices."""

    start: int
    end: int
    score: float = Field(ge=0, le=1)


class Ranked(BaseModel):
    """A document by its position in the request, from 0."""

    model_config = ConfigDict(extra="forbid")

    index: int
    relevance_score: float = Field(ge=0, le=1, description="probability that the document suffices to answer")
    document: dict[str, str] | None = None
    relevant_spans: list[Span] | None = Field(None, description="best first")


class RerankReply(BaseModel):
    """Documents, best first; ties keep the order of the request."""

    id: str
    model: str = MODEL
    results: list[Ranked]
    meta: dict[str, dict[str, str | int]] = Field(description="version, cost and tokens, as Cohere's client reads them")
    usage: dict[str, int] = Field(description="tokens, as Jina's client reads them")


class RankedByTEI(BaseModel):
    """A text by its position in the request, from 0."""

    index: int
    score: float = Field(ge=0, le=1)
    text: str | None = None


ERRORS = openai_replies()


@router.post(
    "/rerank", summary="The same, for clients of Jina and TEI", responses=ERRORS, response_model_exclude_none=True
)
@router.post(
    "/v1/rerank",
    summary="The same, for Cohere's client v1 and Open WebUI",
    responses=ERRORS,
    response_model_exclude_none=True,
)
@router.post(
    "/v2/rerank", summary="Rank texts with the bundled judge", responses=ERRORS, response_model_exclude_none=True
)
async def rerank(
    asked: RerankRequest, request: Request, caller: Asker, service: Served
) -> RerankReply | list[RankedByTEI]:
    """Texts, best first, each with the probability that it suffices to answer, independent of the other texts."""
    texts = _texts(asked, service)
    ask, spans = Reranker(service.engine.models), asked.relevant_spans or RelevantSpans()
    least = COHERE_THRESHOLD if spans.threshold is None else spans.threshold

    def work() -> tuple[list[RankedText], int]:
        top_n = asked.top_n or None
        ranked = ask(asked.query, texts, top_n=top_n, spans=asked.wants_spans, span_score=least)
        return ranked, sum(map(token_count, [asked.query, *texts]))

    ranked, tokens = await while_connected(request, worked(service, work))
    if asked.texts is not None:
        return [_as_tei(one, texts, asked) for one in ranked]
    return RerankReply(
        id=str(uuid4()),
        results=[_result(one, asked) for one in ranked],
        meta={"api_version": {"version": "2"}, "billed_units": {"search_units": 1}, "tokens": {"input_tokens": tokens}},
        usage={"prompt_tokens": tokens, "total_tokens": tokens},
    )


def _texts(asked: RerankRequest, service: Service) -> list[str]:
    """The text of each document. Raises Problem 422 for no documents, too many, and one without the fields."""
    check_length(service, asked.query)
    given = asked.texts if asked.texts is not None else asked.documents
    if given is None:
        raise Problem(422, "is not given", subject="documents", next_step="send a list of texts")
    check_number(service, given, "documents")
    return [one if isinstance(one, str) else _of_fields(one, at, asked.rank_fields) for at, one in enumerate(given)]


def _of_fields(document: dict[str, str], at: int, names: list[str] | None) -> str:
    wanted = names or ["text"]
    found = [document[name] for name in wanted if name in document]
    if not found:
        subject, fields = f"document {at}", ", ".join(wanted)
        raise Problem(422, f"has no {fields}", subject=subject, next_step="give it, or name others in rank_fields")
    return "\n".join(found)


def _result(one: RankedText, asked: RerankRequest) -> Ranked:
    assert asked.documents is not None
    given = asked.documents[one.index]
    document = {"text": given} if isinstance(given, str) else given
    return Ranked(
        index=one.index,
        relevance_score=one.score,
        document=document if asked.return_documents else None,
        relevant_spans=_spans(one, asked),
    )


def _spans(one: RankedText, asked: RerankRequest) -> list[Span] | None:
    """Best first; None if none were requested or none is relevant: Cohere leaves them out then."""
    if not asked.wants_spans or asked.relevant_spans is None:
        return None
    best = sorted(one.spans, key=lambda span: -span.score)[: asked.relevant_spans.max_spans]
    return [Span(start=span.start, end=span.end, score=span.score) for span in best] or None


def _as_tei(one: RankedText, texts: list[str], asked: RerankRequest) -> RankedByTEI:
    return RankedByTEI(index=one.index, score=one.score, text=texts[one.index] if asked.return_text else None)
