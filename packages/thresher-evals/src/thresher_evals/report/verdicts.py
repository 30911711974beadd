"""Does a recipe know what it has: verdicts against categories, and confidence against what came of it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from thresher.types import Verdict
from thresher_evals.metrics.registry import SUFFICES, Point, forecast, risk_coverage, verdict_of
from thresher_evals.report.blocks import Cell, Figure, Measured, Section, Table
from thresher_evals.report.data import LACKS, Block, Run, lacks
from thresher_evals.report.plots import COLOURS, INK, WIDTH, canvas_of, side_by_side
from thresher_evals.rows import Row
from thresher_evals.runner import parse_variant
from thresher_evals.stats import BINS, Forecast, proportion_interval, wilson_interval

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Operators = Literal["blog", "paper", "code"]
"""How a score is compared with a bound; see `thresher.judging.bounds`."""

STEPS = 20
"""Parts that the scale is cut into; a finer grid has fewer questions to a step than the sets have."""

HEIGHT = 3.3  # inches


@dataclass(frozen=True, slots=True)
class JudgedQuestion:
    """One question: the best score of its chunks, whether the collection answers it, and what was decided."""

    best: float | None
    """None where nothing was retrieved or scored: then no bound changes the verdict."""
    suffices: bool
    verdict: Verdict
    lower: float | None = None
    upper: float | None = None


def point_of(row: Row) -> JudgedQuestion | None:
    """The point of a question of which it is known whether the collection answers it; None for others."""
    suffices, verdict = SUFFICES.get(row.question.category), verdict_of(row)
    if suffices is None or verdict is None or row.reply is None:
        return None
    known = {name: row.reply.told("decide", name) for name in ("best", "lower", "upper")}
    if any(not isinstance(value, int | float) for value in known.values()):
        return JudgedQuestion(None, suffices, verdict)
    return JudgedQuestion(known["best"], suffices, verdict, known["lower"], known["upper"])


def verdict_at(point: JudgedQuestion, lower: float, upper: float, operators: Operators) -> Verdict:
    """What two bounds say of the best score; `unsure` acts as ambiguous and is told as that."""
    if point.best is None:
        return point.verdict
    if point.best > upper or (operators == "code" and point.best == upper):
        return Verdict.CORRECT
    if point.best > lower or (operators != "blog" and point.best == lower):
        return Verdict.AMBIGUOUS
    return Verdict.INCORRECT


def hits(
    points: Sequence[JudgedQuestion], lower: float, upper: float, operators: Operators, *, decided: bool
) -> list[float]:
    """1 for every question where staying or going was right: correct stays, anything else goes outside.

    With `decided`, ambiguous (which uses both) is right nowhere: only then does the lower bound count.
    """
    told = []
    for point in points:
        verdict = verdict_at(point, lower, upper, operators)
        if decided:
            told.append(float(verdict is (Verdict.CORRECT if point.suffices else Verdict.INCORRECT)))
        else:
            told.append(float((verdict is Verdict.CORRECT) == point.suffices))
    return told


@dataclass(frozen=True, slots=True)
class Decided:
    """A recipe that tells its bounds: its questions, the bounds it used, and how it compares."""

    recipe: str
    points: Sequence[JudgedQuestion]
    used: tuple[float, float]
    operators: Operators

    @property
    def scores(self) -> tuple[Any, ...]:
        """What a map depends on; recipes that differ elsewhere only share theirs."""
        fixed = ((point.best, point.suffices, point.best is None and point.verdict) for point in self.points)
        return (self.operators, grid(self.points)[0], *fixed)


def bounds_tables_and_figures(
    run: Run, deciding: Mapping[str, Sequence[Row]], prefix: str
) -> tuple[list[Table], list[Figure]]:
    """A table of all recipes that tell their bounds, and a figure for all that score alike."""
    alike: dict[tuple[Any, ...], list[Decided]] = {}
    rows: list[list[Cell]] = []
    for recipe, of in deciding.items():
        points = [point for point in map(point_of, of) if point is not None]
        used = used_bounds(points)
        if used is not None:
            one = Decided(recipe, points, used, operators_of(run.described["settings"].get(recipe, {})))
            alike.setdefault(one.scores, []).append(one)
            rows.append([recipe, *summary(points, used, one.operators)])
    if not rows:
        return [], []
    columns = [
        "recipe",
        "n",
        "LOWER",
        "UPPER",
        "right",
        "decided and right",
        "best of the map",
        "at",
        "not as recorded",
    ]
    note = (
        "Right: stayed inside where the collection answers, went outside where not. The best of the map was chosen on "
        "these same questions: it says what bounds could gain at most, and is no result. Not as recorded: verdicts "
        "that come out otherwise than in the rows, where `unsure` counts as ambiguous."
    )
    figures = [figure for group in alike.values() for figure in maps(group, prefix)]
    return [Table("Bounds", columns, rows, note)], figures


def maps(group: Sequence[Decided], prefix: str) -> list[Figure]:
    """Two maps side by side of recipes that score alike, with the bounds of each; none where all are variants."""
    plain_ones = [one for one in group if not parse_variant(one.recipe).settings]
    if not plain_ones:
        return []
    first, names = plain_ones[0], ", ".join(one.recipe for one in plain_ones)
    note = (
        "Verdicts again from the best score of each question. Left, right to stay or go: ambiguous goes outside, so "
        "the lower bound does not count. Right, decided and right: ambiguous uses both and counts as not decided. A "
        "circle is what was used."
    )
    draw = heat(first.points, [one.used for one in group], first.operators)
    return [
        Figure(f"{prefix}-bounds-{first.recipe}", f"Verdicts by the bounds: {names}", draw, len(first.points), note)
    ]


def summary(points: Sequence[JudgedQuestion], used: tuple[float, float], operators: Operators) -> list[Cell]:
    """What stands in the table for one recipe."""
    lower, upper = used
    lines = grid(points)
    pairs = [(low, high) for low in lines for high in lines if low <= high]
    at = max(pairs, key=lambda pair: sum(hits(points, pair[0], pair[1], operators, decided=True)))
    otherwise = sum(
        verdict_at(point, point.lower or 0.0, point.upper or 0.0, operators) is not plain(point.verdict)
        for point in points
        if point.best is not None
    )
    return [
        len(points),
        lower,
        upper,
        share(hits(points, lower, upper, operators, decided=False)),
        share(hits(points, lower, upper, operators, decided=True)),
        share(hits(points, at[0], at[1], operators, decided=True)),
        f"{at[0]:g} and {at[1]:g}",
        otherwise,
    ]


def plain(verdict: Verdict) -> Verdict:
    """`unsure` acts as ambiguous."""
    return Verdict.AMBIGUOUS if verdict is Verdict.UNSURE else verdict


def share(values: Sequence[float]) -> Measured:
    """A proportion with its interval."""
    return Measured.of(proportion_interval(values).to_dict())


def used_bounds(points: Sequence[JudgedQuestion]) -> tuple[float, float] | None:
    """The bounds of most of the questions; None where none tells any."""
    told = Counter((point.lower, point.upper) for point in points if point.lower is not None)
    if not told:
        return None
    (lower, upper), _ = told.most_common(1)[0]
    return (lower or 0.0, upper or 0.0)


def operators_of(settings: Mapping[str, Any]) -> Operators:
    """How this recipe compares: its setting, or as a calibrated recipe does, which is as the published code."""
    match settings.get("bounds"):
        case "blog":
            return "blog"
        case "paper":
            return "paper"
        case _:
            return "code"


def grid(points: Sequence[JudgedQuestion]) -> list[float]:
    """The bounds that are tried: over 0..1, or over -1..1 where a score or a bound is below 0."""
    values = (value for point in points for value in (point.best, point.lower, point.upper))
    low = -1.0 if any(value is not None and value < 0 for value in values) else 0.0
    return [round(low + (1 - low) * step / STEPS, 6) for step in range(STEPS + 1)]


def heat(
    points: Sequence[JudgedQuestion], used: Sequence[tuple[float, float]], operators: Operators
) -> Callable[[Axes], None]:
    """Draws the share that is right for every pair of bounds, both ways of counting, and the pairs that were used."""

    def draw(axes: Axes) -> None:
        lines = grid(points)
        step = lines[1] - lines[0]
        ends = (lines[0] - step / 2, lines[-1] + step / 2)
        drawings = side_by_side(axes, 2)
        for one, decided in zip(drawings, (False, True), strict=True):
            image = one.imshow(
                [[right(points, lower, upper, operators, decided=decided) for lower in lines] for upper in lines],
                cmap="viridis", vmin=0, vmax=1, origin="lower", interpolation="none", extent=(*ends, *ends),
            )  # fmt: skip
            for lower, upper in dict.fromkeys(used):
                one.plot(lower, upper, marker="o", markersize=9, markerfacecolor="none", markeredgecolor=RING, mew=2)
            one.set_title("decided and right" if decided else "right to stay or go", loc="left")
            one.set_xlabel("LOWER")
        axes.set_ylabel("UPPER")
        bar = canvas_of(axes).colorbar(image, ax=drawings, label="share of the questions")
        bar.outline.set_edgecolor(INK)
        canvas_of(axes).set_size_inches(WIDTH, HEIGHT)

    return draw


RING = COLOURS[1]


def right(
    points: Sequence[JudgedQuestion], lower: float, upper: float, operators: Operators, *, decided: bool
) -> float:
    """The share of `hits`; not a number where the bounds are no bounds."""
    if lower > upper:
        return float("nan")
    return sum(hits(points, lower, upper, operators, decided=decided)) / len(points)


# --- does a recipe know what it has: verdicts against categories, and confidence against what came of it --------------


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


KNOWING_STEPS = 60  # points of a curve that a drawing of this width can show apart


def thinned(points: Sequence[Point]) -> list[Point]:
    """At most about `STEPS` points of a curve, evenly chosen, the last one among them."""
    every = math.ceil(len(points) / KNOWING_STEPS)
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
