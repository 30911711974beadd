"""A job as a client sees it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from thresher.indexing.ingest import Report
from thresher.judging.calibration import Calibration
from thresher_server.client import reading
from thresher_server.client.calls import error_of


@dataclass(frozen=True, slots=True)
class Progress:
    """Progress of a job."""

    files: int
    done: int
    bytes: int
    of_bytes: int
    chunks: int
    file: str
    """The file being read."""
    seconds_left: float | None


@dataclass(frozen=True, slots=True)
class Job:
    """Work on the server that outlasts a request."""

    id: str
    kind: str
    collection: str
    state: str
    """queued, running, done, partly, failed or cancelled."""
    progress: Progress
    log: tuple[str, ...]
    result: Mapping[str, Any] | None
    error: Mapping[str, Any] | None

    @classmethod
    def from_dict(cls, told: Mapping[str, Any]) -> Job:
        """From the server's JSON."""
        progress = Progress(**{name: told["progress"][name] for name in Progress.__slots__})
        same = {name: told[name] for name in ("id", "kind", "collection", "state", "result", "error")}
        return cls(**same, progress=progress, log=tuple(told["log"]))

    @property
    def is_open(self) -> bool:
        """Whether the job is queued or running."""
        return self.state in ("queued", "running")

    @property
    def report(self) -> Report:
        """The report of an indexing job. Raises the job's error if there is none."""
        if self.result is None:
            raise error_of(_status(self.error), self.error or {"message": f"job {self.id} was {self.state}"})
        return reading.report(self.result)

    @property
    def calibration(self) -> Calibration:
        """The result of a calibration job. Raises the job's error unless it is done."""
        if self.state != "done" or self.result is None:
            raise error_of(_status(self.error), self.error or {"message": f"job {self.id} was {self.state}"})
        return Calibration.from_dict(self.result)


def together(reports: list[Report]) -> Report:
    """The sum of several reports."""
    whole = Report()
    for one in reports:
        for name in ("added", "updated", "unchanged", "duplicates", "removed", "chunks", "seconds"):
            setattr(whole, name, getattr(whole, name) + getattr(one, name))
        whole.failed += one.failed
        whole.remarks += one.remarks
    return whole


def _status(error: Mapping[str, Any] | None) -> int:
    return int((error or {}).get("status", 503))
