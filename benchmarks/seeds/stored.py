"""Tables of the pages that `python -m benchmarks.evidence` wrote: what is measured there is not measured again."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from benchmarks import machine
from benchmarks.stale import Measured, measured_on

PAGES = machine.ROOT / "docs" / "results" / "datasets"


@dataclass(frozen=True)
class Column:
    """One measure of a page: recipe to its cell, value and interval as they stand there."""

    cells: Mapping[str, str]
    questions: str
    """How many the measure applies to, in digits."""


def made(page: str, *, folder: Path = PAGES) -> Measured:
    """With which engine a page was made, and by which command."""
    return next(measured_on(folder / f"{page}.md", page))


def column(page: str, measure: str, run: str = "", *, folder: Path = PAGES) -> Column:
    """A measure of every recipe of a run of a page, its first by default. Raises KeyError where it is not there.

    A run whose recipes answer by different parts has several sections, `## NAME, answers of ...`.
    """
    text = (folder / f"{page}.md").read_text(encoding="utf-8")
    sections = re.split(r"^## ", text, flags=re.MULTILINE)[1:] or [text]
    run = run or name_of(sections[0])
    sections = [part for part in sections if name_of(part) == run]
    of: dict[str, dict[str, str]] = {}
    for header, rows in tables("".join(sections)):
        for at, title in enumerate(header):
            name, _, restriction = title.partition(", n = ")
            if header[0] == "recipe" and name == measure:
                of.setdefault(restriction, {}).update({row[0]: row[at] for row in rows})
    if not of:
        raise KeyError(f"{page}.md has no column {measure}")
    restriction, cells = next(iter(of.items()))
    return Column(cells, restriction or asked("".join(sections)))


def asked(text: str) -> str:
    """How many questions a page, or a section of it, is about."""
    found = re.search(r"^n = (\d+)", text, re.MULTILINE)
    return found[1] if found else ""


def name_of(section: str) -> str:
    """The run that a section of a page is of."""
    return re.split(r"[,\n]", section, maxsplit=1)[0]


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
