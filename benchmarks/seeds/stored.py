"""Tables of the pages that `python -m benchmarks.evidence` wrote: what is measured there is not measured again."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from benchmarks import machine
from benchmarks.seeds.rows import Provenance

PAGES = machine.ROOT / "docs" / "results" / "datasets"
MADE = machine.BENCHMARKS / "results" / "evidence.json"


@dataclass(frozen=True)
class Column:
    """One measure of a page: recipe to its cell, value and interval as they stand there."""

    cells: Mapping[str, str]
    questions: str
    """How many the measure applies to, in digits."""


def made() -> Provenance:
    """With which engine the pages were made."""
    kept = json.loads(MADE.read_text(encoding="utf-8"))
    return Provenance(kept["commit"], kept["date"], f"{kept['machine']['processor']}, {kept['machine']['cores']} cores")


def column(page: str, measure: str, *, folder: Path = PAGES) -> Column:
    """A measure of every recipe of a page. Raises KeyError where no table of it has that measure."""
    text = (folder / f"{page}.md").read_text(encoding="utf-8")
    asked = text.partition("n = ")[2].partition(" ")[0]
    for header, rows in tables(text):
        for at, title in enumerate(header):
            name, _, restriction = title.partition(", n = ")
            if header[0] == "recipe" and name == measure:
                return Column({row[0]: row[at] for row in rows}, restriction or asked)
    raise KeyError(f"{page}.md has no column {measure}")


def tables(text: str) -> Iterator[tuple[list[str], list[list[str]]]]:
    """Header and rows of every table of a Markdown page."""
    lines = text.splitlines()
    for at, line in enumerate(lines):
        if at and set(line) <= set("| -") and line.startswith("| ---"):
            rows = []
            for row in lines[at + 1 :]:
                if not row.startswith("|"):
                    break
                rows.append(cells(row))
            yield cells(lines[at - 1]), rows


def cells(line: str) -> list[str]:
    """The cells of a line of a table."""
    return [cell.strip() for cell in line.strip().strip("|").split("|")]
