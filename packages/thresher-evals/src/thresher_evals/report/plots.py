"""Lines with bands and maps of shares, as small SVG in the colours of the surrounding page.

The same numbers give the same bytes.
"""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import matplotlib
from matplotlib.axes import Axes
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure as Canvas

from thresher_evals.report.blocks import Figure

COLOURS = ("#3b7dd8", "#d9772b", "#2f9e77", "#b85c9e", "#8a8f98", "#b59a1f", "#5aa7c7", "#c2504f")
"""Distinct on white and on black, also for most people with colour blindness (after Okabe and Ito 2008)."""

INK = "#123456"
"""Placeholder for the page's text colour, dark on light or light on dark."""

WIDTH, HEIGHT = 7.2, 2.8  # inches
FEW = 30  # a figure notes fewer questions than this

STYLE: Any = {
    "svg.hashsalt": "thresher",  # ids that do not change from run to run
    "svg.fonttype": "none",
    "text.parse_math": False,  # names are data, and may hold a dollar sign
    "font.family": ["DejaVu Sans"],
    "font.size": 9,
    "axes.titlesize": 9,
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
    "legend.fontsize": 8,
    "grid.alpha": 0.25,
    **dict.fromkeys(("axes.edgecolor", "axes.labelcolor", "text.color", "xtick.color", "ytick.color"), INK),
}

# --- lines ---------------------------------------------------------------------------------------------------------


class Line(NamedTuple):
    """Points of one label in order, with an optional band."""

    label: str
    xs: Sequence[float]
    ys: Sequence[float]
    lows: Sequence[float] = ()
    highs: Sequence[float] = ()


def lines(
    axes: Axes, drawn: Sequence[Line], x: str, y: str, *, unit: bool = True, steps: bool = False, log: bool = False
) -> None:
    """A line with its band for each label; `unit`: the y axis is a share."""
    for place, line in enumerate(drawn):
        colour, marker = COLOURS[place % len(COLOURS)], "o" if len(line.xs) < FEW else None
        style = "steps-pre" if steps else "default"
        axes.plot(line.xs, line.ys, color=colour, label=line.label, marker=marker, markersize=4, drawstyle=style)
        if line.lows:
            axes.fill_between(line.xs, line.lows, line.highs, color=colour, alpha=0.12, linewidth=0)
    if unit:
        axes.set_ylim(-0.02, 1.02)
    if log:
        axes.set_xscale("log")
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.grid()
    if any(line.label for line in drawn):
        axes.legend(loc="upper left", bbox_to_anchor=(1, 1))


# --- a map ---------------------------------------------------------------------------------------------------------


def heat(
    axes: Axes, maps: Mapping[str, Any], ends: tuple[float, float], ring: tuple[float, float], x: str, y: str
) -> None:
    """Maps of shares (rows are y, columns x, both from `ends[0]` to `ends[1]`), with a ring at the used value."""
    drawings = side_by_side(axes, len(maps))
    for drawn, (title, shares) in zip(drawings, maps.items(), strict=True):
        image = drawn.imshow(shares, cmap="viridis", vmin=0, vmax=1, origin="lower", extent=(*ends, *ends))
        drawn.plot(*ring, marker="o", markersize=9, markerfacecolor="none", markeredgecolor=COLOURS[1], mew=2)
        drawn.set_title(title)
        drawn.set_xlabel(x)
    axes.set_ylabel(y)
    canvas_of(axes).colorbar(image, ax=drawings, label="share of the questions")


# --- shared helpers ---------------------------------------------------------------------------------------------------


def side_by_side(axes: Axes, count: int) -> list[Axes]:
    """`count` drawings in a row, the given one first."""
    canvas = canvas_of(axes)
    grid = canvas.add_gridspec(1, count)
    axes.set_subplotspec(grid[0])
    return [axes, *(canvas.add_subplot(grid[place]) for place in range(1, count))]


def canvas_of(axes: Axes) -> Canvas:
    """The canvas of the axes."""
    canvas = axes.get_figure(root=True)
    assert canvas is not None  # the axes were made on one
    return canvas


# --- SVG --------------------------------------------------------------------------------------------------------------

POINTED_AT = re.compile(r'(?:="#|url\(#)([^")]+)')
LONG_NUMBER = re.compile(r"-?\d+\.\d{2,}")
NOT_SAID = re.compile(r"font-family: [^;\"]+; ?|text-anchor: start; ?|; fill: currentColor(?=\")")
"""Attributes of a text that the whole figure has, or that are the default."""
ATTRIBUTES = 'font-family="DejaVu Sans, Verdana, sans-serif" fill="currentColor" role="img"'
NAMES = 'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'


def render(figure: Figure) -> str:
    """An `<svg>` element with text in the colour of the surrounding text."""
    with matplotlib.rc_context(STYLE), warnings.catch_warnings():
        # Labels are data; the viewer's font draws letters that this one lacks.
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        canvas = Canvas(figsize=(WIDTH, HEIGHT), layout="constrained")
        FigureCanvasSVG(canvas)
        figure.draw(canvas.add_subplot())
        if figure.n is not None:
            few = ": too few to conclude from" if figure.n < FEW else ""
            canvas.supxlabel(f"n = {figure.n}{few}", x=0.995, ha="right", fontsize=8)
        file = io.StringIO()
        nothing = dict.fromkeys(("Creator", "Date", "Format", "Type"))
        canvas.savefig(file, format="svg", metadata=nothing, transparent=True)
    return small(file.getvalue(), figure.name)


def small(document: str, name: str) -> str:
    """The element alone: coordinates in tenths, no space between tags, only referenced ids, prefixed with `name`."""
    element = re.sub(r"<!--.*?-->|<metadata>.*?</metadata>", "", document[document.index("<svg") :], flags=re.DOTALL)
    element = element.replace(INK, "currentColor")
    ids = {id: f"{name}-{place}" for place, id in enumerate(dict.fromkeys(POINTED_AT.findall(element)))}
    element = re.sub(r' id="([^"]*)"', lambda found: f' id="{ids[found[1]]}"' if found[1] in ids else "", element)
    element = POINTED_AT.sub(lambda found: found[0].replace(found[1], ids[found[1]]), element)
    element = re.sub(r"<[^>]+>", lambda found: small_tag(found[0]), element)
    element = re.sub(r">\s+<", "><", element)
    return re.sub(r'<svg [^>]*?(viewBox="[^"]*")[^>]*>', rf"<svg {NAMES} \1 {ATTRIBUTES}>", element).strip()


def small_tag(text: str) -> str:
    """A tag with short numbers, on one line."""
    text = LONG_NUMBER.sub(lambda found: f"{float(found[0]):.1f}".removesuffix(".0"), " ".join(text.split()))
    return NOT_SAID.sub("", text) if text.startswith("<text") else text
