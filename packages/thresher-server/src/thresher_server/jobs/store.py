"""Jobs of a home: files in `server/jobs`, which survive their process and are visible to every server of the home.

A job has `ID.json` (definition and progress), `ID.log` (log lines), `ID.cancel` (cancellation requested), `open/ID`
(exists until the job ends) and `ID.lock`. A worker holds the lock of its job, and no two hold one lock. It is freed
when the process dies: a `running` job with a free lock was interrupted and is resumed.
"""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Literal, TypeVar

from thresher.errors import StoreError
from thresher.home.places import home_files, shared
from thresher.protocols import Files, Home
from thresher_server.client.reading import Progress
from thresher_server.problems import Problem

KEPT = timedelta(days=7)
"""How long an ended job is kept."""

LOG_LINES = 1000
"""Last lines kept of a log; each failed file has one, with the reason."""

Kind = Literal["add", "reindex", "calibrate"]
State = Literal["queued", "running", "done", "partly", "failed", "cancelled"]

Value = TypeVar("Value")

OPEN = ("queued", "running")

OPEN_FOLDER = "open"
"""Its file names are the ids of open jobs: polling reads no other job."""

_ID = re.compile(r"[0-9]{8}T[0-9]{6}-[0-9a-f]{8}")


@dataclass(frozen=True, slots=True)
class Job:
    """Definition, state and result of a job. Times are ISO 8601."""

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
        """Whether the job is queued or running."""
        return self.state in OPEN

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Job:
        """From `asdict`, also after a JSON round trip."""
        return cls(**{**stored, "progress": Progress(**stored["progress"])})

    def to_dict(self, log: list[str]) -> dict[str, Any]:
        """What clients may see of a job, with its log."""
        told = asdict(self)
        del told["caller"], told["arguments"]
        return {**told, "log": log}


@dataclass(frozen=True, slots=True)
class Claim:
    """A job held by this worker alone; others see what it writes."""

    files: Files
    job: Job

    def told(self, **changes: Any) -> Claim:
        """The claim with its job changed and written."""
        changed = replace(self.job, **changes)
        _write(self.files, changed)
        if not changed.is_open:
            self.files.remove([f"{OPEN_FOLDER}/{changed.id}"])
        return replace(self, job=changed)

    def log(self, *lines: str) -> None:
        """Append lines to the log; only the last `LOG_LINES` are kept."""
        told = [f"{now()} {' '.join(line.split())}" for line in lines]
        kept = [*_log_lines(self.files, self.job.id), *told][-LOG_LINES:]
        self.files.write(f"{self.job.id}.log", "".join(f"{line}\n" for line in kept).encode(errors="backslashreplace"))

    @property
    def is_cancelled(self) -> bool:
        """Whether cancellation was requested."""
        return self.files.read(f"{self.job.id}.cancel") is not None


class Jobs:
    """All jobs of a home."""

    def __init__(self, home: Home) -> None:
        self.files = home_files(home).below("server").below("jobs")
        self._home = home

    def make(
        self,
        kind: Kind,
        collection: str,
        caller: str,
        arguments: Mapping[str, Any],
        prepare: Callable[[], object] = lambda: None,
    ) -> Job:
        """Make a job and queue it once `prepare` has run. After a kill in `prepare` the job begins as it is."""
        self._clear()
        id_ = f"{datetime.now(UTC):%Y%m%dT%H%M%S}-{secrets.token_hex(4)}"
        job = Job(id_, kind, collection, caller, arguments, now())
        with self.files.lock(f"{id_}.lock", 0):
            self.files.write(f"{OPEN_FOLDER}/{id_}", b"")  # first: without this file no worker finds the job
            _write(self.files, job)
            try:
                prepare()
            except BaseException:
                self._remove([id_])
                raise
        return job

    def get(self, id_: str) -> Job:
        """A job by its id. Raises Problem 404."""
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
        """Raise Problem 409 while a job of the collection is queued or running."""
        for job in filter(None, (_read(self.files, id_) for id_ in self._open())):
            if job.is_open and job.collection == collection:
                raise Problem(
                    409,
                    "is being worked on",
                    subject=f"collection {collection}",
                    next_step=f"wait for job {job.id}, or cancel it",
                )

    def cancel(self, id_: str) -> Job:
        """Cancel a job: at once if no worker holds it, else between two documents. Raises Problem 404."""
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
        """The oldest free job, not of a `busy` caller, with its files on this machine, held inside the block; else
        None.
        """
        one_folder = isinstance(self._home, Path) and shared(self._home) is None
        for id_ in self._open():
            job = _read(self.files, id_)
            if job is None or not job.is_open or job.caller in busy or not (one_folder or _has_its_files(job)):
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
        names = (file.name.removeprefix(f"{OPEN_FOLDER}/") for file in self.files.list(f"{OPEN_FOLDER}/"))
        return sorted(name for name in names if _ID.fullmatch(name))

    def _clear(self) -> None:
        before = datetime.now(UTC) - KEPT
        ended = [job.id for job in self.all() if job.ended is not None and job.ended < before.isoformat()]
        unmade = [id_ for id_ in self._open() if id_ < f"{before:%Y%m%d}" and _read(self.files, id_) is None]
        self._remove([*ended, *unmade])

    def _remove(self, ids: Iterable[str]) -> None:
        parts = ("{}.json", "{}.log", "{}.cancel", "{}.lock", f"{OPEN_FOLDER}/{{}}")
        self.files.remove(part.format(id_) for id_ in ids for part in parts)


def _has_its_files(job: Job) -> bool:
    """Whether the files of a job are on this machine: servers may share a database but no folder."""
    paths = (Path(source) for source in job.arguments.get("sources", ()) if "://" not in source)
    return all(path.exists() for path in paths if path.is_absolute())


def now() -> str:
    """The current time, ISO 8601."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def read_stored(files: Files, name: str, parse: Callable[[Any], Value]) -> Value | None:
    """The value of a JSON file; None if it is missing or damaged."""
    try:
        return parse(json.loads(files.read(name) or b""))
    except (ValueError, TypeError, KeyError):
        return None


def write_stored(files: Files, name: str, value: Any) -> None:
    """Write a JSON file. Atomic: a reader sees the old state or the new one."""
    files.write(name, json.dumps(value, ensure_ascii=False).encode(errors="backslashreplace"))


def _read(files: Files, id_: str) -> Job | None:
    return read_stored(files, f"{id_}.json", Job.from_dict)


def _write(files: Files, job: Job) -> None:
    write_stored(files, f"{job.id}.json", asdict(job))


def _log_lines(files: Files, id_: str) -> list[str]:
    return (files.read(f"{id_}.log") or b"").decode(errors="replace").splitlines()
