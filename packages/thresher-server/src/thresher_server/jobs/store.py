"""The jobs of a home: a folder each in `server/jobs`, so that they survive their process.

A folder holds `job.json` (what it is, and how far), `log` (its lines), `cancel` (there once somebody asked for an end)
and `lock`. Whoever works on a job holds its lock, which the system lets go of when the process dies: a job that is
`running` and whose lock is free was cut off, and is taken up again. No two workers hold one lock.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Literal

from filelock import FileLock, Timeout

from thresher.home.places import Home, working_folder
from thresher_server.problems import Problem

KEPT = timedelta(days=7)
"""For which a job that ended can be looked at."""

LOG_LINES = 1000
"""The last lines of a log that are told: one for each file that failed, with its reason."""

Kind = Literal["add", "reindex", "calibrate"]
State = Literal["queued", "running", "done", "partly", "failed", "cancelled"]

OPEN = ("queued", "running")

_ID = re.compile(r"[0-9]{8}T[0-9]{6}-[0-9a-f]{8}")


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a job is."""

    files: int = 0
    done: int = 0
    """Files; of a calibration the searches."""
    bytes: int = 0
    of_bytes: int = 0
    chunks: int = 0
    file: str = ""
    """Which is being read."""
    seconds_left: float | None = None


@dataclass(frozen=True, slots=True)
class Job:
    """What is to be done, and what became of it. Times are ISO 8601."""

    id: str
    kind: Kind
    collection: str
    caller: str
    arguments: Mapping[str, Any]
    made: str
    state: State = "queued"
    started: str | None = None
    ended: str | None = None
    progress: Progress = field(default_factory=Progress)
    result: Mapping[str, Any] | None = None
    error: Mapping[str, Any] | None = None
    """As the `error` of a reply."""

    @property
    def is_open(self) -> bool:
        """Whether it waits or is worked on."""
        return self.state in OPEN

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Job:
        """What `asdict` gave, also after a trip through JSON."""
        return cls(**{**stored, "progress": Progress(**stored["progress"])})

    def to_dict(self, log: list[str]) -> dict[str, Any]:
        """What a client is told of it."""
        told = asdict(self)
        del told["caller"], told["arguments"]
        return {**told, "log": log}


@dataclass(frozen=True, slots=True)
class Claim:
    """A job that is this worker's alone until it lets go; what is written here is what others see."""

    folder: Path
    job: Job

    def told(self, **changes: Any) -> Claim:
        """The same with its job changed, and written."""
        changed = replace(self.job, **changes)
        _write(self.folder, changed)
        return replace(self, job=changed)

    def log(self, line: str) -> None:
        """Add a line to its log."""
        told = f"{now()} {' '.join(line.split())}\n"
        with open(self.folder / "log", "a", encoding="utf-8", errors="backslashreplace") as file:
            file.write(told)

    @property
    def is_cancelled(self) -> bool:
        """Whether somebody asked for its end."""
        return (self.folder / "cancel").exists()


class Jobs:
    """All jobs of a home."""

    def __init__(self, home: Home) -> None:
        self.folder = working_folder(home) / "server" / "jobs"

    def make(self, kind: Kind, collection: str, caller: str, arguments: Mapping[str, Any]) -> Job:
        """A job that waits for a worker."""
        self._clear()
        id_ = f"{datetime.now(UTC):%Y%m%dT%H%M%S}-{secrets.token_hex(4)}"
        job = Job(id_, kind, collection, caller, arguments, now())
        folder = self.folder / f".{id_}"  # until it is whole
        folder.mkdir(parents=True)
        _write(folder, job)
        folder.rename(self.folder / id_)
        return job

    def get(self, id_: str) -> Job:
        """A job by its id. Problem 404."""
        job = _read(self.folder / id_) if _ID.fullmatch(id_) else None
        if job is None:
            raise Problem(404, "is not there", subject=f"job {id_}", next_step="see GET /api/jobs")
        return job

    def all(self) -> list[Job]:
        """Every job, the newest first."""
        found = (_read(folder) for folder in self._folders())
        return sorted((job for job in found if job is not None), key=lambda job: (job.made, job.id), reverse=True)

    def log(self, id_: str) -> list[str]:
        """The last lines of a job's log."""
        try:
            written = (self.folder / id_ / "log").read_text(encoding="utf-8", errors="replace")
        except FileNotFoundError:
            return []
        return written.splitlines()[-LOG_LINES:]

    def check_idle(self, collection: str) -> None:
        """Raise Problem 409 while a job of the collection waits or is worked on."""
        for job in self.all():
            if job.is_open and job.collection == collection:
                raise Problem(
                    409,
                    "is being worked on",
                    subject=f"collection {collection}",
                    next_step=f"wait for job {job.id}, or cancel it",
                )

    def cancel(self, id_: str) -> Job:
        """Ask for a job's end: at once where nobody works on it, else between two documents. Problem 404."""
        job = self.get(id_)
        if not job.is_open:
            return job
        with suppress(FileNotFoundError):
            (self.folder / id_ / "cancel").touch()
        with self._held(id_) as claim:
            if claim is not None and claim.job.is_open:
                return claim.told(state="cancelled", ended=now()).job
        return self.get(id_)

    @contextmanager
    def claimed(self) -> Iterator[Claim | None]:
        """The oldest job that nobody works on, held inside the block; None where there is none."""
        for folder in sorted(self._folders()):
            job = _read(folder)
            if job is None or not job.is_open:
                continue
            with self._held(folder.name) as claim:
                if claim is not None and claim.job.is_open:  # it may have ended since it was read
                    yield claim
                    return
        yield None

    @contextmanager
    def _held(self, id_: str) -> Iterator[Claim | None]:
        folder = self.folder / id_
        lock = FileLock(folder / "lock", timeout=0)
        try:
            lock.acquire()
        except (Timeout, FileNotFoundError):
            yield None
            return
        try:
            job = _read(folder)
            yield None if job is None else Claim(folder, job)
        finally:
            lock.release()

    def _folders(self) -> list[Path]:
        with suppress(FileNotFoundError):
            return [folder for folder in self.folder.iterdir() if _ID.fullmatch(folder.name)]
        return []

    def _clear(self) -> None:
        """Forget the jobs that ended long ago."""
        before = (datetime.now(UTC) - KEPT).isoformat(timespec="seconds")
        for job in self.all():
            if job.ended is not None and job.ended < before:
                shutil.rmtree(self.folder / job.id, ignore_errors=True)


def now() -> str:
    """The time, as it is written."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def _read(folder: Path) -> Job | None:
    """The job of a folder; None where it is gone, or damaged."""
    try:
        return Job.from_dict(json.loads((folder / "job.json").read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError, KeyError):
        return None


def _write(folder: Path, job: Job) -> None:
    """As a whole or not at all: a reader sees the old state or the new one."""
    beside = folder / f".job.json.{os.getpid()}.{secrets.token_hex(4)}"
    try:
        beside.write_text(json.dumps(asdict(job), ensure_ascii=False), encoding="utf-8", errors="backslashreplace")
        beside.replace(folder / "job.json")
    finally:
        beside.unlink(missing_ok=True)
