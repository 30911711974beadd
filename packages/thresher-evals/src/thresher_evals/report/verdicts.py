"""Does a recipe know what it has: refusals, verdicts, confidence, and what other bounds would have decided.

The map of bounds (CRAG, LOWER x UPPER) takes the verdict of every question again from its best score. Staying
was right where the collection answers, going outside where it does not. Correct stays, anything else goes; with
`decided`, ambiguous (which uses both) is right nowhere, and only then does the lower bound count.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from thresher.judging.verdicts import Operators
from thresher.types import Verdict
from thresher_evals.metrics.registry import SUFFICES, forecast, risk_coverage, verdict_of
from thresher_evals.report.blocks import Cell, Figure, Number, Table
from thresher_evals.report.data import Block, Run, named
from thresher_evals.report.plots import Line, heat, lines
from thresher_evals.report.tables import labels, legend, measure_table
from thresher_evals.rows import Row
from thresher_evals.runner import parse_variant
from thresher_evals.stats import BINS, proportion_interval, wilson_interval

STEPS = 20
"""Parts that the scale is cut into; a finer grid has fewer questions to a step than the sets have."""


@dataclass(frozen=True, slots=True)
class JudgedQuestion:
    """One question: the best score of its chunks, whether the collection answers it, and what was decided."""

    best: float | None
    """None where nothing was retrieved or scored: then no bound changes the verdict."""
    suffices: bool
    verdict: Verdict
    lower: float | None = None
    upper: float | None = None


def judged_question(row: Row) -> JudgedQuestion | None:
    """What is known of a question where it is known whether the collection answers it; None for others."""
    suffices, verdict = SUFFICES.get(row.question.category), verdict_of(row)
    if suffices is None or verdict is None or row.reply is None:
        return None
    known = [row.reply.told("decide", name) for name in ("best", "lower", "upper")]
    if any(not isinstance(value, int | float) for value in known):
        return JudgedQuestion(None, suffices, verdict)
    return JudgedQuestion(known[0], suffices, verdict, known[1], known[2])


class MapLine(NamedTuple):
    """A line of bounds.csv."""

    run: str
    recipe: str
    lower: float
    upper: float
    right: float
    decided_and_right: float
    n: int


@dataclass(frozen=True)
class BoundsMap:
    """The questions of a recipe that tells its bounds."""

    questions: Sequence[JudgedQuestion]
    operators: Operators

    @cached_property
    def used(self) -> tuple[float, float] | None:
        """The bounds of most of the questions; None where none tells any."""
        told = Counter((one.lower, one.upper) for one in self.questions if one.lower is not None)
        return None if not told else told.most_common(1)[0][0]  # type: ignore[return-value]

    @cached_property
    def grid(self) -> list[float]:
        """The bounds that are tried: over 0..1, or over -1..1 where a score or a bound is below 0."""
        values = (value for one in self.questions for value in (one.best, one.lower, one.upper))
        low = -1.0 if any(value is not None and value < 0 for value in values) else 0.0
        return [round(low + (1 - low) * step / STEPS, 6) for step in range(STEPS + 1)]

    def verdicts(self, lower: float, upper: float) -> list[Verdict]:
        """What two bounds say of each best score; `unsure` acts as ambiguous and is told as that."""
        return [
            plain(one.verdict) if one.best is None else verdict_at(one.best, lower, upper, self.operators)
            for one in self.questions
        ]

    def hits(self, lower: float, upper: float, *, decided: bool) -> list[float]:
        """1 for every question on which staying or going was right."""
        return [
            float(verdict is (Verdict.CORRECT if one.suffices else Verdict.INCORRECT))
            if decided
            else float((verdict is Verdict.CORRECT) == one.suffices)
            for one, verdict in zip(self.questions, self.verdicts(lower, upper), strict=True)
        ]

    @cached_property
    def shares(self) -> Mapping[bool, NDArray[np.float64]]:
        """(upper, lower) share of the questions that is right, by whether only decided ones are; nan for no bounds."""
        above = {upper: self.verdicts(self.grid[0], upper) for upper in self.grid}
        below = {lower: self.verdicts(lower, self.grid[-1]) for lower in self.grid}
        suffices = np.array([one.suffices for one in self.questions])
        stays = np.array([[one is Verdict.CORRECT for one in above[bound]] for bound in self.grid])
        goes = np.array([[one is Verdict.INCORRECT for one in below[bound]] for bound in self.grid])
        size = len(self.grid)
        right = np.repeat((stays == suffices).mean(axis=1)[:, None], size, axis=1)
        decided = ((stays & suffices).sum(axis=1)[:, None] + (goes & ~suffices).sum(axis=1)[None, :]) / len(suffices)
        no_bounds = np.triu(np.ones((size, size), dtype=bool), 1)  # the lower above the upper
        return {kind: np.where(no_bounds, np.nan, one) for kind, one in ((False, right), (True, decided))}


def verdict_at(best: float, lower: float, upper: float, operators: Operators) -> Verdict:
    """What two bounds say of a score, as `thresher.judging.verdicts.Bounds` does."""
    if best > upper or (operators == "code" and best == upper):
        return Verdict.CORRECT
    return Verdict.AMBIGUOUS if best > lower or (operators != "blog" and best == lower) else Verdict.INCORRECT


def plain(verdict: Verdict) -> Verdict:
    """`unsure` acts as ambiguous."""
    return Verdict.AMBIGUOUS if verdict is Verdict.UNSURE else verdict


def bounds_map(run: Run, block: Block, recipe: str) -> BoundsMap | None:
    """The map of a recipe that tells its bounds. A calibrated recipe compares as the published code does."""
    questions = [one for one in map(judged_question, block.rows[recipe]) if one is not None]
    told = run.described["settings"].get(recipe, {}).get("bounds")
    found = BoundsMap(questions, told if told in ("blog", "paper") else "code")
    return None if found.used is None else found


def map_lines(run: Run) -> Iterator[MapLine]:
    """Every pair of bounds of every recipe that tells its own; not for ablations, which share their recipe's."""
    maps = [
        (recipe, found)
        for block in run.blocks
        for recipe in block.recipes
        if block.ablated is None and (found := bounds_map(run, block, recipe)) is not None
    ]
    for recipe, found in maps:
        for row, upper in enumerate(found.grid):
            for column, lower in enumerate(found.grid[: row + 1]):
                right, decided = (float(found.shares[kind][row, column]) for kind in (False, True))
                yield MapLine(run.name, recipe, lower, upper, right, decided, len(found.questions))


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
CURVES, CURVE_POINTS = 6, 60  # that a drawing of this width can show apart


def verdict_tables(run: Run, block: Block, prefix: str) -> list[Table]:
    """Does a recipe know what it has: refusals and confidence, verdicts by category, and what bounds could gain."""
    precision = ["refusal_precision"] if "refusal_recall" in block.measures else []
    tables = measure_table("Refusals and confidence", block, (*precision, *REFUSALS), "Of ece and aurc less is better.")
    figures = [*risk_figure(block, f"{prefix}-risk"), *reliability_figure(block, f"{prefix}-reliability")]
    tables = [replace(table, figures=figures) for table in tables]
    categories = sorted({row.question.category or "all" for rows in block.rows.values() for row in rows})
    names, lines, maps = labels(block.recipes), [], {}
    for recipe, rows in block.rows.items():
        if not any(map(verdict_of, rows)):
            continue
        counts = Counter((row.question.category or "all", verdict_of(row)) for row in rows)
        told = [" / ".join(str(counts[one, verdict]) for verdict in VERDICTS) for one in categories]
        found = bounds_map(run, block, recipe)
        if found is not None and not parse_variant(recipe).settings:
            maps[recipe] = found
        lines.append([names[recipe], named(row.judge for row in rows) or None, *told, *bounds_cells(found)])
    if lines:
        drawn = [map_figure(recipe, found, f"{prefix}-bounds") for recipe, found in reversed(maps.items())][:1]
        tables.append(
            Table("Verdicts and bounds", ["recipe", "judge", *categories, *BOUNDS_COLUMNS], lines, NOTE, drawn)
        )
    return tables


def bounds_cells(found: BoundsMap | None) -> list[Cell]:
    """What stands under `BOUNDS_COLUMNS`."""
    if found is None or found.used is None:
        return [None] * len(BOUNDS_COLUMNS)
    row, column = np.unravel_index(np.nanargmax(found.shares[True]), found.shares[True].shape)
    best = (found.grid[column], found.grid[row])
    counted = (found.hits(*found.used, decided=False), found.hits(*found.used, decided=True))
    told = [proportion_interval(hits) for hits in (*counted, found.hits(*best, decided=True))]
    shares = [Number(one.value or 0.0, one.low, one.high) for one in told]
    otherwise = sum(
        verdict_at(one.best, one.lower or 0.0, one.upper or 0.0, found.operators) is not plain(one.verdict)
        for one in found.questions
        if one.best is not None
    )
    return [*found.used, *shares, f"{best[0]:g} and {best[1]:g}", otherwise]


def map_figure(recipe: str, found: BoundsMap, name: str) -> Figure:
    """Both ways of counting, for every pair of bounds."""
    half = (found.grid[1] - found.grid[0]) / 2
    maps: dict[str, Any] = {"right to stay or go": found.shares[False], "decided and right": found.shares[True]}
    draw = partial(
        heat,
        maps=maps,
        ends=(found.grid[0] - half, found.grid[-1] + half),
        rings=[found.used] if found.used else [],
        x="LOWER",
        y="UPPER",
    )
    return Figure(name, f"Verdicts by the bounds: {recipe}", draw, len(found.questions), "A circle is what was used.")


def risk_figure(block: Block, name: str) -> list[Figure]:
    """Risk against coverage of the recipes whose answers have a confidence: what it would cost to answer less."""
    curves = {recipe: points for recipe, rows in block.rows.items() if (points := risk_coverage(rows))}
    curves = dict(list(curves.items())[:CURVES])
    if not curves:
        return []
    names = labels(block.recipes)
    drawn = [
        Line(names[recipe], [one.coverage for one in thinned], [one.risk for one in thinned])
        for recipe, points in curves.items()
        for thinned in [points[:: max(1, len(points) // CURVE_POINTS)]]
    ]
    note = (
        "Wrong answers among those that would be given at each confidence and above; what was refused is not answered."
    )
    draw = partial(lines, drawn=drawn, x="share of the questions answered", y="share of the answers wrong", steps=True)
    n = min(len(block.rows[recipe]) for recipe in curves)
    return [Figure(name, "What it would cost to answer less", draw, n, note, legend(names))]


def reliability_figure(block: Block, name: str) -> list[Figure]:
    """How often the collection answers, by the confidence of the recipe of the report; nothing where it tells none."""
    recipe = block.subject
    forecasts = [told for told in map(forecast, block.rows[recipe]) if told is not None]
    bins = [[one for one in forecasts if min(BINS - 1, int(one.probability * BINS)) == place] for place in range(BINS)]
    points = [
        (
            sum(one.probability for one in inside) / len(inside),
            wilson_interval(round(sum(one.outcome for one in inside)), len(inside)),
        )
        for inside in bins
        if inside
    ]
    if not points:
        return []
    mean, told = zip(*points, strict=True)
    bands = [[getattr(one, end) or 0.0 for one in told] for end in ("value", "low", "high")]
    drawn = [Line(recipe, mean, *bands), Line("as it should be", (0, 1), (0, 1))]
    draw = partial(
        lines, drawn=drawn, x=f"confidence, mean of each of {BINS} bins", y="share that the collection answers"
    )
    return [Figure(name, f"How often the collection answers, by confidence: {recipe}", draw, len(forecasts))]
