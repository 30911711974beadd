"""What a run keeps of one question: its labels, what was found, what was answered, what it cost.

A row holds its labels, so that scoring needs neither the dataset's files nor a model.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import platform
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from threading import Lock
from typing import Any
from urllib.parse import quote

from filelock import FileLock, Timeout

from thresher.errors import StoreError, UsageError
from thresher.types import Origin
from thresher_evals.dataset import Dataset, Gold, Question
from thresher_evals.jsonl import is_left_of, write_whole


@dataclass(frozen=True, slots=True)
class Place:
    """One entry of a ranking, or one citation: a span of a document and every source the document has."""

    source: str
    also: tuple[str, ...] = ()
    page: int | None = None
    start: int | None = None
    end: int | None = None
    score: float | None = None
    scale: str | None = None


@dataclass(frozen=True, slots=True)
class Context:
    """One piece of text that the generator was given: a span of a document, inside or outside."""

    source: str
    start: int
    end: int
    text: str
    page: int | None = None
    origin: Origin = Origin.INSIDE

    def to_dict(self) -> dict[str, Any]:
        """JSON form."""
        return {
            "source": self.source,
            "start": self.start,
            "end": self.end,
            "text": self.text,
            "page": self.page,
            "origin": str(self.origin),
        }


@dataclass(frozen=True, slots=True)
class Reply:
    """What is kept of an answer; `answer` is the JSON form without question, recipe and step details."""

    text: str
    abstained: bool
    citations: tuple[Place, ...] = ()
    markers: tuple[int, ...] = ()
    llm_calls: int = 0
    answer: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Row:
    """One question put to one recipe. What failed is None and `error` says why; nothing else is missing."""

    question: Question
    recipe: str
    config: str
    """Hash of the recipe's settings."""
    seconds: float
    """Of the answer, or of the search where no answer was asked for."""
    ranking: tuple[Place, ...] | None = None
    """Hits of a search, best first; None where none was made or it failed."""
    search_seconds: float | None = None
    reply: Reply | None = None
    """None where no answer was asked for or asking failed."""
    error: str | None = None
    degraded: tuple[str, ...] = ()
    unreadable: int = 0
    """Replies of models that could not be parsed."""
    timed_out: bool = False
    context: tuple[Context, ...] | None = None
    """What the generator was given, in its order; None where no answer was asked for or it is not known."""
    cpu_seconds: float | None = None
    """Processor time of the process while the question was answered or searched for; None with several at a time."""
    memory_mib: float | None = None
    """The most memory that the process had held when the question was done."""
    generator: str = ""
    """The chat model that wrote the answer, or the reader; empty for a refusal, which nobody may have written.

    Rows of different generators are never compared.
    """
    judge: str = ""
    """What judged the chunks; empty where nothing did."""
    judged: Mapping[str, float] = field(default_factory=dict)
    """What `eval judge` or people said of the answer, by the name of the measure; kept beside the rows, not in them."""

    def to_dict(self) -> dict[str, Any]:
        """JSON form: one line of rows/RECIPE.jsonl."""
        asked = self.question
        return {
            "id": asked.id,
            "question": asked.question,
            "recipe": self.recipe,
            "config": self.config,
            "category": asked.category,
            "group": asked.group,
            "answers": list(asked.answers),
            "answerable": asked.answerable,
            "gold": [gold.to_dict() for gold in asked.gold],
            "grades": dict(asked.grades),
            "options": list(asked.options),
            "topic": asked.topic,
            "ranking": None if self.ranking is None else [describe_place(place) for place in self.ranking],
            "search_seconds": self.search_seconds,
            "answer": None if self.reply is None else dict(self.reply.answer),
            "seconds": self.seconds,
            "error": self.error,
            "degraded": list(self.degraded),
            "unreadable": self.unreadable,
            "timed_out": self.timed_out,
            "context": None if self.context is None else [piece.to_dict() for piece in self.context],
            "cpu_seconds": self.cpu_seconds,
            "memory_mib": self.memory_mib,
            "generator": self.generator,
            "judge": self.judge,
        }


def describe_place(place: Place) -> dict[str, Any]:
    """JSON form of one entry of a ranking."""
    return {
        "source": place.source,
        "also": list(place.also),
        "page": place.page,
        "start": place.start,
        "end": place.end,
        "score": place.score,
        "scale": place.scale,
    }


def read_row(line: Mapping[str, Any]) -> Row:
    """The row that `Row.to_dict` described."""
    question = Question(
        id=line["id"],
        question=line["question"],
        answers=tuple(line["answers"]),
        answerable=line["answerable"],
        gold=tuple(read_gold(gold) for gold in line["gold"]),
        grades=line["grades"],
        category=line["category"],
        options=tuple(line.get("options", ())),
        topic=line.get("topic", ""),
        group=line.get("group", ""),
    )
    return Row(
        question=question,
        recipe=line["recipe"],
        config=line["config"],
        seconds=line["seconds"],
        ranking=None if line["ranking"] is None else tuple(read_place(place) for place in line["ranking"]),
        search_seconds=line["search_seconds"],
        reply=None if line["answer"] is None else read_reply(line["answer"]),
        error=line["error"],
        degraded=tuple(line["degraded"]),
        unreadable=line["unreadable"],
        timed_out=line["timed_out"],
        context=None if line.get("context") is None else tuple(read_context(piece) for piece in line["context"]),
        cpu_seconds=line.get("cpu_seconds"),
        memory_mib=line.get("memory_mib"),
        generator=line.get("generator", ""),
        judge=line.get("judge", ""),
    )


def read_context(piece: Mapping[str, Any]) -> Context:
    """The piece that `Context.to_dict` described."""
    return Context(piece["source"], piece["start"], piece["end"], piece["text"], piece["page"], Origin(piece["origin"]))


def read_gold(gold: Mapping[str, Any]) -> Gold:
    """The gold place that `Gold.to_dict` described."""
    origin = Origin(gold.get("origin", Origin.INSIDE))
    return Gold(gold["source"], gold["page"], gold["start"], gold["end"], origin)


def read_place(place: Mapping[str, Any]) -> Place:
    """The place that `describe_place` described, or a citation of the public contract with `also`."""
    return Place(
        source=place["source"],
        also=tuple(place.get("also", ())),
        page=place["page"],
        start=place["start"],
        end=place["end"],
        score=place.get("score"),
        scale=place.get("scale"),
    )


def read_reply(answer: Mapping[str, Any]) -> Reply:
    """The reply whose JSON form this is."""
    return Reply(
        text=answer["text"],
        abstained=answer["abstained"],
        citations=tuple(read_place(citation) for citation in answer["citations"]),
        markers=tuple(citation["marker"] for citation in answer["citations"]),
        llm_calls=answer["usage"]["llm_calls"],
        answer=answer,
    )


# --- the file ---------------------------------------------------------------------------------------------------------


def written(value: Mapping[str, Any]) -> bytes:
    """One line of JSON; numbers that JSON does not have (NaN, infinity) become null."""
    return (json.dumps(finite(value), ensure_ascii=False, allow_nan=False) + "\n").encode("utf-8", "backslashreplace")


def finite(value: Any) -> Any:
    """The same JSON value with null for every number that is not finite."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {key: finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [finite(item) for item in value]
    return value


def read_rows(path: Path) -> list[Row]:
    """The whole rows of a file, the first of each id; a torn last line (a killed run) is not a row."""
    rows: dict[str, Row] = {}
    for number, line in enumerate(whole_lines(path), start=1):
        try:
            row = read_row(json.loads(line))
        except (ValueError, KeyError, TypeError) as error:
            raise UsageError(
                "not a row of a run",
                subject=f"{path}:{number}",
                next_step="delete the line and run again with --resume",
            ) from error
        rows.setdefault(row.question.id, row)
    return list(rows.values())


def whole_lines(path: Path) -> Iterable[bytes]:
    """Lines that end; what follows the last end of line was being written when the run was killed."""
    return path.read_bytes().split(b"\n")[:-1] if path.is_file() else []


def ids(rows: Sequence[Row]) -> set[str]:
    """The questions that have a row."""
    return {row.question.id for row in rows}


# --- A file of JSON lines that grows: a killed process loses at most the line it was at -------------------------------


class LineFile:
    """Adds lines to a file, whole ones only; what was torn before is cut first. Safe to use from several threads."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(exist_ok=True)
        cut_torn_line(path)
        self._path = path
        self._lock = Lock()

    def add(self, value: Mapping[str, Any]) -> None:
        """One more line, on disk before this returns."""
        with self._lock, self._path.open("ab") as stream:
            try:
                stream.write(written(value))
                stream.flush()
            except OSError:  # a full disk may have taken half a line, to which another thread would add its own
                cut_torn_line(self._path)
                raise


def cut_torn_line(path: Path) -> None:
    """Remove what follows the last end of line, so that the next one starts on its own."""
    if not path.is_file():
        return
    kept = sum(len(line) + 1 for line in whole_lines(path))
    with path.open("rb+") as stream:
        stream.truncate(kept)


# --- runs whose questions were put to every recipe in turn (`eval run --together`): what an answer took says ----------


TAKEN = frozenset({"seconds_p50", "seconds_p95", "cpu_seconds", "memory_mib"})
"""Measures of what an answer took."""

WHY = (
    "Seconds, processor time and memory are left out: the recipes were asked in turn, question by question "
    "(--together), and whichever is asked first reads what the others then find remembered."
)


def is_together(described: Mapping[str, Any]) -> bool:
    """Whether a run.json tells of such a run; one of an earlier version, which does not say, was none."""
    return bool(described.get("together", False))


def order_of(described: Mapping[str, Any]) -> str:
    """In which order the questions of a run were asked, in words."""
    return "question by question" if is_together(described) else "recipe by recipe"


# --- the folder of a run: run.json says what was asked of what, rows/RECIPE.jsonl holds one line a question -----------


PACKAGES = ("thresher", "onnxruntime", "lancedb", "kreuzberg")
"""Packages whose versions change what is found or how fast."""

RUN_FILE = "run.json"
LOCK = "writing.lock"


def describe_run(
    dataset: Dataset,
    recipes: Sequence[str],
    *,
    limit: int,
    settings: Mapping[str, Any],
    outside: str | None = None,
    collection: str | None = None,
    together: bool = False,
) -> dict[str, Any]:
    """run.json: everything needed to know what the rows mean and to run it again."""
    return {
        "dataset": {
            "spec": dataset.spec,
            "kind": dataset.kind,
            "name": dataset.name,
            "task": dataset.task,
            "sha256": dataset.sha256,
            "questions": len(dataset.questions),
            "questions_sha256": fingerprint([[question.id, question.question] for question in dataset.questions]),
            "categories": dataset.categories,
            "note": dataset.note,
            "split": dataset.split,
            "sample": dataset.sample,
            "limit_questions": dataset.limit_questions,
            "available": dataset.available,
        },
        "recipes": list(recipes),
        "settings": dict(settings),
        "limit": limit,
        "collection": collection,
        "outside": outside or "none",
        "together": together,
        "seed": dataset.seed,
        "versions": {"python": platform.python_version(), **{package: version_of(package) for package in PACKAGES}},
        "machine": this_machine(),
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def open_run(out: Path, description: Mapping[str, Any], *, resume: bool) -> None:
    """Make the folder, or check that what it holds is the same run; recipes may be added to a run."""
    if is_begun(out, RUN_FILE, resume=resume):
        before = read_run(out)
        differences = list(compare(before, description))
        if differences:
            raise UsageError(
                f"the run in this folder is another one: {'; '.join(differences)}",
                subject=str(out),
                next_step="ask as it was asked then, or give another --out",
            )
        recipes = list(dict.fromkeys([*before["recipes"], *description["recipes"]]))
        settings = {**before["settings"], **description["settings"]}
        description = {**before, "recipes": recipes, "settings": settings}
    out.mkdir(parents=True, exist_ok=True)
    write_whole(out / RUN_FILE, (json.dumps(description, indent=2, allow_nan=False) + "\n").encode())
    (out / "rows").mkdir(exist_ok=True)


def read_run(directory: Path) -> dict[str, Any]:
    """run.json of a folder."""
    path = directory / RUN_FILE
    try:
        description: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        if not {"dataset", "recipes", "settings", "limit"} <= set(description):
            raise ValueError("not a run.json")
    except (OSError, ValueError, TypeError) as error:
        raise UsageError(
            "no run in it (run.json is missing or damaged)",
            subject=str(directory),
            next_step="give a folder that 'thresher eval run' wrote",
        ) from error
    return description


def compare(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """What makes two runs different measurements, in words."""
    old, new = before["dataset"], now["dataset"]
    names = {"kind": "kind of dataset", "sha256": "the dataset's files", "questions_sha256": "the questions asked"}
    differences = [
        f"{words} (was {old[key]:.12}, now {new[key]:.12})" for key, words in names.items() if old[key] != new[key]
    ]
    if before["limit"] != now["limit"]:
        differences.append(f"limit (was {before['limit']}, now {now['limit']})")
    outside = before.get("outside", "none")
    if outside != now["outside"]:
        differences.append(f"where recipes may look outside (was {outside}, now {now['outside']})")
    asked = before.get("collection")
    if asked is not None and asked != now["collection"]:
        differences.append(f"collection (was {asked}, now {now['collection']})")
    if is_together(before) != is_together(now):
        differences.append(f"the order of asking (was {order_of(before)}, now {order_of(now)})")
    for recipe in now["recipes"]:
        if recipe in before["settings"]:
            differences += unlike(f"settings of {recipe}", before["settings"][recipe], now["settings"][recipe])
    return differences


def unlike(what: str, old: Any, new: Any) -> list[str]:
    """The settings that differ, by name where both are tables."""
    if not isinstance(old, Mapping) or not isinstance(new, Mapping):
        return [] if old == new else [f"{what} (was {old}, now {new})"]
    names = sorted(name for name in {*old, *new} if old.get(name) != new.get(name))
    return [f"{what}: {name} (was {old.get(name)}, now {new.get(name)})" for name in names]


def rows_path(directory: Path, recipe: str) -> Path:
    """Where a recipe's rows are; a name that is no file name is escaped."""
    return directory / "rows" / f"{quote(recipe, safe=' ')}.jsonl"


# --- any folder that is measured into ---------------------------------------------------------------------------------


def is_begun(out: Path, name: str, *, resume: bool) -> bool:
    """Whether the folder holds something to go on with; what is left of writing its first file, `name`, is nothing.

    Raises UsageError for what is no folder, and for a folder that holds something where nothing is to be resumed.
    """
    if out.exists() and not out.is_dir():
        raise UsageError("is not a folder", subject=str(out), next_step="give another --out")
    begun = out.is_dir() and not all(is_left_of(entry, name) for entry in out.iterdir())
    if begun and not resume:
        raise UsageError(
            "already holds something", subject=str(out), next_step="give another --out, or --resume to go on with it"
        )
    return begun


@contextmanager
def held(folder: Path) -> Iterator[None]:
    """Only one process writes into the folder; the lock dies with its holder."""
    folder.mkdir(exist_ok=True)
    lock = FileLock(folder / LOCK, timeout=0)
    try:
        lock.acquire()
    except Timeout as error:
        raise StoreError(
            "another process is writing into it", subject=str(folder), next_step="wait for it, or end it"
        ) from error
    try:
        yield
    finally:
        lock.release()


def this_machine() -> dict[str, Any]:
    """Where something is measured."""
    return {
        "system": platform.platform(),
        "processor": platform.processor() or platform.machine(),
        "cores": os.cpu_count(),
    }


def fingerprint(value: Any) -> str:
    """sha256 of a JSON value."""
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


def version_of(package: str) -> str | None:
    """The installed version, or None."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None
