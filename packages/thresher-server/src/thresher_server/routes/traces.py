"""Past questions: list, explain, replay, feedback, expect."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query
from fastapi.responses import JSONResponse
from pydantic import Field

from thresher.collection import Collection
from thresher.errors import StoreError, UsageError
from thresher_server.asking import worked
from thresher_server.naming import READING, Opened, Served
from thresher_server.problems import Problem, replies
from thresher_server.routes.expectations import ExpectedReply, expect
from thresher_server.security.access import Asker, Askers, Writer
from thresher_server.security.keys import Caller
from thresher_server.service import Service
from thresher_server.shapes import Body, ExplainReply, FeedbackReply, ReplayReply, Reply, TraceLine

router = APIRouter(prefix="/api/collections/{collection}/traces", tags=["traces"], responses=replies(404))

TraceId = Annotated[str, Path(max_length=100, description="the `trace` of an answer", examples=["1f6c0a3e5b7d"])]

LINE = ("trace", "question", "text", "state", "abstained", "verdict", "confidence", "certainty", "recipe")


class TraceList(Reply):
    """Past questions, the newest first."""

    traces: list[TraceLine]


class FeedbackBody(Body):
    """Feedback on an answer."""

    right: bool
    answer: str | None = Field(None, max_length=8000, description="the right answer, if it was wrong")


@router.get("", summary="List past questions", dependencies=[READING])
def listed(
    caller: Asker,
    collection: Opened,
    service: Served,
    limit: Annotated[int, Query(ge=1, le=500)] = 50,
    before: Annotated[
        datetime | None, Query(description="only questions asked before: `asked` of the last one of a page")
    ] = None,
    own: Annotated[bool, Query(description="for an admin too only the caller's own")] = False,
) -> TraceList:
    """The caller's own questions, or everybody's for an admin, the newest first; the last thousand are kept."""
    askers, said, shows = Askers(service.home), _said(collection, caller), collection.opened.showing()
    told: list[TraceLine] = []
    for trace, asked in reversed(collection.traces.asked()):
        if before is not None and asked >= _aware(before):
            continue
        if not (askers.has_asked if own else askers.may_see)(caller, collection.name, trace):
            continue
        line = _line(collection, shows, trace, asked, said.get(trace))
        if line is not None:
            told.append(line)
        if len(told) == limit:
            break
    return TraceList(traces=told)


@router.get("/{trace}", summary="Explain an answer", response_model=ExplainReply, dependencies=[READING])
def explain(caller: Asker, collection: Opened, trace: TraceId, service: Served) -> JSONResponse:
    """The stored answer with the state of every chunk that its question touched."""
    asked = _asked(service, caller, collection, trace)
    stored = {**collection.stored(trace), "labels": collection.traces.labels(trace)}
    said = _said(collection, caller).get(trace)
    told = {**stored, "asked": asked.isoformat(), "feedback": None if said is None else said.model_dump()}
    return JSONResponse(told)


@router.post("/{trace}/replay", summary="Answer again", response_model=ReplayReply, responses=replies(409))
async def replay(caller: Asker, collection: Opened, trace: TraceId, service: Served) -> JSONResponse:
    """Answers again from the stored replies and pages, sends nothing anywhere, and reports what differs."""
    _asked(service, caller, collection, trace)
    answer, differences = await worked(service, lambda: collection.replay(trace))
    return JSONResponse({"answer": answer.to_dict(), "differences": differences})


@router.post("/{trace}/feedback", summary="Say whether an answer is right")
async def feedback(
    caller: Asker, collection: Opened, trace: TraceId, body: FeedbackBody, service: Served
) -> FeedbackReply:
    """Stored as a label for calibration and training; it replaces earlier feedback."""
    _asked(service, caller, collection, trace)
    label = await worked(service, lambda: collection.feedback(trace, body.right, body.answer, by=caller.identity))
    service.audit.write(caller.name, "feedback", collection=collection.name, trace=trace, right=body.right)
    return FeedbackReply(right=label.right, answer=label.answer)


@router.post("/{trace}/expectation", summary="Expect an answer from now on")
async def expected(caller: Writer, collection: Opened, trace: TraceId, service: Served) -> ExpectedReply:
    """The caller confirms the answer: it is written to the file of expectations, and labelled as right."""
    _asked(service, caller, collection, trace)

    def confirm() -> ExpectedReply:
        reply = expect(service, caller, collection.stored(trace))
        collection.feedback(trace, True, by=caller.identity)
        return reply

    reply = await worked(service, confirm)
    service.audit.write(caller.name, "expect", collection=collection.name, trace=trace)
    return reply


def _asked(service: Service, caller: Caller, collection: Collection, trace: str) -> datetime:
    """When the question of a trace was asked. Raises Problem 404, also for another caller's question."""
    is_id = trace.isascii() and trace.isalnum()
    asked = collection.traces.asked_at(trace) if is_id else None
    may_see = asked is not None and Askers(service.home).may_see(caller, collection.name, trace)
    if asked is None or not (may_see and collection.opened.showing()(collection.traces.load(trace))):
        raise Problem(404, "is not there", subject=f"trace {trace}", next_step="see the list of traces")
    return asked


def _aware(time: datetime) -> datetime:
    return time if time.tzinfo else time.replace(tzinfo=UTC)


def _line(
    collection: Collection,
    shows: Callable[[Mapping[str, Any]], bool],
    trace: str,
    asked: datetime,
    said: FeedbackReply | None,
) -> TraceLine | None:
    """None for a trace that is damaged or was just removed, and for one that quotes what is hidden from the caller."""
    try:
        stored = collection.traces.load(trace)
        if not shows(stored):
            return None
        told = {name: stored.get(name) for name in LINE}
    except (UsageError, StoreError, AttributeError):
        return None
    return TraceLine(**told, asked=asked.isoformat(), feedback=said)


def _said(collection: Collection, caller: Caller) -> dict[str, FeedbackReply]:
    return {
        one.trace: FeedbackReply(right=one.right, answer=one.answer)
        for one in collection.labels.labels()
        if one.by == caller.identity
    }
