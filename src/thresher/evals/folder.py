"""The folder of a run: run.json says what was asked of what, rows/RECIPE.jsonl holds one line a question."""

from __future__ import annotations

import hashlib
import json
import os
import platform
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any
from urllib.parse import quote

from filelock import FileLock, Timeout

from thresher.errors import StoreError, UsageError
from thresher.evals.labels import Dataset
from thresher.evals.together import is_together, order_of
from thresher.evals.whole_files import is_left_of, write_whole

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
