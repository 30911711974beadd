"""The folder of a study: study.json says what was measured with what, rows.jsonl holds what was measured, row by row.

Rows are appended and never rewritten. Each has an `id`, by which a study that was killed knows what it has done.
"""

from __future__ import annotations

import json
import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from thresher.errors import UsageError
from thresher.evals.folder import is_begun, this_machine, unlike, version_of
from thresher.evals.rows import finite, whole_lines
from thresher.evals.whole_files import write_whole

StudyRow = Mapping[str, Any]
"""One measurement: a JSON object with an `id`; what else it has is its kind's."""

STUDY_FILE = "study.json"
ROWS_FILE = "rows.jsonl"


@dataclass(frozen=True, slots=True)
class Study:
    """What is known of a study before its first row."""

    kind: str
    title: str
    version: str
    """Of Thresher."""
    settings: Mapping[str, Any]
    """Those of the study by name, and under `recipes` all settings of each recipe it uses; secrets as stars."""
    data: Mapping[str, Any]
    """Name to sha256, or to a number of documents."""
    seed: int
    machine: Mapping[str, Any]
    started: str
    """ISO 8601, UTC."""
    command: str
    """As it was typed."""


def new_study(
    kind: str, title: str, *, settings: Mapping[str, Any], data: Mapping[str, Any], seed: int, command: str
) -> Study:
    """A study that starts now, on this machine."""
    machine = {**this_machine(), "python": platform.python_version()}
    started = datetime.now(UTC).isoformat(timespec="seconds")
    kept = json.loads(json.dumps(finite(settings)))
    return Study(kind, title, version_of("thresher") or "", kept, dict(data), seed, machine, started, command)


def open_study(out: Path, study: Study, *, resume: bool) -> None:
    """Make the folder, or check that what it holds is the same study."""
    if is_begun(out, STUDY_FILE, resume=resume):
        differences = compare(read_study(out), study)
        if differences:
            raise UsageError(
                f"the study in this folder is another one: {'; '.join(differences)}",
                subject=str(out),
                next_step="measure as it was measured then, or give another --out",
            )
        return
    out.mkdir(parents=True, exist_ok=True)
    write_whole(out / STUDY_FILE, (json.dumps(asdict(study), indent=2, allow_nan=False) + "\n").encode())


def compare(before: Study, now: Study) -> list[str]:
    """What makes two studies different measurements, in words."""
    differences = [
        words for name in ("kind", "seed", "data") for words in unlike(name, getattr(before, name), getattr(now, name))
    ]
    return [*differences, *unlike("settings", each_setting(before), each_setting(now))]


def each_setting(study: Study) -> dict[str, Any]:
    """Every setting on its own, those of recipes under the recipe's name."""
    own = {key: value for key, value in study.settings.items() if key != "recipes"}
    used = study.settings.get("recipes", {})
    return own | {f"{recipe}: {key}": value for recipe, values in used.items() for key, value in values.items()}


def read_study(directory: Path) -> Study:
    """study.json of a folder."""
    try:
        told = json.loads((directory / STUDY_FILE).read_text(encoding="utf-8"))
        return Study(**{field.name: told[field.name] for field in fields(Study)})
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise UsageError(
            f"no study in it ({STUDY_FILE} is missing or damaged)",
            subject=str(directory),
            next_step="give a folder that 'thresher eval study' wrote",
        ) from error


def read_study_rows(directory: Path) -> list[StudyRow]:
    """The whole rows, the first of each id; a torn last line is not a row."""
    path = directory / ROWS_FILE
    rows: dict[str, StudyRow] = {}
    for number, line in enumerate(whole_lines(path), start=1):
        try:
            row = json.loads(line)
            rows.setdefault(row["id"], row)
        except (ValueError, KeyError, TypeError) as error:
            raise UsageError(
                "not a row of a study",
                subject=f"{path}:{number}",
                next_step="delete the line and measure again with --resume",
            ) from error
    return list(rows.values())


def ids_of(rows: Sequence[StudyRow]) -> set[str]:
    """What was measured."""
    return {row["id"] for row in rows}
