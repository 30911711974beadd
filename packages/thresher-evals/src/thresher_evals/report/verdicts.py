"""Does a recipe know what it has: refusals, verdicts, confidence, and what other bounds would have decided.

The map of bounds (CRAG, LOWER x UPPER) takes the verdict of every question again from its best score. Staying was right
where the collection answers, going outside where it does not. Correct stays, anything else goes; where only decided
questions count, ambiguous (which uses both) is right nowhere, and only then does the lower bound matter.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thresher.judging.verdicts import Operators
from thresher.types import Verdict
from thresher_evals.metrics.registry import SUFFICES, forecast, risk_coverage, verdict_of
from thresher_evals.report.blocks import Cell, Figure, Number, Table
from thresher_evals.report.data import Block, Run, joined
from thresher_evals.report.plots import Line, heat, lines
from thresher_evals.report.tables import labels, legend, measure_table
from thresher_evals.rows import Row
from thresher_evals.runner import parse_variant
from thresher_evals.stats import BINS, proportion_interval, wilson_interval

STEPS = 20
"""Parts that the scale is cut into; a finer grid has fewer questions to a step than the sets have."""

Booleans = NDArray[np.bool_]
Bound = float | NDArray[np.float64]
"""One for all questions, or one for each."""


@dataclass(frozen=True)
class BoundsMap:
    """The questions of a recipe that tells its bounds and of which it is known whether the collection answers them."""

    best: NDArray[np.float64]
    """(n,) best score of each question; nan where nothing was scored, and no bound changes the verdict."""
    suffices: Booleans
    """(n,) whether the collection answers it."""
    verdicts: Sequence[Verdict]
    """As they were recorded; `unsure` acts as ambiguous."""
    bounds: NDArray[np.float64]
    """(n, 2) lower and upper bound of each question; nan where nothing was scored."""
    operators: Operators

    @cached_property
    def used(self) -> tuple[float, float]:
        """The bounds of most of the questions."""
        known = Counter((lower, upper) for lower, upper in self.bounds.tolist() if lower == lower)
        return known.most_common(1)[0][0]

    @cached_property
    def grid(self) -> list[float]:
        """The bounds that are tried: over 0..1, or over -1..1 where a score or a bound is below 0."""
        low = -1.0 if min(np.nanmin(self.best), np.nanmin(self.bounds)) < 0 else 0.0
        return [round(low + (1 - low) * step / STEPS, 6) for step in range(STEPS + 1)]

    def stays(self, upper: Bound) -> Booleans:
        """Where the verdict is correct, compared as `thresher.judging.verdicts.Bounds` does."""
        above = self.best >= upper if self.operators == "code" else self.best > upper
        return np.where(np.isnan(self.best), [one is Verdict.CORRECT for one in self.verdicts], above)

    def goes(self, lower: Bound) -> Booleans:
        """Where the verdict is incorrect."""
        below = self.best <= lower if self.operators == "blog" else self.best < lower
        return np.where(np.isnan(self.best), [one is Verdict.INCORRECT for one in self.verdicts], below)

    def right(self, upper: float) -> Booleans:
        """Where staying or going was right."""
        return np.equal(self.stays(upper), self.suffices)

    def decided(self, lower: float, upper: float) -> Booleans:
        """Where it was decided, and rightly."""
        return np.where(self.suffices, self.stays(upper), self.goes(lower))

    @cached_property
    def shares(self) -> Mapping[tuple[float, float], tuple[float, float]]:
        """Lower and upper bound to the share of questions that is right, and that is decided and right."""
        return {
            (lower, upper): (float(self.right(upper).mean()), float(self.decided(lower, upper).mean()))
            for upper in self.grid
            for lower in self.grid
            if lower <= upper
        }

    @property
    def not_as_recorded(self) -> int:
        """Verdicts that come out otherwise than in the rows."""
        stays, goes = self.stays(self.bounds[:, 1]), self.goes(self.bounds[:, 0])
        again = np.where(stays, Verdict.CORRECT, np.where(goes, Verdict.INCORRECT, Verdict.AMBIGUOUS))
        recorded = [Verdict.AMBIGUOUS if one is Verdict.UNSURE else one for one in self.verdicts]
        return sum(str(one) != other for one, other in zip(again, recorded, strict=True))


def bounds_map(run: Run, recipe: str, rows: Sequence[Row]) -> BoundsMap | None:
    """The map of a recipe; None for one that tells no bounds. A calibrated one compares as the published code does."""
    known: list[tuple[float, ...]] = []
    suffices, verdicts = [], []
    for row in rows:
        answers, verdict = SUFFICES.get(row.question.category), verdict_of(row)
        if answers is not None and verdict is not None and row.reply is not None:
            numbers = [row.reply.told("decide", name) for name in ("best", "lower", "upper")]
            scored = all(isinstance(number, int | float) for number in numbers)
            known.append(tuple(numbers) if scored else (np.nan,) * 3)
            suffices.append(answers)
            verdicts.append(verdict)
    table = np.array(known, dtype=np.float64).reshape(-1, 3)
    if np.isnan(table).all():
        return None
    bounds = run.described["settings"].get(recipe, {}).get("bounds")
    operators: Operators = bounds if bounds in ("blog", "paper") else "code"
    return BoundsMap(table[:, 0], np.array(suffices), verdicts, table[:, 1:], operators)


def map_lines(run: Run) -> Iterator[dict[str, Any]]:
    """The lines of bounds.csv: every pair of bounds; not for ablations, which share their recipe's."""
    rows = {recipe: of for block in run.blocks if block.ablated is None for recipe, of in block.rows.items()}
    for recipe, of in rows.items():
        if (one := bounds_map(run, recipe, of)) is not None:
            start = {"run": run.name, "recipe": recipe}
            for (lower, upper), (right, decided) in one.shares.items():
                bounds = {"lower": lower, "upper": upper, "right": right, "decided_and_right": decided}
                yield {**start, **bounds, "n": len(one.verdicts)}


# --- tables and drawings ----------------------------------------------------------------------------------------------

REFUSALS = ("refusal_recall", "wrong_refusals", "verdict_accuracy", "auroc", "ece", "aurc", "outside_used")
VERDICTS = (Verdict.CORRECT, Verdict.AMBIGUOUS, Verdict.INCORRECT, Verdict.UNSURE)
BOUNDS_COLUMNS = ("LOWER", "UPPER", "right", "decided and right", "best of the map", "at", "not as recorded")
NOTE = (
    f"Verdicts are counts of {' / '.join(VERDICTS)}. Right: stayed inside where the collection answers, went outside "
    "where not. The best of the map was chosen on these same questions: it says what bounds could gain at most, and is "
    "no result; bounds.csv has all of it. Not as recorded: verdicts that come out otherwise than in the rows, where "
    "`unsure` counts as ambiguous."
)
CURVE_POINTS = 60  # that a drawing of this width can show apart


def verdict_tables(run: Run, block: Block, prefix: str) -> list[Table]:
    """Refusals and confidence; verdicts by category, and what bounds could gain. Only what there is."""
    precision = ["refusal_precision"] if "refusal_recall" in block.measures else []
    tables = measure_table("Refusals and confidence", block, (*precision, *REFUSALS), "Of ece and aurc less is better.")
    figures = [*risk_figure(block, f"{prefix}-risk"), *reliability_figure(block, f"{prefix}-reliability")]
    tables = [replace(table, figures=figures) for table in tables]
    names = labels(block.recipes)
    deciding = {recipe: rows for recipe, rows in block.rows.items() if any(map(verdict_of, rows))}
    if not deciding:
        return tables
    maps = {recipe: bounds_map(run, recipe, rows) for recipe, rows in deciding.items()}
    categories = sorted({row.question.category or "all" for rows in deciding.values() for row in rows})
    cells: list[list[Cell]] = []
    for recipe, rows in deciding.items():
        counts = Counter((row.question.category or "all", verdict_of(row)) for row in rows)
        verdicts = [" / ".join(str(counts[category, verdict]) for verdict in VERDICTS) for category in categories]
        cells.append([names[recipe], joined(row.judge for row in rows) or None, *verdicts, *bounds_cells(maps[recipe])])
    drawn = [
        map_figure(recipe, one, f"{prefix}-bounds")
        for recipe, one in maps.items()
        if one is not None and not parse_variant(recipe).settings
    ]
    heads = ["recipe", "judge", *(f"verdicts, {category}" for category in categories), *BOUNDS_COLUMNS]
    return [*tables, Table("Verdicts and bounds", heads, cells, NOTE, drawn[-1:])]


def bounds_cells(one: BoundsMap | None) -> list[Cell]:
    """What stands under `BOUNDS_COLUMNS`."""
    if one is None:
        return [None] * len(BOUNDS_COLUMNS)
    best = max(one.shares, key=lambda bounds: one.shares[bounds][1])
    counted = (one.right(one.used[1]), one.decided(*one.used), one.decided(*best))
    intervals = [proportion_interval(hits.astype(float).tolist()) for hits in counted]
    shares = [Number(share.value or 0.0, share.low, share.high) for share in intervals]
    return [*one.used, *shares, f"{best[0]:g} and {best[1]:g}", one.not_as_recorded]


def map_figure(recipe: str, one: BoundsMap, name: str) -> Figure:
    """Both ways of counting, for every pair of bounds."""
    nothing = (np.nan, np.nan)
    both = np.array([[one.shares.get((lower, upper), nothing) for lower in one.grid] for upper in one.grid])
    maps = {"right to stay or go": both[:, :, 0], "decided and right": both[:, :, 1]}
    half = (one.grid[1] - one.grid[0]) / 2
    ends = (one.grid[0] - half, one.grid[-1] + half)
    draw = partial(heat, maps=maps, ends=ends, ring=one.used, x="LOWER", y="UPPER")
    return Figure(name, f"Verdicts by the bounds: {recipe}", draw, len(one.best), "A circle is what was used.")


def risk_figure(block: Block, name: str) -> list[Figure]:
    """Risk against coverage of the recipes whose answers have a confidence: what it would cost to answer less."""
    names = labels(block.recipes)
    curves = []
    for recipe, rows in block.rows.items():
        points = risk_coverage(rows)[::-1]
        points = points[:: max(1, len(points) // CURVE_POINTS)][::-1]  # from the end, which stays
        if points:
            curves.append(Line(names[recipe], [one.coverage for one in points], [one.risk for one in points]))
    note = (
        "Wrong answers among those that would be given at each confidence and above; what was refused is not answered."
    )
    draw = partial(lines, drawn=curves, x="share of the questions answered", y="share of the answers wrong", steps=True)
    figure = Figure(name, "What it would cost to answer less", draw, block.n, note, legend(names))
    return [figure] if curves else []


def reliability_figure(block: Block, name: str) -> list[Figure]:
    """How often the collection answers, by the confidence of the recipe of the report; nothing where it tells none."""
    recipe = block.subject
    forecasts = [one for one in map(forecast, block.rows[recipe]) if one is not None]
    bins = [[one for one in forecasts if min(BINS - 1, int(one.probability * BINS)) == place] for place in range(BINS)]
    bins = [one for one in bins if one]
    means = [sum(one.probability for one in inside) / len(inside) for inside in bins]
    shares = [wilson_interval(round(sum(one.outcome for one in inside)), len(inside)) for inside in bins]
    bands = [[getattr(share, end) or 0.0 for share in shares] for end in ("value", "low", "high")]
    drawn = [Line(recipe, means, *bands), Line("as it should be", (0, 1), (0, 1))]
    x, y = f"confidence, mean of each of {BINS} bins", "share that the collection answers"
    title = f"How often the collection answers, by confidence: {recipe}"
    return [Figure(name, title, partial(lines, drawn=drawn, x=x, y=y), len(forecasts))] if bins else []
