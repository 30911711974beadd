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

HEADROOM = 1.2  # of the axis, so that the numbers beside the longest bars have room

WIDTH = 7.2  # inches
ROW = 0.2  # inches of height for a bar
BORDER = 1.1  # inches for axis, legend and title

Bars = Sequence[tuple[str, Mapping[str, Measured]]]
"""A label, and the number of each measure."""


def bars(
    axes: Axes,
    measured: Bars,
    names: Sequence[str],
    *,
    claimed: Sequence[tuple[str, Mapping[str, float]]] = (),
    label: str = "",
    share: bool = True,
) -> None:
    """A group of bars for each label, one bar for each measure in `names`, with the number beside it.

    `share`: the numbers are in 0..1, and the axis is too.
    """
    colours = {name: COLOURS[place % len(COLOURS)] for place, name in enumerate(names)}
    ticks: list[tuple[float, str]] = []
    beyond = 0.0
    top = 0.0
    for group, told in measured:
        drawn = [name for name in names if name in told]
        for place, name in enumerate(drawn):
            one = told[name]
            value = one.value or 0.0
            low, high = (value if bound is None else bound for bound in (one.low, one.high))
            errors = [[max(0.0, value - low)], [max(0.0, high - value)]]
            axes.barh(top + place, value, height=0.82, color=colours[name], xerr=errors, ecolor=INK, capsize=2)
            axes.annotate(
                number(value), (high, top + place), (4, 0), textcoords="offset points", va="center", fontsize=8
            )
            beyond = max(beyond, high)
        ticks.append((top + (len(drawn) - 1) / 2, group))
        top += len(drawn) + 0.7
    for group, printed in claimed:
        drawn = [name for name in names if name in printed]
        for place, name in enumerate(drawn):
            hollow(axes, top + place, printed[name], colours[name])
            beyond = max(beyond, printed[name])
        ticks.append((top + (len(drawn) - 1) / 2, group))
        top += len(drawn) + 0.7
    axes.set_yticks([place for place, _ in ticks], [shortened(group) for _, group in ticks])
    axes.set_ylim(top - 0.7, -0.8)
    axes.set_xlim(0, HEADROOM if share else (beyond or 1.0) * HEADROOM)
    if share:
        axes.set_xticks([0, 0.2, 0.4, 0.6, 0.8, 1])
    axes.set_xlabel(label)
    axes.grid(axis="x", alpha=0.25)
    legend(axes, colours)
    canvas_of(axes).set_size_inches(WIDTH, BORDER + ROW * top)


INK = "#123456"
"""Stands for the colour of the text, which is the page's: dark on light, light on dark."""


def hollow(axes: Axes, place: float, value: float, colour: str) -> None:
    """A claimed number: an empty bar with a dashed edge and no interval, because none was published."""
    axes.barh(place, value, height=0.82, facecolor="none", edgecolor=colour, linestyle="--", linewidth=1.2)
    axes.annotate(
        f"{number(value)} claimed", (value, place), (4, 0), textcoords="offset points", va="center", fontsize=8
    )


def legend(axes: Axes, colours: Mapping[str, str]) -> None:
    """What the colours are, above the drawing."""
    from matplotlib.patches import Patch

    handles = [Patch(color=colour, label=name) for name, colour in colours.items()]
    axes.legend(
        handles=handles,
        loc="lower left",
        bbox_to_anchor=(0, 1.0),
        ncols=min(4, len(handles)),
        frameon=False,
        fontsize=8,
    )


def points(axes: Axes, told: Sequence[tuple[str, Measured]], *, label: str) -> None:
    """Differences with their intervals, a line at none."""
    for place, (_, one) in enumerate(told):
        value = one.value or 0.0
        low, high = (value if bound is None else bound for bound in (one.low, one.high))
        colour = COLOURS[0] if low > 0 or high < 0 else COLOURS[4]
        axes.plot([low, high], [place, place], color=colour, linewidth=2)
        axes.plot([value], [place], marker="o", markersize=5, color=colour)
    axes.axvline(0, color=INK, linewidth=0.8)
    axes.set_yticks(range(len(told)), [shortened(group) for group, _ in told])
    axes.set_ylim(len(told) - 0.4, -0.6)
    axes.set_xlabel(label)
    axes.grid(axis="x", alpha=0.25)
    canvas_of(axes).set_size_inches(WIDTH, BORDER + 1.4 * ROW * len(told))


LONGEST = 46  # characters of a label that leave half of the width to the drawing


def shortened(label: str) -> str:
    """A label that fits beside its bar."""
    return label if len(label) <= LONGEST else f"{label[: LONGEST - 1]}…"


def canvas_of(axes: Axes) -> Canvas:
    """The whole drawing that the axes belong to."""
    canvas = axes.get_figure(root=True)
    if canvas is None:
        raise ValueError("these axes belong to no figure")
    return canvas
