"""The jobs of a home: files in `server/jobs`, which survive their process and which every server of the home sees.

Of a job there is `ID.json` (what it is, and how far), `ID.log` (its lines), `ID.cancel` (there once somebody asked for
an end), `open/ID` (there until it ended) and `ID.lock`. Whoever works on a job holds its lock, which goes when the
process dies: a job that is `running` and whose lock is free was cut off, and is taken up again. No two workers hold one
lock.
"""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Collection, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Literal

from thresher.errors import StoreError
from thresher.home.places import Home, home_files
from thresher.protocols import Files
from thresher_server.problems import Problem

KEPT = timedelta(days=7)
"""For which a job that ended can be looked at."""

LOG_LINES = 1000
"""The last lines of a log that are told: one for each file that failed, with its reason."""

Kind = Literal["add", "reindex", "calibrate"]
State = Literal["queued", "running", "done", "partly", "failed", "cancelled"]

OPEN = ("queued", "running")

OPEN_FOLDER = "open"
"""What lies in it names the jobs that are open: a look for work reads no others."""

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

    files: Files
    job: Job

    def told(self, **changes: Any) -> Claim:
        """The same with its job changed, and written."""
        changed = replace(self.job, **changes)
        _write(self.files, changed)
        if not changed.is_open:
            self.files.remove([f"{OPEN_FOLDER}/{changed.id}"])
        return replace(self, job=changed)

    def log(self, *lines: str) -> None:
        """Add lines to its log, of which the last are kept."""
        told = [f"{now()} {' '.join(line.split())}" for line in lines]
        kept = [*_log_lines(self.files, self.job.id), *told][-LOG_LINES:]
        self.files.write(f"{self.job.id}.log", "".join(f"{line}\n" for line in kept).encode(errors="backslashreplace"))

    @property
    def is_cancelled(self) -> bool:
        """Whether somebody asked for its end."""
        return self.files.read(f"{self.job.id}.cancel") is not None


class Jobs:
    """All jobs of a home."""

    def __init__(self, home: Home) -> None:
        self.files = home_files(home).below("server").below("jobs")

    def make(self, kind: Kind, collection: str, caller: str, arguments: Mapping[str, Any]) -> Job:
        """A job that waits for a worker."""
        self._clear()
        id_ = f"{datetime.now(UTC):%Y%m%dT%H%M%S}-{secrets.token_hex(4)}"
        job = Job(id_, kind, collection, caller, arguments, now())
        self.files.write(f"{OPEN_FOLDER}/{id_}", b"")  # first: a job that nobody looks for would wait for ever
        _write(self.files, job)
        return job

    def get(self, id_: str) -> Job:
        """A job by its id. Problem 404."""
        job = _read(self.files, id_) if _ID.fullmatch(id_) else None
        if job is None:
            raise Problem(404, "is not there", subject=f"job {id_}", next_step="see GET /api/jobs")
        return job

    def all(self) -> list[Job]:
        """Every job, the newest first."""
        names = (file.name.removesuffix(".json") for file in self.files.list() if file.name.endswith(".json"))
        found = (_read(self.files, id_) for id_ in names if _ID.fullmatch(id_))
        return sorted((job for job in found if job is not None), key=lambda job: (job.made, job.id), reverse=True)

    def log(self, id_: str) -> list[str]:
        """The last lines of a job's log."""
        return _log_lines(self.files, id_)

    def check_idle(self, collection: str) -> None:
        """Raise Problem 409 while a job of the collection waits or is worked on."""
        for job in filter(None, (_read(self.files, id_) for id_ in self._open())):
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
        self.files.write(f"{id_}.cancel", b"")
        with self._held(id_) as claim:
            if claim is not None and claim.job.is_open:
                return claim.told(state="cancelled", ended=now()).job
        return self.get(id_)

    @contextmanager
    def claimed(self, busy: Collection[str] = ()) -> Iterator[Claim | None]:
        """The oldest job that nobody works on and whose files are here, held inside the block; None without one.

        Jobs of `busy` callers wait.
        """
        for id_ in self._open():
            job = _read(self.files, id_)
            if job is None or not job.is_open or job.caller in busy or not _has_its_files(job):
                continue
            with self._held(id_) as claim:
                if claim is not None and claim.job.is_open:  # it may have ended since it was read
                    yield claim
                    return
        yield None

    @contextmanager
    def _held(self, id_: str) -> Iterator[Claim | None]:
        with ExitStack() as stack:
            try:
                stack.enter_context(self.files.lock(f"{id_}.lock", 0))
            except StoreError:
                yield None
                return
            job = _read(self.files, id_)
            yield None if job is None else Claim(self.files, job)

    def _open(self) -> list[str]:
        """The ids of the jobs that wait or are worked on, the oldest first."""
        names = (file.name.removeprefix(f"{OPEN_FOLDER}/") for file in self.files.list(f"{OPEN_FOLDER}/"))
        return sorted(name for name in names if _ID.fullmatch(name))

    def _clear(self) -> None:
        """Forget the jobs that ended long ago."""
        before = (datetime.now(UTC) - KEPT).isoformat(timespec="seconds")
        gone = [job.id for job in self.all() if job.ended is not None and job.ended < before]
        parts = ("{}.json", "{}.log", "{}.cancel", "{}.lock", f"{OPEN_FOLDER}/{{}}")
        self.files.remove(part.format(id_) for id_ in gone for part in parts)


def _has_its_files(job: Job) -> bool:
    """Whether the files that it takes in are on this machine: servers may share a database and no folder."""
    paths = (Path(source) for source in job.arguments.get("sources", ()) if "://" not in source)
    return all(path.exists() for path in paths if path.is_absolute())


def now() -> str:
    """The time, as it is written."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def _read(files: Files, id_: str) -> Job | None:
    """A job; None where it is gone, or damaged."""
    try:
        return Job.from_dict(json.loads(files.read(f"{id_}.json") or b""))
    except (ValueError, TypeError, KeyError):
        return None


def _write(files: Files, job: Job) -> None:
    """As a whole or not at all: a reader sees the old state or the new one."""
    content = json.dumps(asdict(job), ensure_ascii=False).encode(errors="backslashreplace")
    files.write(f"{job.id}.json", content)


def _log_lines(files: Files, id_: str) -> list[str]:
    return (files.read(f"{id_}.log") or b"").decode(errors="replace").splitlines()
