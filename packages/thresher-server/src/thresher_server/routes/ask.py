"""Questions: answered as one reply, or as a stream of events."""

from __future__ import annotations

import json
from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable
from itertools import count
from typing import Annotated, Any

from fastapi import APIRouter, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import JSONResponse, Response
from pydantic import Field
from sse_starlette import EventSourceResponse, ServerSentEvent

from thresher.answer import Answer
from thresher.collection import Collection
from thresher.errors import ThresherError
from thresher.links import Links, file_name
from thresher.parts.judging import ABSOLUTE
from thresher.types import PROBABILITY, Correction, Decision, Judged, Judgement, Refined, Score, Step
from thresher_server.asking import Event, Question, while_connected
from thresher_server.conversations import TURN_CHARACTERS, Conversations, check_room
from thresher_server.naming import Opened, Served
from thresher_server.problems import Problem, problem_of, replies
from thresher_server.routes.search import Recipe, Settings, Tokens, Where
from thresher_server.searching import address_of
from thresher_server.security.access import Asker, check, check_settings
from thresher_server.security.keys import Caller, Scope
from thresher_server.service import Service
from thresher_server.settings import PUBLIC_URL
from thresher_server.shapes import EVENT_STREAM, AnswerReply, Body

COMPARED = ABSOLUTE
"""The score compared with the bounds where a hit has it, instead of the judge's own."""


router = APIRouter(prefix="/api/collections/{collection}", tags=["ask"])

MOST_HISTORY = 50

MOST_BUDGET = 1_000_000_000

PING_SECONDS = 15
"""Between two comments in a silent stream; proxies give up after 60 seconds of silence."""

Budget = Annotated[int | None, Field(ge=0, le=MOST_BUDGET)]


class Grains:
    """The state of each chunk so far, in the order of retrieval."""

    def __init__(self, public_url: str, collection: str, other: str = "") -> None:
        self._links = Links(public_url, collection, other)
        self._chunks: dict[str, dict[str, Any]] = {}

    def after(self, step: Step) -> dict[str, Any]:
        """`chunks` after a step that touched some, with `thresholds` after `decide`; empty for other steps."""
        match step.value:
            case Judged() | Refined() | Correction():
                self._judged(step.value.judgements, step.name)
                return {"chunks": self.now}
            case Decision():
                self._decided(step)
                return {"chunks": self.now, "thresholds": _thresholds(step)}
        return {}

    @property
    def now(self) -> list[dict[str, Any]]:
        """The state of every chunk."""
        return [dict(chunk) for chunk in self._chunks.values()]

    def _judged(self, judgements: Iterable[Judgement], slot: str) -> None:
        for judgement in judgements:
            told = self._chunks.setdefault(judgement.hit.chunk.id, self._placed(judgement))
            told["kept"] = judgement.keep
            told["reason"] = judgement.reason or told["reason"]
            score = judgement.hit.scores.get(COMPARED) or judgement.score
            if slot != "refine" and score is not None:
                told |= {**_scored(score), "judged": slot in ("judge", "correct")}

    def _decided(self, step: Step) -> None:
        """Mark what the verdict drops, as `thresher.pipeline.select` does."""
        if step.detail.get("verdict") != "incorrect":
            return
        for chunk in self._chunks.values():
            if chunk["kept"]:
                chunk |= {"kept": False, "reason": "the verdict is incorrect"}

    def _placed(self, judgement: Judgement) -> dict[str, Any]:
        hit = judgement.hit
        chunk = hit.chunk
        return {
            "id": chunk.id,
            "label": chunk.label,
            "source": file_name(chunk.source),
            "title": chunk.title,
            "page": chunk.page,
            "start": chunk.start,
            "end": chunk.end,
            "url": self._links.hit(hit).url,
            "origin": str(hit.origin),
            **_scored(hit.score),
            "probability": None,
            "kept": judgement.keep,
            "reason": judgement.reason,
        }


def _scored(score: Score) -> dict[str, Any]:
    told: dict[str, Any] = {"score": score.value, "scale": str(score.scale)}
    return {**told, "probability": score.value} if score.scale == PROBABILITY else told


def _thresholds(step: Step) -> dict[str, float] | None:
    lower, upper = step.detail.get("lower"), step.detail.get("upper")
    return None if lower is None or upper is None else {"lower": float(lower), "upper": float(upper)}


class QuestionBody(Body):
    """A question and its options."""

    question: str = Field(min_length=1, examples=["When was the lighthouse built?"])
    recipe: Recipe = None
    outside: str | None = Field(
        None, max_length=200, description="none, web or collection:NAME", examples=["collection:archive"]
    )
    where: Where = None
    settings: Settings = None
    strict: bool | None = Field(None, description="refuse if something that the recipe needs is unavailable")
    budget_calls: Budget = Field(None, description="model calls at most")
    budget_tokens: Budget = Field(None, description="tokens of prompts and replies at most")
    budget_seconds: float | None = Field(None, ge=0, le=86_400, description="seconds at most")
    max_tokens: Tokens = None
    history: list[tuple[str, str]] = Field(
        default_factory=list, max_length=MOST_HISTORY, description="earlier questions and answers, the oldest first"
    )
    conversation: str | None = Field(
        None, max_length=100, description="id of a conversation that the question follows up on and is added to"
    )
    stream: bool | None = Field(None, description="events instead of one object; by default as the header Accept asks")


STREAM: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The answer; or, streamed, the events `step`, `sentence`, `answer` and `error`.",
        "content": EVENT_STREAM,
    }
}


@router.post("/ask", summary="Ask", response_model=AnswerReply, responses=replies(404, 409, 502, 504, 507) | STREAM)
async def ask(caller: Asker, collection: Opened, body: QuestionBody, service: Served, request: Request) -> Response:
    """The answer with its citations, or an abstention with its reason; kept as a trace.

    Streamed, `step` reports each step as it ends (`chunks` has the state of each chunk so far), `sentence` each
    sentence as it is written and checked, `answer` the whole answer. A client that disconnects ends the question.
    """
    options = await run_in_threadpool(_options, service, caller, collection, body, request)
    conversation = Conversations(service.home, caller)

    def keep(answer: Answer) -> None:
        if body.conversation is not None:
            conversation.add(collection.name, body.conversation, answer.to_dict())

    question = Question(service, caller, collection, body.question, options)
    if _is_streamed(body, request):
        told = _told(await question.begun(), Grains(options["settings"][PUBLIC_URL], collection.name), keep)
        return EventSourceResponse(told, ping=PING_SECONDS, sep="\n")
    answer = await while_connected(request, question.answer())
    await run_in_threadpool(keep, answer)
    return JSONResponse(answer.to_dict())


def _options(
    service: Service, caller: Caller, collection: Collection, body: QuestionBody, request: Request
) -> dict[str, Any]:
    """The options of `Collection.ask`. Raises Problem 403 and 404 for what the caller may not use."""
    kind, _, other = (body.outside or "").partition(":")
    if kind == "collection" and other:
        check(caller, Scope.READ, other)
    history = [(asked[:TURN_CHARACTERS], told[:TURN_CHARACTERS]) for asked, told in body.history]
    if body.conversation is not None:
        found = Conversations(service.home, caller).get(collection.name, body.conversation)
        check_room(found)
        history = found.history(collection.opened.showing()) + history
    given: dict[str, Any] = {
        "recipe": body.recipe or service.front.recipe,
        "outside": body.outside,
        "where": body.where,
        "settings": {PUBLIC_URL: address_of(service, request), **check_settings(caller, body.settings)},
        "strict": service.front.strict if body.strict is None else body.strict,
        "history": history,
    }
    for name in ("budget_calls", "budget_tokens", "budget_seconds", "max_tokens"):
        if (value := getattr(body, name)) is not None:
            given[name] = value
    return given


def _is_streamed(body: QuestionBody, request: Request) -> bool:
    if body.stream is not None:
        return body.stream
    return "text/event-stream" in request.headers.get("accept", "")


async def _told(
    follow: AsyncIterable[Event], grains: Grains, keep: Callable[[Answer], None]
) -> AsyncIterator[ServerSentEvent]:
    numbers = count(1)

    def event(name: str, data: Any) -> ServerSentEvent:
        return ServerSentEvent(json.dumps(data, ensure_ascii=False), event=name, id=str(next(numbers)))

    try:
        async for one in follow:
            match one:
                case Step():
                    yield event("step", {**one.to_dict(), **grains.after(one)})
                case str():
                    yield event("sentence", {"text": one})
                case Answer():
                    await run_in_threadpool(keep, one)
                    yield event("answer", one.to_dict())
    except Problem as problem:
        yield event("error", problem.body)
    except ThresherError as error:
        yield event("error", problem_of(error).body)
    except Exception as error:  # the reply has begun: sent to the client here, logged by the raise
        yield event("error", Problem(500, f"failed ({type(error).__name__})", subject="the question").body)
        raise
