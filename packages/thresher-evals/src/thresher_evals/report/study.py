"""A study's folder (benchmarks/studies): the report shows what it contains.

    about.json  {"title": "How latency grows", "text": ["A paragraph.", ...], "note": "What n is, what intervals are.",
                 "plot": {"x": "documents", "y": "p50 ms", "by": "recipe", "low": "...", "high": "...", "log": true}}
    table.csv   a line of column names, then the rows; numbers as plain numbers. A value with its interval, or a
                difference with its p, is the columns NAME, NAME low, NAME high and NAME p, shown as one

Only `title` is required. `plot` draws a line for each value of the column `by` (one line without it), with a band if
`low` and `high` name columns. A study of several tables has `"tables": [{"file": "costs.csv", "title": "What it costs",
"note": "...", "plot": {...}}, ...]` instead of `note`, `plot` and table.csv.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from thresher.errors import UsageError
from thresher_evals.report.blocks import Cell, Figure, Number, Section, Table, shown
from thresher_evals.report.plots import Line, lines

ABOUT, ONE_TABLE = "about.json", "table.csv"


def is_study(directory: Path) -> bool:
    """Whether a folder is a study."""
    return (directory / ABOUT).is_file()


def study_section(directory: Path, name: str) -> Section:
    """The tables and drawings of a study. Raises UsageError for an invalid folder."""
    try:
        about = json.loads((directory / ABOUT).read_text(encoding="utf-8"))
        tables = []
        for place, table in enumerate(about.get("tables") or [{**about, "file": ONE_TABLE}], start=1):
            with (directory / table["file"]).open(encoding="utf-8", newline="") as stream:
                columns, *rows = csv.reader(stream)
            drawn = [figure(f"{name}-{place}", table["plot"], columns, rows)] if table.get("plot") else []
            tables.append(Table(table["title"], *folded(columns, rows), table.get("note", ""), drawn))
        return Section(about["title"], about.get("text", ()), tables)
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise UsageError(
            f"holds no study that can be read ({error})", subject=str(directory), next_step="measure the study again"
        ) from error


def folded(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> tuple[list[str], list[list[Cell]]]:
    """Columns and rows for display: a value with its interval and p in one cell."""
    aside = {f"{column} {bound}" for column in columns for bound in ("low", "high", "p")}
    kept = [column for column in columns if column not in aside]
    named = [dict(zip(columns, row, strict=True)) for row in rows]
    return kept, [[cell(row, column) for column in kept] for row in named]


def cell(row: Mapping[str, str], column: str) -> Cell:
    """A number with interval and p, a short number, or the text."""
    text, low, high, p = (row.get(name, "") for name in (column, f"{column} low", f"{column} high", f"{column} p"))
    try:
        if low and high:
            return Number(float(text), float(low), float(high), p=float(p) if p else None, signed=bool(p))
        return text if text.strip().isdigit() or not text else shown(float(text))
    except ValueError:
        return text


def figure(name: str, plot: Mapping[str, Any], columns: Sequence[str], rows: Sequence[Sequence[str]]) -> Figure:
    """A line for each value of the column `by`."""
    place = {key: columns.index(plot[key]) for key in ("x", "y", "by", "low", "high") if key in plot}
    grouped: dict[str, list[Sequence[str]]] = {}
    for row in rows:
        grouped.setdefault(row[place["by"]] if "by" in place else "", []).append(row)
    drawn = [
        Line(label, *([float(row[place[key]]) for row in of] for key in ("x", "y", "low", "high") if key in place))
        for label, of in grouped.items()
    ]
    draw = partial(lines, drawn=drawn, x=plot["x"], y=plot["y"], unit=False, log=bool(plot.get("log")))
    return Figure(name, f"{plot['y']} by {plot['x']}", draw)
