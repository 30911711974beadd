"""The one thread of a process that works on jobs, one after the other."""

from __future__ import annotations

import asyncio
import logging
from threading import Event, Thread

from thresher.errors import ThresherError
from thresher_server.jobs.store import Claim, Jobs, State, now
from thresher_server.jobs.work import Outcome, done
from thresher_server.problems import Problem, problem_of
from thresher_server.service import Service

LOOK_SECONDS = 1.0
"""Between two looks for jobs that another process was told of, or was killed over."""

_log = logging.getLogger(__name__)


class Worker:
    """Takes up what waits, until it is stopped; a job under way is then handed back between two documents."""

    def __init__(self, service: Service, jobs: Jobs) -> None:
        self._service = service
        self._jobs = jobs
        self._stopping = Event()
        self._awake = Event()
        self._thread = Thread(target=self._run, name="jobs", daemon=True)

    def start(self) -> None:
        """Begin to look."""
        self._thread.start()

    def wake(self) -> None:
        """Look at once."""
        self._awake.set()

    async def stopped(self) -> None:
        """Stop, and wait until the thread has."""
        self._stopping.set()
        self._awake.set()
        await asyncio.to_thread(self._thread.join)

    def _run(self) -> None:
        while not self._stopping.is_set():
            self._awake.clear()
            try:
                worked = self._one()
            except (OSError, ThresherError):  # a store that is away, a settings file that is not trusted: both can end
                _log.exception("jobs cannot be read or kept")
                worked = False
            if not worked:
                self._awake.wait(LOOK_SECONDS)

    def _one(self) -> bool:
        """Work on the oldest job that waits; whether there was one."""
        with self._jobs.claimed() as claim:
            if claim is None:
                return False
            self._work(claim)
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
        except Exception as error:  # whatever it was, the next job must not wait for ever
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
