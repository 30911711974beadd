"""What other bounds would have decided: the verdict of every question again, from its best score.

The judging is not repeated and nothing is answered again; only staying inside or going outside is counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from thresher.evals.measures import SUFFICES, verdict_of
from thresher.evals.report.drawing import COLOURS, INK, WIDTH, canvas_of, side_by_side
from thresher.evals.report.measured import Run
from thresher.evals.report.section import Cell, Figure, Measured, Table
from thresher.evals.rows import Row
from thresher.evals.statistics import proportion_interval
from thresher.evals.variants import parse_variant
from thresher.types import Verdict

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Operators = Literal["blog", "paper", "code"]
"""How a score is compared with a bound; see `thresher.judging.bounds`."""

STEPS = 20
"""Parts that the scale is cut into; a finer grid has fewer questions to a step than the sets have."""

HEIGHT = 3.3  # inches


@dataclass(frozen=True, slots=True)
class Decided:
    """One question: the best score of its chunks, whether the collection answers it, and what was decided."""

    best: float | None
    """None where nothing was retrieved or scored: then no bound changes the verdict."""
    suffices: bool
    verdict: Verdict
    lower: float | None = None
    upper: float | None = None


def point_of(row: Row) -> Decided | None:
    """The point of a question of which it is known whether the collection answers it; None for others."""
    suffices, verdict = SUFFICES.get(row.question.category), verdict_of(row)
    if suffices is None or verdict is None or row.reply is None:
        return None
    told = next((step.get("detail") or {} for step in row.reply.answer["steps"] if step["name"] == "decide"), {})
    known = {name: told.get(name) for name in ("best", "lower", "upper")}
    if any(not isinstance(value, int | float) for value in known.values()):
        return Decided(None, suffices, verdict)
    return Decided(known["best"], suffices, verdict, known["lower"], known["upper"])


def verdict_at(point: Decided, lower: float, upper: float, operators: Operators) -> Verdict:
    """What two bounds say of the best score; `unsure` acts as ambiguous and is told as that."""
    if point.best is None:
        return point.verdict
    if point.best > upper or (operators == "code" and point.best == upper):
        return Verdict.CORRECT
    if point.best > lower or (operators != "blog" and point.best == lower):
        return Verdict.AMBIGUOUS
    return Verdict.INCORRECT


def hits(points: Sequence[Decided], lower: float, upper: float, operators: Operators, *, decided: bool) -> list[float]:
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
    points: Sequence[Decided]
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


def summary(points: Sequence[Decided], used: tuple[float, float], operators: Operators) -> list[Cell]:
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


def used_bounds(points: Sequence[Decided]) -> tuple[float, float] | None:
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


def grid(points: Sequence[Decided]) -> list[float]:
    """The bounds that are tried: over 0..1, or over -1..1 where a score or a bound is below 0."""
    values = (value for point in points for value in (point.best, point.lower, point.upper))
    low = -1.0 if any(value is not None and value < 0 for value in values) else 0.0
    return [round(low + (1 - low) * step / STEPS, 6) for step in range(STEPS + 1)]


def heat(points: Sequence[Decided], used: Sequence[tuple[float, float]], operators: Operators) -> Callable[[Axes], None]:
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


def right(points: Sequence[Decided], lower: float, upper: float, operators: Operators, *, decided: bool) -> float:
    """The share of `hits`; not a number where the bounds are no bounds."""
    if lower > upper:
        return float("nan")
    return sum(hits(points, lower, upper, operators, decided=decided)) / len(points)
