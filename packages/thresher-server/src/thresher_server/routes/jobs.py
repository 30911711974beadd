"""Jobs: start a calibration, list, follow, cancel."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path, Query
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import JSONResponse, Response
from pydantic import Field
from sse_starlette import EventSourceResponse, ServerSentEvent

from thresher import recipes
from thresher_server.client.reading import Progress
from thresher_server.jobs.store import Job, Jobs
from thresher_server.jobs.worker import STARTS_A_JOB, started, wake
from thresher_server.naming import LONGEST_NAME, READING, Opened, Served
from thresher_server.problems import Problem, replies
from thresher_server.security.access import Known, Writer
from thresher_server.security.keys import Caller, Scope
from thresher_server.service import Service
from thresher_server.shapes import EVENT_STREAM, Body, Reply

router = APIRouter(tags=["jobs"])

LOOK_SECONDS = 0.3
"""Between two polls of a job's file, which another process may write."""

PING_SECONDS = 15

JobId = Annotated[str, Path(max_length=100, examples=["20260105T101500-1f6c0a3e"])]


MOST_QUESTIONS = 5000


class JobReply(Reply):
    """A job with the last lines of its log."""

    id: str
    kind: Literal["add", "reindex", "calibrate"]
    collection: str
    state: Literal["queued", "running", "done", "partly", "failed", "cancelled"]
    made: str
    started: str | None
    ended: str | None
    progress: Progress
    log: list[str]
    result: dict[str, Any] | None = Field(description="the report of an indexing, or the calibration")
    error: dict[str, Any] | None


class JobList(Reply):
    """Jobs, the newest first."""

    jobs: list[JobReply]


@router.get("/api/jobs", summary="List jobs", responses=replies(), dependencies=[READING])
def listed(
    caller: Known,
    service: Served,
    collection: Annotated[str | None, Query(max_length=LONGEST_NAME)] = None,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
) -> JobList:
    """Jobs of the key's collections, the newest first, without their logs."""
    found = [job for job in Jobs(service.home).all() if _may_see(caller, job) and collection in (None, job.collection)]
    return JobList(jobs=[JobReply(**job.to_dict([])) for job in found[:limit]])


@router.get("/api/jobs/{job}", summary="One job", responses=replies(404))
def one(caller: Known, job: JobId, service: Served) -> JobReply:
    """A job with its progress, the last lines of its log, and its report once it has ended."""
    return JobReply(**_told(service, caller, job))


@router.post("/api/jobs/{job}/cancel", summary="Cancel a job", responses=replies(404))
def cancel(caller: Known, job: JobId, service: Served) -> JobReply:
    """The job ends between two documents; committed documents stay. A job that has ended does not change."""
    found = _seen(service, caller, job)
    if not caller.may(Scope.WRITE, found.collection):
        raise Problem(403, "the key lacks the scope write", next_step="ask the operator for one that has")
    Jobs(service.home).cancel(job)
    wake(service)
    service.audit.write(caller.name, "cancel", collection=found.collection, job=job)
    return JobReply(**_told(service, caller, job))


@router.get(
    "/api/jobs/{job}/events",
    summary="Follow a job",
    response_class=Response,
    responses=replies(404) | {200: {"content": EVENT_STREAM, "description": "events"}},
)
async def events(caller: Known, job: JobId, service: Served) -> Response:
    """`progress` with the job at each change, and `end` with the ended job."""
    await run_in_threadpool(_seen, service, caller, job)
    return EventSourceResponse(_followed(service, caller, job), ping=PING_SECONDS, sep="\n")


async def _followed(service: Service, caller: Caller, id_: str) -> AsyncIterator[ServerSentEvent]:
    before: dict[str, Any] = {}
    while True:
        try:
            told = await run_in_threadpool(_told, service, caller, id_)
        except Problem as problem:  # removed meanwhile
            yield ServerSentEvent(json.dumps(problem.body, ensure_ascii=False), event="error")
            return
        is_open = told["state"] in ("queued", "running")
        if told != before or not is_open:
            yield ServerSentEvent(json.dumps(told, ensure_ascii=False), event="progress" if is_open else "end")
        if not is_open:
            return
        before = told
        await asyncio.sleep(LOOK_SECONDS)


def _told(service: Service, caller: Caller, id_: str) -> dict[str, Any]:
    job = _seen(service, caller, id_)
    return job.to_dict(Jobs(service.home).log(id_))


def _seen(service: Service, caller: Caller, id_: str) -> Job:
    """Raises Problem 404, also for a job that the caller may not see."""
    job = Jobs(service.home).get(id_)
    if not _may_see(caller, job):
        raise Problem(404, "is not there", subject=f"job {id_}", next_step="see GET /api/jobs")
    return job


def _may_see(caller: Caller, job: Job) -> bool:
    if caller.where is not None:  # a log names files
        return False
    return caller.may(Scope.READ, job.collection) or caller.may(Scope.WRITE, job.collection)


class CalibrateBody(Body):
    """Options of a calibration."""

    recipe: str | None = Field(None, max_length=100)
    number: int = Field(200, ge=40, le=MOST_QUESTIONS, description="questions to make where none are given")
    questions: Annotated[list[tuple[str, bool]], Field(min_length=1, max_length=MOST_QUESTIONS)] | None = Field(
        None,
        description="questions, each with whether the documents answer it",
        examples=[[["When was the lighthouse built?", True]]],
    )


@router.post("/api/collections/{collection}/calibrate", summary="Calibrate", **STARTS_A_JOB)
async def calibrate(caller: Writer, collection: Opened, body: CalibrateBody, service: Served) -> JSONResponse:
    """Starts a job that calibrates the recipe's judge on the collection; later questions use and report the result."""
    recipe = recipes.get(body.recipe or service.front.recipe).name
    arguments = {"recipe": recipe, "number": body.number, "questions": body.questions}
    return await started(service, caller, collection.name, "calibrate", arguments)
