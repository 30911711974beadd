"""Threads that run jobs: one job at a time for each caller, jobs of several callers in parallel.

A job adds or re-reads documents, or calibrates a collection.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, ExitStack, asynccontextmanager
from dataclasses import dataclass
from threading import Event, Lock, Thread
from time import monotonic
from typing import Any

from fastapi import FastAPI
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import JSONResponse

from thresher.collection import Collection, IndexProgress, Report
from thresher.errors import Cancelled, ThresherError
from thresher.indexing.store import DocumentStore
from thresher.links import file_name, renamed
from thresher_server.client.reading import Progress, together
from thresher_server.jobs.store import Claim, Jobs, Kind, State, now
from thresher_server.naming import is_there
from thresher_server.problems import Problem, problem_of, replies
from thresher_server.receiving import clear_away, on_disk
from thresher_server.security.keys import Caller
from thresher_server.service import Service
from thresher_server.shapes import JobStarted
from thresher_server.uploads import Uploads, uploads_folder

THREADS = 4
"""Callers whose jobs run at once: a slow file of one delays no other."""

LOOK_SECONDS = 1.0
"""Between two polls of any thread, for jobs that another process received or died over."""

TELL_SECONDS = 0.3
"""Between two writes of the progress: shorter intervals are not noticed."""

Stopping = Callable[[], bool]

_log = logging.getLogger(__name__)


class Worker:
    """Runs queued jobs until stopped; a running job is then handed back between two documents."""

    def __init__(self, service: Service, jobs: Jobs) -> None:
        self._service = service
        self._jobs = jobs
        self._stopping = Event()
        self._awake = [Event() for _ in range(THREADS)]
        self._busy: set[str] = set()
        """Callers whose job runs here."""
        self._choosing = Lock()
        self._threads = [Thread(target=self._run, args=(one,), name="jobs", daemon=True) for one in self._awake]

    def start(self) -> None:
        """Start the threads."""
        for thread in self._threads:
            thread.start()

    def wake(self) -> None:
        """Poll at once."""
        for awake in self._awake:
            awake.set()

    async def stopped(self) -> None:
        """Stop the threads and wait for their end."""
        self._stopping.set()
        self.wake()
        for thread in self._threads:
            await asyncio.to_thread(thread.join)

    def _run(self, awake: Event) -> None:
        while not self._stopping.is_set():
            awake.clear()
            try:
                worked = self._one()
            except (OSError, ThresherError):  # store unreachable or settings file untrusted: may pass
                _log.exception("jobs cannot be read or kept")
                worked = False
            if not worked:
                awake.wait(LOOK_SECONDS * THREADS)

    def _one(self) -> bool:
        """Run the oldest queued job of a caller who has none running; returns whether there was one."""
        with ExitStack() as stack:
            with self._choosing:
                claim = stack.enter_context(self._jobs.claimed(self._busy))
                if claim is None:
                    return False
                self._busy.add(claim.job.caller)
            try:
                self._work(claim)
            finally:
                with self._choosing:
                    self._busy.discard(claim.job.caller)
            self.wake()
            return True

    def _work(self, claim: Claim) -> None:
        again = claim.job.started is not None
        claim = claim.told(state="running", started=claim.job.started or now())
        claim.log("taken up again" if again else "begun")
        try:
            outcome = done(self._service, claim, self._stopping.is_set)
        except Problem as problem:
            self._fail(claim, problem)
        except ThresherError as error:
            self._fail(claim, problem_of(error))
        except Exception as error:  # any: the worker must go on to the next job
            _log.exception("job %s", claim.job.id)
            self._fail(claim, Problem(500, f"failed ({type(error).__name__})", subject="the job"))
        else:
            self._end(outcome)

    def _end(self, outcome: Outcome) -> None:
        claim = outcome.claim
        if outcome.is_early and not claim.is_cancelled:
            claim.log("handed back, because the server stops")
            claim.told(state="queued", result=outcome.result)
            return
        state: State = "cancelled" if outcome.is_early else outcome.state
        claim.log(state)
        claim.told(state=state, ended=now(), result=outcome.result)

    def _fail(self, claim: Claim, problem: Problem) -> None:
        error = problem.body["error"]
        claim.log(f"failed: {error['message']}")
        claim.told(state="failed", ended=now(), error=error)


def mount(app: FastAPI, service: Service) -> Callable[[], AbstractAsyncContextManager[object]]:
    """Run the worker for the lifetime of the application."""

    @asynccontextmanager
    async def working() -> AsyncIterator[None]:
        await asyncio.to_thread(clear_away, uploads_folder(service.home))
        worker = Worker(service, Jobs(service.home))
        worker.start()
        service.extras["jobs"] = worker
        try:
            yield
        finally:
            await worker.stopped()

    return working


def wake(service: Service) -> None:
    """Wake this process's worker; those of other processes poll."""
    worker = service.extras.get("jobs")
    if isinstance(worker, Worker):
        worker.wake()


STARTS_A_JOB: dict[str, Any] = {"status_code": 202, "responses": replies(404, 507), "response_model": JobStarted}
"""Of a route that returns `started`."""


async def started(
    service: Service,
    caller: Caller,
    collection: str,
    kind: Kind,
    arguments: dict[str, Any],
    prepare: Callable[[], object] = lambda: None,
) -> JSONResponse:
    """Make a job, which begins once `prepare` has run; the reply with its id and address."""
    with on_disk():
        job = await run_in_threadpool(Jobs(service.home).make, kind, collection, caller.name, arguments, prepare)
    wake(service)
    return JSONResponse({"job": job.id}, 202, {"Location": f"/api/jobs/{job.id}"})


# --- the work of a job


@dataclass(frozen=True, slots=True)
class Outcome:
    """Result of a job; `is_early` if it stopped before its end."""

    claim: Claim
    result: dict[str, Any] | None
    state: State = "done"
    is_early: bool = False


def done(service: Service, claim: Claim, stopping: Stopping) -> Outcome:
    """Run or resume a job; it stops early when cancelled or when `stopping` says so. Raises ThresherError."""
    follow = Following(claim, stopping)
    collection = service.collection(claim.job.collection)
    Uploads(service.home, collection).fetch(claim.job.arguments.get("sources", ()))
    match claim.job.kind:
        case "add":
            report = _add(service, collection, follow)
            uploads = Uploads(service.home, collection)
            uploads.settle(claim.job.arguments["sources"])
            uploads.forget_unread(error.subject for error in report.failed)
        case "reindex":
            report = _reindex(service, collection, follow)
        case "calibrate":
            return _calibrate(collection, follow)
    service.audit.write(claim.job.caller, claim.job.kind, collection=collection.name, job=claim.job.id)
    return _reported(report, follow)


class Following:
    """Writes the progress of a job and checks whether it must stop."""

    def __init__(self, claim: Claim, stopping: Stopping, files: Sequence[str] = ()) -> None:
        self.claim = claim
        self.files = list(files)
        self.was_left = False
        self._stopping = stopping
        self._began = monotonic()
        self._told = float("-inf")

    def stop(self) -> bool:
        """Whether the job must stop here; once true, it stays true."""
        self.was_left = self.was_left or self._stopping() or self.claim.is_cancelled
        return self.was_left

    def indexing(self, so_far: IndexProgress) -> None:
        """Write the progress of an `add`."""
        at = self.files.index(so_far.file) if so_far.file in self.files else 0
        over = so_far.total_bytes > 0 and so_far.done_bytes >= so_far.total_bytes
        self.tell(
            Progress(
                files=len(self.files),
                done=len(self.files) if over else at,
                bytes=so_far.done_bytes,
                of_bytes=so_far.total_bytes,
                chunks=so_far.chunks,
                file=file_name(so_far.file),
                seconds_left=self._seconds_left(so_far),
            )
        )

    def tell(self, progress: Progress, *, at_once: bool = False) -> None:
        """Write the progress, unless it was written within `TELL_SECONDS`."""
        if at_once or monotonic() - self._told >= TELL_SECONDS:
            self._told = monotonic()
            self.claim = self.claim.told(progress=progress)

    def _seconds_left(self, so_far: IndexProgress) -> float | None:
        read = so_far.done_bytes - so_far.unchanged_bytes
        if read <= 0:
            return None
        return (monotonic() - self._began) / read * (so_far.total_bytes - so_far.done_bytes)


def _indexed(service: Service, collection: Collection, recipe: str | None) -> list[str]:
    """The recipes to index for: the one of the request or the usual one, and those that have an index already."""
    ready = collection.ready() if is_there(collection) else []
    return list(dict.fromkeys([recipe or service.front.recipe, *ready]))


def _add(service: Service, collection: Collection, follow: Following) -> Report:
    asked = follow.claim.job.arguments
    follow.files = list(asked["sources"])
    return collection.add(
        *follow.files,
        recipe=_indexed(service, collection, asked.get("recipe")),
        progress=follow.indexing,
        stop=follow.stop,
        public_only=asked.get("public_only", False),
    )


def _reindex(service: Service, collection: Collection, follow: Following) -> Report:
    """Read a document's files again, with the metadata given when they were first read."""
    asked = follow.claim.job.arguments
    follow.files = list(asked["sources"])
    known = DocumentStore(collection.folder).files()
    return together(
        collection.add(
            file,
            recipe=_indexed(service, collection, None),
            reread=True,
            metadata=json.loads(known.get(file, {}).get("given") or "{}"),
            progress=follow.indexing,
            stop=follow.stop,
            public_only=asked["public_only"],
        )
        for file in follow.files
    )


def _reported(report: Report, follow: Following) -> Outcome:
    told = renamed(report.to_dict(), file_name)
    follow.claim.log(*(f"{one['source']}: {one['error']}; {one['next']}" for one in told["failed"]))
    read = report.added + report.updated + report.unchanged + report.duplicates + report.renamed
    state: State = "done" if not report.failed else "partly" if read else "failed"
    before = follow.claim.job.progress
    done_files = before.done if follow.was_left else len(follow.files)
    follow.tell(
        Progress(len(follow.files), done_files, before.bytes, before.of_bytes, report.chunks, "", 0.0), at_once=True
    )
    return Outcome(follow.claim, told, state, follow.was_left)


def _calibrate(collection: Collection, follow: Following) -> Outcome:
    asked: Mapping[str, Any] = follow.claim.job.arguments
    questions = asked.get("questions")

    def searched(number: int) -> None:
        if follow.stop():
            raise Cancelled("the calibration was left")
        follow.tell(Progress(done=follow.claim.job.progress.done + number))

    try:
        made = collection.calibrate(
            None if questions is None else [(question, answered) for question, answered in questions],
            recipe=asked["recipe"],
            number=asked["number"],
            progress=searched,
        )
    except Cancelled:
        return Outcome(follow.claim, None, is_early=True)
    return Outcome(follow.claim, made.to_dict())
