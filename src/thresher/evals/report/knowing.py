"""Does a recipe know what it has: verdicts against categories, and confidence against what came of it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from thresher.evals.measures import forecast, verdict_of
from thresher.evals.report.bounds import bounds_tables_and_figures
from thresher.evals.report.drawing import COLOURS, INK
from thresher.evals.report.measured import Block, Run
from thresher.evals.report.outcomes import LACKS, lacks
from thresher.evals.report.section import Cell, Figure, Section, Table
from thresher.evals.risk import Point, risk_coverage
from thresher.evals.rows import Row
from thresher.evals.statistics import BINS, Forecast, wilson_interval
from thresher.evals.variants import parse_variant
from thresher.types import Verdict

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MEASURES = ("verdict_accuracy", "auroc", "ece", "aurc")


def knowing_section(run: Run, block: Block, prefix: str) -> list[Section]:
    """Confusion of verdict and category, calibration and bounds; nothing where no recipe gives verdicts."""
    deciding = {recipe: rows for recipe, rows in block.rows.items() if any(verdict_of(row) is not None for row in rows)}
    if not deciding:
        return []
    confusion: list[list[Cell]] = [
        [recipe, category, *counts] for recipe, rows in deciding.items() for category, counts in confused(rows)
    ]
    columns = ["recipe", "category", "n", *Verdict, "none", "failed"]
    known: list[list[Cell]] = [
        [recipe, *(block.scores[recipe].get(name) for name in MEASURES), lacks(rows)]
        for recipe, rows in deciding.items()
    ]
    tables = [
        Table("Verdict by category", columns, confusion, "Counts of questions."),
        Table("How good the verdicts are", ["recipe", *MEASURES, LACKS], known, "Value [95 % interval] n."),
    ]
    figures = [
        figure
        for recipe, rows in deciding.items()
        if not parse_variant(recipe).settings
        for figure in reliability(recipe, rows, prefix)
    ]
    figures += risk_figures(block, prefix)
    bounds_tables, bounds_figures = bounds_tables_and_figures(run, deciding, prefix)
    return [Section("Verdicts", tables=[*tables, *bounds_tables], figures=[*figures, *bounds_figures])]


def confused(rows: Sequence[Row]) -> list[tuple[str, list[int]]]:
    """Category to n and the count of each verdict, of no verdict, and of failures."""
    counted: dict[str, Counter[str]] = {}
    for row in rows:
        verdict = verdict_of(row)
        name = "failed" if row.reply is None else "none" if verdict is None else str(verdict)
        counted.setdefault(row.question.category or "all", Counter())[name] += 1
    names = [*map(str, Verdict), "none", "failed"]
    return [
        (category, [counts.total(), *(counts[name] for name in names)]) for category, counts in sorted(counted.items())
    ]


# --- calibration ------------------------------------------------------------------------------------------------------


def reliability(recipe: str, rows: Sequence[Row], prefix: str) -> list[Figure]:
    """The reliability diagram of a recipe that tells a confidence where it is known what the collection has."""
    forecasts = [told for told in map(forecast, rows) if told is not None]
    if not forecasts:
        return []
    title = f"How often the collection answers, by confidence: {recipe}"
    note = f"{BINS} bins of equal width; the number beside a point is how many questions are in its bin."
    return [Figure(f"{prefix}-reliability-{recipe}", title, calibration(forecasts), len(forecasts), note)]


def binned(forecasts: Sequence[Forecast]) -> list[tuple[float, int, int]]:
    """Mean probability, how often it came true and how many, of each bin that holds any."""
    bins: list[list[Forecast]] = [[] for _ in range(BINS)]
    for one in forecasts:
        bins[min(BINS - 1, int(one.probability * BINS))].append(one)
    return [
        (sum(one.probability for one in inside) / len(inside), round(sum(one.outcome for one in inside)), len(inside))
        for inside in bins
        if inside
    ]


def calibration(forecasts: Sequence[Forecast]) -> Callable[[Axes], None]:
    """Draws mean confidence against frequency with Wilson's interval, and the diagonal."""

    def draw(axes: Axes) -> None:
        axes.plot([0, 1], [0, 1], color=INK, linewidth=0.8, linestyle=":")
        for probability, so, n in binned(forecasts):
            told = wilson_interval(so, n)
            value, low, high = (bound or 0.0 for bound in (told.value, told.low, told.high))
            axes.errorbar(
                probability, value, [[max(0.0, value - low)], [max(0.0, high - value)]],
                marker="o", color=COLOURS[0], capsize=2,
            )  # fmt: skip
            axes.annotate(str(n), (probability, value), (5, 4), textcoords="offset points", fontsize=8)
        axes.set_xlim(0, 1)
        axes.set_ylim(-0.02, 1.02)
        axes.set_xlabel("confidence, mean of the bin")
        axes.set_ylabel("share that the collection answers")
        axes.grid(alpha=0.25)

    return draw


# --- answering less ---------------------------------------------------------------------------------------------------


def risk_figures(block: Block, prefix: str) -> list[Figure]:
    """The risk-coverage curves of the recipes whose answers have a confidence."""
    curves = {recipe: points for recipe in block.curved if (points := risk_coverage(block.rows[recipe]))}
    if not curves:
        return []
    n = min(len(block.rows[recipe]) for recipe in curves)
    note = (
        "Share of wrong answers among those that would be given at each confidence and above. What was refused or "
        "failed is not answered at any. The area below a curve and its interval stand in the table (aurc)."
    )
    drawn = {block.label(recipe): thinned(points) for recipe, points in curves.items()}
    return [Figure(f"{prefix}-risk", "What it would cost to answer less", risks(drawn), n, note, block.legend(curves))]


STEPS = 60  # points of a curve that a drawing of this width can show apart


def thinned(points: Sequence[Point]) -> list[Point]:
    """At most about `STEPS` points of a curve, evenly chosen, the last one among them."""
    every = math.ceil(len(points) / STEPS)
    return [point for place, point in enumerate(points, start=1) if place % every == 0 or place == len(points)]


def risks(curves: Mapping[str, Sequence[Point]]) -> Callable[[Axes], None]:
    """Draws risk against coverage, a step curve for each recipe."""

    def draw(axes: Axes) -> None:
        for place, (recipe, points) in enumerate(curves.items()):
            coverage, risk = [one.coverage for one in points], [one.risk for one in points]
            colour = COLOURS[place % len(COLOURS)]
            axes.plot(coverage, risk, color=colour, label=recipe, drawstyle="steps-pre")
        axes.set_xlim(0, 1)
        axes.set_ylim(-0.02, 1.02)
        axes.set_xlabel("share of the questions answered")
        axes.set_ylabel("share of the answers that are wrong")
        axes.grid(alpha=0.25)
        axes.legend(frameon=False, fontsize=8, loc="upper left", bbox_to_anchor=(1, 1))

    return draw
