"""Threads that run jobs: one job at a time for each caller, jobs of several callers in parallel."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, ExitStack, asynccontextmanager
from threading import Event, Lock, Thread
from typing import Any

from fastapi import FastAPI
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import JSONResponse

from thresher.errors import ThresherError
from thresher_server.jobs.store import Claim, Jobs, Kind, State, now
from thresher_server.jobs.work import Outcome, done
from thresher_server.problems import Problem, problem_of
from thresher_server.receiving import clear_away, on_disk
from thresher_server.security.keys import Caller
from thresher_server.service import Service
from thresher_server.uploads import uploads_folder

THREADS = 4
"""Callers whose jobs run at once: a slow file of one delays no other."""

LOOK_SECONDS = 1.0
"""Between two polls of any thread, for jobs that another process received or died over."""

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


async def started(
    service: Service, caller: Caller, collection: str, kind: Kind, arguments: dict[str, Any]
) -> JSONResponse:
    """Make a job; the reply with its id and address."""
    with on_disk():
        job = await run_in_threadpool(Jobs(service.home).make, kind, collection, caller.name, arguments)
    wake(service)
    return JSONResponse({"job": job.id}, 202, {"Location": f"/api/jobs/{job.id}"})
