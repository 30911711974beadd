"""What was measured for one table of a source: a value for each question, kept in results/seeds/NAME.json."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks import machine

FOLDER = machine.BENCHMARKS / "results" / "seeds"

LARGEST_BYTES = 50_000
"""Of a file of rows: a reader of the repository can open it, and a change can be read."""

DIGITS = 3
"""Of a stored value: an interval of a hundred questions is wider than what is rounded away."""

Values = Sequence[float | None]
"""One for each question, in one order; None where the measure does not apply."""

Lines = Mapping[str, Mapping[str, Values]]
"""Line of a table (a recipe, a threshold) to measure to values."""


@dataclass(frozen=True)
class Provenance:
    """Which engine was measured, when, and where."""

    commit: str
    date: str
    """YYYY-MM-DD, UTC."""
    machine: str

    def __str__(self) -> str:
        """As it stands below a table."""
        return f"{self.date}, commit {self.commit}"

    @classmethod
    def now(cls) -> Provenance:
        """Of this checkout; a commit with uncommitted changes of the engine ends in `+`."""
        changed = git("status", "--porcelain", "--untracked-files=no", "--", "src", "packages")
        commit = git("rev-parse", "--short", "HEAD") + ("+" if changed else "")
        here = machine.describe()
        return cls(commit, datetime.now(UTC).date().isoformat(), f"{here['processor']}, {here['cores']} cores")


@dataclass(frozen=True)
class Measured:
    """The rows of one table, and with what they were made."""

    name: str
    made: Provenance
    settings: str
    """The data and the settings, in a sentence."""
    lines: Lines = field(default_factory=dict)
    found: Sequence[Mapping[str, Any]] = ()
    """What is no number of a question: the hits and answers of an example."""

    @property
    def command(self) -> str:
        """What measures it again."""
        return command(self.name)


def command(name: str) -> str:
    """What measures a table again."""
    return f"python -m benchmarks.seeds --measure {name}"


def git(*arguments: str) -> str:
    """What a git command prints about this checkout; nothing outside of one."""
    ended = subprocess.run(["git", *arguments], cwd=machine.ROOT, capture_output=True, check=False, text=True)
    return ended.stdout.strip()


def write(measured: Measured, *, folder: Path = FOLDER) -> Path:
    """Write the rows, a measure a line. Raises ValueError where they are more than `LARGEST_BYTES`."""
    file = folder / f"{measured.name}.json"
    lines = [
        f"{json.dumps(line, ensure_ascii=False)}: {{\n"
        + ",\n".join(f"  {json.dumps(name)}: {compact(values)}" for name, values in measures.items())
        + "\n }"
        for line, measures in measured.lines.items()
    ]
    found = [json.dumps(one, ensure_ascii=False) for one in measured.found]
    text = (
        f'{{"made": {json.dumps(vars(measured.made))},\n"settings": {json.dumps(measured.settings)},\n'
        '"lines": {' + ",\n ".join(lines) + '},\n"found": [' + ",\n ".join(found) + "]}\n"
    )
    if len(text.encode()) > LARGEST_BYTES:
        raise ValueError(f"{file.name} would have {len(text.encode())} bytes, more than {LARGEST_BYTES}")
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return file


def compact(values: Values) -> str:
    """A JSON list of numbers without what says nothing."""
    return "[" + ",".join("null" if value is None else f"{round(value, DIGITS):g}" for value in values) + "]"


def read(name: str, *, folder: Path = FOLDER) -> Measured | None:
    """The stored rows of a table; None where it was never measured."""
    file = folder / f"{name}.json"
    if not file.is_file():
        return None
    kept = json.loads(file.read_text(encoding="utf-8"))
    return Measured(name, Provenance(**kept["made"]), kept["settings"], kept["lines"], kept["found"])
