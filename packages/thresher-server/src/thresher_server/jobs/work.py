"""Executes jobs: adds or re-reads documents, calibrates a collection."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from time import monotonic
from typing import Any

from thresher.collection import Collection
from thresher.errors import Cancelled
from thresher.indexing.ingest import Report
from thresher.indexing.store import DocumentStore
from thresher.inputs import IndexProgress
from thresher.links import file_name, renamed
from thresher_server.client.reading import together
from thresher_server.jobs.store import Claim, Progress, State
from thresher_server.service import Service
from thresher_server.uploads import Uploads

TELL_SECONDS = 0.3
"""Between two writes of the progress: shorter intervals are not noticed."""

Stopping = Callable[[], bool]


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
            report = _add(collection, follow)
            uploads = Uploads(service.home, collection)
            uploads.settle(claim.job.arguments["sources"])
            uploads.forget_unread(error.subject for error in report.failed)
        case "reindex":
            report = _reindex(collection, follow)
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


def _add(collection: Collection, follow: Following) -> Report:
    asked = follow.claim.job.arguments
    follow.files = list(asked["sources"])
    recipe = asked.get("recipe") or ()
    return collection.add(
        *follow.files,
        recipe=recipe,
        progress=follow.indexing,
        stop=follow.stop,
        public_only=asked.get("public_only", False),
    )


def _reindex(collection: Collection, follow: Following) -> Report:
    """Read a document's files again, with the metadata given when they were first read."""
    asked = follow.claim.job.arguments
    follow.files = list(asked["sources"])
    known = DocumentStore(collection.folder).files()
    return together(
        collection.add(
            file,
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
    read = report.added + report.updated + report.unchanged + report.duplicates
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
