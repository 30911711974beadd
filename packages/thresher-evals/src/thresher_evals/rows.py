"""Rows: a question to a recipe, with labels, ranking, answer and cost.

A row contains its labels, so scoring needs neither the dataset's files nor a model. Rows are lines of a `RowLog`. A run
is a folder: run.json describes it, rows/RECIPE.jsonl has a line for each question. Files of earlier versions are
readable: missing fields have defaults, unknown ones are ignored.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import platform
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from threading import Lock
from typing import Any, Generic, TypeVar
from urllib.parse import quote

from filelock import FileLock, Timeout
from pydantic import SerializerFunctionWrapHandler, TypeAdapter, model_serializer, model_validator
from pydantic.dataclasses import dataclass as model

from thresher.answer import NOT_CONFIGURED
from thresher.errors import StoreError, UsageError
from thresher.home.places import UNFINISHED, LocalFiles
from thresher.types import Origin, Usage, Verdict
from thresher_evals.dataset import Dataset, Question

T = TypeVar("T")

COMPARISON = "comparison.json"
"""File with the result of `eval compare`, for the report."""

# --- a row ------------------------------------------------------------------------------------------------------------


@model(frozen=True)
class Place:
    """An entry of a ranking: a span of a document with all the document's sources."""

    source: str
    also: tuple[str, ...] = ()
    page: int | None = None
    start: int | None = None
    end: int | None = None
    score: float | None = None
    scale: str | None = None


@model(frozen=True)
class Cited(Place):
    """One citation of an answer."""

    marker: int = 1
    title: str = ""
    quote: str = ""
    origin: Origin = Origin.INSIDE
    fetched: str | None = None


@model(frozen=True)
class Context:
    """A text given to the generator: a span of a document, inside or outside."""

    source: str
    start: int
    end: int
    text: str
    page: int | None = None
    origin: Origin = Origin.INSIDE


@model(frozen=True)
class StepTaken:
    """One slot of the pipeline: its time, and numbers and words of its details; lists and tables are in the trace."""

    name: str
    seconds: float = 0.0
    considered: int = 0
    kept: int = 0
    detail: Mapping[str, Any] = field(default_factory=dict)


@model(frozen=True)
class Reply:
    """An answer or a refusal, in the API's format; question and recipe are in the row."""

    text: str
    abstained: bool
    citations: tuple[Cited, ...] = ()
    verdict: Verdict | None = None
    confidence: float | None = None
    reason: str | None = None
    conflicts: tuple[tuple[int, int], ...] = ()
    steps: tuple[StepTaken, ...] = ()
    usage: Usage = Usage()
    degraded: tuple[str, ...] = ()
    trace: str = ""

    @property
    def markers(self) -> tuple[int, ...]:
        """Numbers of citations, which stand in brackets in the text."""
        return tuple(citation.marker for citation in self.citations)

    def told(self, step: str, name: str) -> Any:
        """A detail of a step; None if it has none of that name."""
        return next((one.detail.get(name) for one in self.steps if one.name == step), None)


@model(frozen=True)
class Row:
    """A question to a recipe. A failed call is None, with the reason in `error`.

    In JSON, the question's fields are beside the row's, and the reply is called `answer`.
    """

    question: Question
    recipe: str
    config: str
    """Hash of the recipe's settings."""
    seconds: float
    """Of the answer, or of the search if no answer was requested."""
    ranking: tuple[Place, ...] | None = None
    """Hits of a search, best first; None if none was made or it failed."""
    search_seconds: float | None = None
    reply: Reply | None = None
    """None if no answer was requested or it failed."""
    error: str | None = None
    degraded: tuple[str, ...] = ()
    """What was unavailable, including a chat model that is not configured; `lacked` excludes that."""
    unreadable: int = 0
    """Replies of models that could not be parsed."""
    timed_out: bool = False
    context: tuple[Context, ...] | None = None
    """The generator's evidence in order; None if no answer was requested or it is unknown."""
    cpu_seconds: float | None = None
    """Processor time of the process during the question; None if several were asked at a time."""
    memory_mib: float | None = None
    """Peak memory of the process up to the end of the question."""
    generator: str = ""
    """The chat model that wrote the answer, or "reader"; may be empty for a refusal. Only equal ones are compared."""
    judge: str = ""
    """The judge of the chunks; may be empty."""
    judged: Mapping[str, float] = field(default_factory=dict)
    """Measure to number by `eval judge` or people; stored beside the rows, not in them."""

    @property
    def lacked(self) -> tuple[str, ...]:
        """What failed; a chat model that is not configured did not fail."""
        return tuple(lack for lack in self.degraded if NOT_CONFIGURED not in lack)

    @model_validator(mode="before")
    @classmethod
    def _of_line(cls, given: Any) -> Any:
        return {**given, "question": given, "reply": given.get("answer")} if isinstance(given, Mapping) else given

    @model_serializer(mode="wrap")
    def _to_line(self, fields: SerializerFunctionWrapHandler) -> dict[str, Any]:
        line = fields(self)
        question, reply = line.pop("question"), line.pop("reply")
        del line["judged"]
        return {**question, **line, "answer": reply}

    def to_dict(self) -> dict[str, Any]:
        """JSON form: one line of rows/RECIPE.jsonl."""
        line: dict[str, Any] = ROW.dump_python(self, mode="json")
        return line


ROW, REPLY = TypeAdapter(Row), TypeAdapter(Reply)


def read_reply(answer: Mapping[str, Any]) -> Reply:
    """A reply from its JSON form."""
    return REPLY.validate_python(answer)


# --- where rows are kept: folders of JSON lines that only grow --------------------------------------------------------


Head = Mapping[str, Any]
"""Description of a measurement: run.json, study.json, judge.json."""

LOCK = "writing.lock"


class RowLog(Generic[T]):
    """A folder of measurements: a description, and append-only files of JSON lines.

    Used for runs, studies and judgements. `add` returns once the line is on disk; a line that a killed process left
    unfinished is ignored, and cut before the next one. Safe to use from several threads; `locked` excludes other
    processes.
    """

    def __init__(
        self, folder: Path, rows: type[T], *, head: str, lines: str, what: str, needed: Sequence[str] = ()
    ) -> None:
        """`head` is the description's file, with required fields `needed`; `lines` is the pattern of row files."""
        self.folder, self.head = folder, folder / head
        self._rows: TypeAdapter[T] = TypeAdapter(rows)
        self._lines, self._what, self._needed = lines, what, {*needed}
        self._lock = Lock()
        self._whole: set[Path] = set()

    def is_begun(self, *, resume: bool) -> bool:
        """Whether the folder has content to resume. Raises UsageError if it is no folder, or has content without
        `resume`.
        """
        out = self.folder
        if out.exists() and not out.is_dir():
            raise UsageError("is not a folder", subject=str(out), next_step="give another `out`")
        begun = out.is_dir() and not all(entry.name.startswith(UNFINISHED) for entry in out.iterdir())
        if begun and not resume:
            advice = "give another `out`, or `resume` to go on with it"
            raise UsageError("already holds something", subject=str(out), next_step=advice)
        return begun

    def begin(
        self, head: Head, differences: Callable[[Head, Head], Sequence[str]], *, resume: bool
    ) -> dict[str, Any] | None:
        """Write the description, or return the existing one. Raises UsageError if that is of another measurement."""
        if not self.is_begun(resume=resume):
            self.write_head(head)
            return None
        before = self.read_head()
        if found := differences(before, head):
            raise UsageError(
                f"the {self._what} in this folder is another one: {'; '.join(found)}",
                subject=str(self.folder),
                next_step="go on with it as it was begun, or give another `out`",
            )
        return before

    def read_head(self) -> dict[str, Any]:
        """The description. Raises UsageError if it is missing or incomplete."""
        try:
            head: dict[str, Any] = json.loads(self.head.read_text(encoding="utf-8"))
            if not self._needed <= set(head):
                raise ValueError("incomplete")
        except (OSError, ValueError, TypeError) as error:
            raise UsageError(
                f"no {self._what} in it ({self.head.name} is missing or damaged)",
                subject=str(self.folder),
                next_step=f"give a folder that 'thresher eval {self._what}' wrote",
            ) from error
        return head

    def write_head(self, head: Head) -> None:
        """Replace the description, in a folder that is made if need be."""
        LocalFiles(self.folder).write(self.head.name, (json.dumps(head, indent=2, allow_nan=False) + "\n").encode())

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Exclude other writing processes; the lock ends with its holder. Raises StoreError if another one writes."""
        self.folder.mkdir(exist_ok=True)
        lock = FileLock(self.folder / LOCK, timeout=0)
        try:
            lock.acquire()
        except Timeout as error:
            raise StoreError(
                "another process is writing into it", subject=str(self.folder), next_step="wait for it, or end it"
            ) from error
        try:
            yield
        finally:
            lock.release()

    def path(self, name: str = "") -> Path:
        """The file of that name, escaped if necessary."""
        return self.folder / self._lines.format(quote(name, safe=" "))

    def rows(self, name: str = "") -> list[T]:
        """The complete lines of a file in order; empty without a file. Raises UsageError."""
        path = self.path(name)
        rows = []
        for number, line in enumerate(whole_lines(path), start=1):
            try:
                rows.append(self._rows.validate_python(json.loads(line)))
            except ValueError as error:  # pydantic's too
                raise UsageError(
                    f"not a row of a {self._what}",
                    subject=f"{path}:{number}",
                    next_step="delete the line, and go on with `resume`",
                ) from error
        return rows

    def add(self, row: T, name: str = "") -> None:
        """Append a line."""
        path = self.path(name)
        line = written(self._rows.dump_python(row, mode="json"))
        with self._lock:
            if path not in self._whole:
                path.parent.mkdir(exist_ok=True)
                cut_torn_line(path)
                self._whole.add(path)
            try:
                with path.open("ab") as stream:
                    stream.write(line)
            except OSError:  # a full disk may hold half a line: another thread must not append to it
                cut_torn_line(path)
                raise


def whole_lines(path: Path) -> list[bytes]:
    """The complete lines; a killed process may have left an unfinished one."""
    return path.read_bytes().split(b"\n")[:-1] if path.is_file() else []


def cut_torn_line(path: Path) -> None:
    """Remove an unfinished last line."""
    if path.is_file():
        kept = sum(len(line) + 1 for line in whole_lines(path))
        with path.open("rb+") as stream:
            stream.truncate(kept)


def written(value: Mapping[str, Any]) -> bytes:
    """A line of JSON; NaN and infinity become null."""
    return (json.dumps(finite(value), ensure_ascii=False, allow_nan=False) + "\n").encode("utf-8", "backslashreplace")


def finite(value: Any) -> Any:
    """The JSON value with null for non-finite numbers."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {key: finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [finite(item) for item in value]
    return value


# --- the folder of a run ----------------------------------------------------------------------------------------------

PACKAGES = ("thresher", "onnxruntime", "lancedb", "pypdfium2")
"""Packages whose versions affect results or speed."""


def run_log(directory: Path) -> RowLog[Row]:
    """The rows of a run, a file for each recipe."""
    needed = ("dataset", "recipes", "settings", "limit")
    return RowLog(directory, Row, head="run.json", needed=needed, lines="rows/{}.jsonl", what="run")


def read_rows(directory: Path, recipe: str) -> list[Row]:
    """The rows of a recipe, the first of each question."""
    rows: dict[str, Row] = {}
    for row in run_log(directory).rows(recipe):
        rows.setdefault(row.question.id, row)
    return list(rows.values())


def rows_path(directory: Path, recipe: str) -> Path:
    """The file of a recipe's rows."""
    return run_log(directory).path(recipe)


def read_run(directory: Path) -> dict[str, Any]:
    """run.json of a folder."""
    return run_log(directory).read_head()


def read_comparison(directory: Path) -> dict[str, Any]:
    """The result of `eval compare`; empty for a run of `eval run` or of an earlier version."""
    file = directory / COMPARISON
    if not file.is_file():
        return {}
    found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return found


def describe_run(
    dataset: Dataset,
    recipes: Sequence[str],
    *,
    limit: int,
    settings: Mapping[str, Any],
    outside: str | None = None,
    collection: str | None = None,
    together: bool = False,
    command: str | None = None,
) -> dict[str, Any]:
    """run.json: what the rows mean and how to repeat the run; `command` is a command line for that."""
    fields = ("spec", "kind", "name", "task", "sha256", "categories", "note", "split", "sample")
    return {
        "dataset": {
            **{name: getattr(dataset, name) for name in (*fields, "available")},
            "questions": len(dataset.questions),
            "questions_sha256": fingerprint([[question.id, question.question] for question in dataset.questions]),
        },
        "recipes": list(recipes),
        "settings": dict(settings),
        "limit": limit,
        "collection": collection,
        "outside": outside or "none",
        "together": together,
        "seed": dataset.seed,
        **({"command": command} if command else {}),
        "versions": {"python": platform.python_version(), **{package: version_of(package) for package in PACKAGES}},
        "machine": this_machine(),
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def open_run(out: Path, description: Mapping[str, Any], *, resume: bool) -> RowLog[Row]:
    """Make the folder, or check that it has the same run; recipes may be added. Raises UsageError."""
    log = run_log(out)
    if before := log.begin(description, compare, resume=resume):
        recipes = list(dict.fromkeys([*before["recipes"], *description["recipes"]]))
        log.write_head({**before, "recipes": recipes, "settings": {**before["settings"], **description["settings"]}})
    return log


def compare(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """Differences that make two runs different measurements, in words."""
    names = {"kind": "kind of dataset", "sha256": "the dataset's files", "questions_sha256": "the questions asked"}
    pairs = {words: (f"{before['dataset'][key]:.12}", f"{now['dataset'][key]:.12}") for key, words in names.items()}
    pairs |= {
        "limit": (before["limit"], now["limit"]),
        "where recipes may look outside": (before.get("outside", "none"), now["outside"]),
        "collection": (before.get("collection") or now["collection"], now["collection"]),
        "the order of asking": (ORDERS[is_together(before)], ORDERS[is_together(now)]),
    }
    shared = [recipe for recipe in now["recipes"] if recipe in before["settings"]]
    settings = {f"settings of {recipe}": (before["settings"][recipe], now["settings"][recipe]) for recipe in shared}
    return [words for what, (old, new) in {**pairs, **settings}.items() for words in unlike(what, old, new)]


def unlike(what: str, old: Any, new: Any) -> list[str]:
    """Differences in words, key by key for tables."""
    if not isinstance(old, Mapping) or not isinstance(new, Mapping):
        return [] if old == new else [f"{what} (was {old}, now {new})"]
    names = sorted(name for name in {*old, *new} if old.get(name) != new.get(name))
    return [f"{what}: {name} (was {old.get(name)}, now {new.get(name)})" for name in names]


ORDERS = {False: "recipe by recipe", True: "question by question"}


def is_together(described: Mapping[str, Any]) -> bool:
    """Whether recipes were asked in turn for each question, so that their times are not comparable."""
    return bool(described.get("together", False))


TAKEN = frozenset({"seconds_p50", "seconds_p95", "cpu_seconds", "memory_mib"})
"""Measures of time and memory."""

WHY = (
    "Seconds, processor time and memory are left out: the recipes were asked in turn, question by question "
    "(--together), and whichever is asked first reads what the others then find remembered."
)


def this_machine() -> dict[str, Any]:
    """The measuring machine."""
    processor = platform.processor() or platform.machine()
    return {"system": platform.platform(), "processor": processor, "cores": os.cpu_count()}


def config_of(recipe: str, settings: Mapping[str, Any]) -> str:
    """Fingerprint of a recipe with all its settings."""
    return fingerprint({"recipe": recipe, "settings": settings})


def fingerprint(value: Any) -> str:
    """sha256 of a JSON value."""
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


def version_of(package: str) -> str | None:
    """The installed version, or None."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def models_of(generators: Sequence[str]) -> list[str]:
    """The chat models among the generators, since a reader may have replaced them for some questions; else all."""
    return [name for name in generators if name != "reader"] or list(generators)
