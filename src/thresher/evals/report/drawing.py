"""How numbers are drawn: filled bars with intervals for what was measured, hollow dashed ones for what was claimed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from thresher.evals.report.section import Measured, number

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

COLOURS = ("#3b7dd8", "#d9772b", "#2f9e77", "#b85c9e", "#8a8f98", "#b59a1f", "#5aa7c7", "#c2504f")
"""Told apart on white and on black, and by most people who see fewer colours (after Okabe and Ito 2008)."""

INK = "#123456"
"""Stands for the colour of the text, which is the page's: dark on light, light on dark."""

HEADROOM = 0.16  # of an axis, for each drawing in a row: the numbers beside the longest bars need room

WIDTH = 7.2  # inches
ROW = 0.22  # inches of height for a bar
BORDER = 0.8  # inches for axis and title
TALLEST = 8.0  # inches: at the width of the page, what a screen shows

UNCLIPPED = {"clip_on": False}  # all that is drawn lies inside its axes, and a clip for each bar takes room in the file

Bars = Sequence[tuple[str, Mapping[str, Measured]]]
"""A label, and the number of each measure."""
Printed = Sequence[tuple[str, Mapping[str, float]]]


def bars(
    axes: Axes, measured: Bars, names: Sequence[str], *, claimed: Printed = (), label: str = "", share: bool = True
) -> None:
    """A drawing of bars for each measure in `names`, side by side, with a bar for each label and its number beside it.

    `share`: the numbers are in 0..1, and the axes are too.
    """
    labels = [group for group, _ in (*measured, *claimed)]
    for place, (beside, name) in enumerate(zip(side_by_side(axes, len(names)), names, strict=True)):
        colour = COLOURS[place % len(COLOURS)]
        ends = [filled(beside, row, told[name], colour) for row, (_, told) in enumerate(measured) if name in told]
        for row, (_, printed) in enumerate(claimed, start=len(measured)):
            if name in printed:
                hollow(beside, row, printed[name], colour)
                ends.append(printed[name] * (1 if share else 1 + HEADROOM))
        room = 1 + HEADROOM * len(names) + (HEADROOM if claimed else 0)
        beside.set_xlim(0, room if share else (max(ends, default=0.0) or 1.0) * room)
        if share:
            beside.set_xticks([0, 0.5, 1], ["0", "", "1"])
        named_rows(beside, labels, name, first=place == 0)
    sized(axes, len(labels), label)


def filled(axes: Axes, row: float, told: Measured, colour: str) -> float:
    """A measured number with its interval; returns where the interval ends."""
    value, low, high = ends_of(told)
    errors = [[max(0.0, value - low)], [max(0.0, high - value)]]
    axes.barh(row, value, height=0.82, color=colour, clip_on=False, xerr=errors, ecolor=INK, error_kw=UNCLIPPED)
    beside(axes, row, high, number(value))
    return high


def hollow(axes: Axes, row: float, value: float, colour: str) -> None:
    """A claimed number: an empty bar with a dashed edge and no interval, because none was published."""
    axes.barh(row, value, height=0.82, facecolor="none", edgecolor=colour, linestyle="--", linewidth=1.2, clip_on=False)
    beside(axes, row, value, f"{number(value)} claimed")


def beside(axes: Axes, row: float, end: float, text: str) -> None:
    """Words at the end of a bar."""
    axes.annotate(text, (end, row), (4, 0), textcoords="offset points", va="center", fontsize=8)


def points(axes: Axes, told: Bars, names: Sequence[str], *, label: str) -> None:
    """Differences with their intervals, a drawing for each measure, a line at none."""
    for place, (drawn, name) in enumerate(zip(side_by_side(axes, len(names)), names, strict=True)):
        for row, (_, differences) in enumerate(told):
            if name in differences:
                value, low, high = ends_of(differences[name])
                colour = COLOURS[0] if low > 0 or high < 0 else COLOURS[4]
                drawn.plot([low, high], [row, row], color=colour, linewidth=2, clip_on=False)
                drawn.plot([value], [row], marker="o", markersize=5, color=colour, clip_on=False)
        drawn.axvline(0, color=INK, linewidth=0.8)
        drawn.locator_params(axis="x", nbins=4)
        named_rows(drawn, [group for group, _ in told], name, first=place == 0)
    sized(axes, len(told), label)


def ends_of(told: Measured) -> tuple[float, float, float]:
    """The number and the ends of its interval, which are the number itself where there is none."""
    value = told.value or 0.0
    return value, value if told.low is None else told.low, value if told.high is None else told.high


def side_by_side(axes: Axes, count: int) -> list[Axes]:
    """As many drawings in a row as are wanted, the given one first."""
    if count == 1:
        return [axes]
    canvas = canvas_of(axes)
    grid = canvas.add_gridspec(1, count)
    axes.set_subplotspec(grid[0])
    return [axes, *(canvas.add_subplot(grid[place]) for place in range(1, count))]


def named_rows(axes: Axes, labels: Sequence[str], title: str, *, first: bool) -> None:
    """Rows from the top, their names before the first drawing only."""
    axes.set_yticks(range(len(labels)), labels if first else [""] * len(labels))
    axes.set_ylim(len(labels) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    axes.set_title(title, loc="left")
    axes.grid(axis="x", alpha=0.25)


def sized(axes: Axes, rows: int, label: str) -> None:
    """The size of the whole for its rows, and what its axes are."""
    axes.set_xlabel(label)
    canvas_of(axes).set_size_inches(WIDTH, min(TALLEST, BORDER + ROW * rows))


def canvas_of(axes: Axes) -> Canvas:
    """The whole drawing that the axes belong to."""
    canvas = axes.get_figure(root=True)
    if canvas is None:
        raise ValueError("these axes belong to no figure")
    return canvas
