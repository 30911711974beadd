"""What a section of the page consists of, and how numbers stand in it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from benchmarks.seeds import rows, stored
from benchmarks.seeds.rows import Measured, Values
from benchmarks.stale import ANSWERS, comment
from thresher_evals.stats import Comparison, Interval, paired_difference, proportion_interval

Cell = str | float | int | None
Row = Sequence[Cell]

NOTHING = "–"


class NotMeasured(LookupError):
    """There are no stored rows; the message is the command that makes them."""


@dataclass(frozen=True)
class Section:
    """A table or figure of a source: what it shows, as published, ours, or why there is none of ours."""

    title: str
    shows: str
    published: str = ""
    ours: Callable[[], str] | None = None
    """Writes what there is of ours, from stored rows. Raises NotMeasured where there are none."""
    not_here: str = ""

    def markdown(self) -> str:
        """The section as it stands on the page."""
        parts = [f"### {self.title}", self.shows]
        parts += [f"**Published.** {self.published}"] if self.published else []
        parts += [f"**Ours.** {self.measured()}"] if self.ours else []
        parts += [f"**Not run here.** {self.not_here}"] if self.not_here else []
        return "\n\n".join(part.strip() for part in parts)

    def measured(self) -> str:
        """Ours, or what has to be run before there is any."""
        try:
            return self.ours() if self.ours else ""
        except NotMeasured as missing:
            return f"Not measured yet: `{missing}`."


def table(header: Sequence[str], lines: Sequence[Row]) -> str:
    """A Markdown table."""
    drawn = [header, ["---"] * len(header), *([cell(one) for one in line] for line in lines)]
    return "\n".join(f"| {' | '.join(line)} |" for line in drawn)


def cell(value: Cell) -> str:
    """A number with three digits after the point at most."""
    if value is None:
        return NOTHING
    return f"{round(value, 3):g}" if isinstance(value, float) else str(value)


def interval(found: Interval) -> str:
    """A value with its 95 % interval."""
    if found.value is None:
        return NOTHING
    return f"{cell(found.value)} [{cell(found.low)}, {cell(found.high)}]"


def mean(values: Values) -> str:
    """The mean of the questions that have a value, with its interval, and n where some have none."""
    known = [value for value in values if value is not None]
    fewer = f", n = {len(known)}" if len(known) < len(values) else ""
    return f"{interval(proportion_interval(known))}{fewer}"


def difference(first: Values, second: Values) -> str:
    """Second minus first on the questions that have both, with its interval and p (not corrected)."""
    compared = comparison(first, second)
    if compared.difference is None:
        return NOTHING
    p = "p < 0.001" if compared.p is not None and compared.p < 0.001 else f"p = {cell(compared.p)}"
    return f"{compared.difference:+.3f} [{compared.low:+.3f}, {compared.high:+.3f}] {p}"


def comparison(first: Values, second: Values) -> Comparison:
    """The paired comparison of two lines."""
    pairs = [(one, other) for one, other in zip(first, second, strict=True) if None not in (one, other)]
    return paired_difference([one for one, _ in pairs], [other for _, other in pairs])  # type: ignore[misc]


def number(measured: Measured) -> int:
    """How many questions there are rows of."""
    return len(next(iter(next(iter(measured.lines.values())).values())))


def footing(measured: Measured, n: int | None = None) -> str:
    """Below a table of ours: how many questions, when, of which engine, with which command and settings."""
    return (
        f"*n = {number(measured) if n is None else n}; {measured.made}; `{measured.command}`: {measured.settings}. "
        "Intervals are 95 %, bootstrap over questions; p is of the paired difference and not corrected.*"
        f"\n\n{commented(measured)}"
    )


def commented(measured: Measured) -> str:
    """The comment that `benchmarks.stale` reads, below a footing."""
    return comment(measured.made.commit, measured.made.date, measured.command, ANSWERS)


def stored_footing(page: str) -> str:
    """The same for a table that the evidence measured."""
    made = stored.made(page)
    linked = f"[{page}](datasets/{page}.md)"
    return (
        f"*{made.date}, commit {made.commit}; `{made.by}`; read from {linked}, where the settings are.*\n\n"
        f"{comment(made.commit, made.date, made.by, made.of)}"
    )


def needed(name: str) -> Measured:
    """Stored rows. Raises NotMeasured where there are none."""
    found = rows.read(name)
    if found is None:
        raise NotMeasured(rows.command(name))
    return found


# --- published numbers ------------------------------------------------------------------------------------------------


def printed(name: str) -> str:
    """A table of published.json with its source."""
    found = published(name)
    return f"{found['source']}.\n\n{table(found['columns'], found['rows'])}"


def published(name: str) -> Mapping[str, Any]:
    """Source, columns and rows of a table of published.json: numbers as they are printed, `20.0` and not 20."""
    kept = json.loads(Path(__file__).with_name("published.json").read_text(encoding="utf-8"), parse_float=str)
    found: Mapping[str, Any] = kept[name]
    return found


def claims(group: str) -> list[Mapping[str, Any]]:
    """The published numbers that reports draw beside measured ones."""
    text = (files("thresher_evals.report") / "published.json").read_text(encoding="utf-8")
    kept: list[Mapping[str, Any]] = json.loads(text)[group]
    return kept


def claimed(group: str, *, system: str, measure: str, kind: str, generator: str | None = None) -> float | None:
    """One of them, as the paper prints it; None where it prints none."""
    for one in claims(group):
        key = (one["system"], one["measure"], one["kind"])
        if key == (system, measure, kind) and generator in (None, one["generator"]):
            return float(one["value"])
    return None
