"""How numbers are drawn: filled bars with intervals for what was measured, hollow dashed ones for what was claimed."""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from thresher.errors import MissingExtra
from thresher_evals.report.blocks import Figure, Measured, number

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


# --- A smaller SVG that looks the same: what nobody points at, says twice or could see is left out --------------------


TAG = re.compile(r"(<[^>]+>)")
LONG_NUMBER = re.compile(r"-?\d+\.\d{3,}")
POINTED_AT = re.compile(r'(?:="#|url\(#)([^")]+)')
UNSEEN = re.compile(r'<path d="[^"]*"(?: clip-path="[^"]*")? style="fill: none"/>')
INHERITED = re.compile(r"font-family: [^;\"]+; ?|text-anchor: start; ?|; fill: currentColor(?=\")")
"""Of a text; the figure as a whole says the same, or it is so when nothing is said."""


def compact(element: str, name: str) -> str:
    """The same drawing: a tenth of a unit is the finest step, ids are those that are pointed at and begin with `name`.

    The coordinates are hundredths of an inch or less, and a reader's screen shows no finer steps.
    """
    element = re.sub(r"<!--.*?-->", "", element, flags=re.DOTALL)
    ids = {id: f"{name}-{place}" for place, id in enumerate(dict.fromkeys(POINTED_AT.findall(element)))}
    element = re.sub(r' id="([^"]*)"', lambda found: f' id="{ids[found[1]]}"' if found[1] in ids else "", element)
    element = POINTED_AT.sub(lambda found: found[0].replace(found[1], ids[found[1]]), element)
    element = UNSEEN.sub("", element)
    return "".join(pieces(element))


def pieces(element: str) -> Iterator[str]:
    """Tags and texts, without groups that say nothing and without the space between tags."""
    kept: list[bool] = []
    for piece in TAG.split(element):
        if piece == "</g>":
            if kept.pop():
                yield piece
        elif piece.startswith("<g>") or piece.startswith("<g "):
            kept.append(piece != "<g>")
            if kept[-1]:
                yield piece
        elif piece.startswith("<"):
            yield tag(piece)
        elif piece.strip():
            yield piece


def tag(text: str) -> str:
    """A tag with short numbers and paths, and without what a text inherits."""
    text = LONG_NUMBER.sub(lambda found: f"{float(found[0]):.1f}".removesuffix(".0"), text)
    if text.startswith("<text"):
        text = INHERITED.sub("", re.sub(r' transform="rotate\(-0 [^"]*\)"', "", text))
    return re.sub(r' d="[^"]*"', path, text)


def path(found: re.Match[str]) -> str:
    """A path without the space around its letters."""
    return re.sub(r" ?([MLCQz]) ?", r"\1", " ".join(found[0].split())).replace("d=", " d=").replace("  ", " ")


# --- figures as SVG: the same bytes for the same numbers, text as text, in the colours of the page they stand----------


try:
    import matplotlib
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure as Canvas
except ModuleNotFoundError as error:
    if error.name != "matplotlib":
        raise
    raise MissingExtra("matplotlib", distribution="thresher-evals") from error

HEIGHT = 3.6  # inches, where the drawing does not say
FEW = 30
"""Questions below which a figure must say how few they are; the number is printed whatever it is."""

STYLE: Any = {
    "svg.hashsalt": "thresher",  # ids that do not change from run to run
    "svg.fonttype": "none",
    "text.parse_math": False,  # names are data, and may hold a dollar sign
    "font.family": ["DejaVu Sans"],
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "grid.color": INK,
    "axes.titlesize": 9,
}
FONTS = "DejaVu Sans, Verdana, sans-serif"
"""The font that widths are computed with comes with matplotlib; a reader without it has one as wide, or any."""
NOTHING_TOLD = dict.fromkeys(("Creator", "Date", "Format", "Type"))


def render(figure: Figure) -> str:
    """An `<svg>` element whose text has the colour of the text around it."""
    with matplotlib.rc_context(STYLE), warnings.catch_warnings():
        # Labels are data; a letter that the measuring font lacks is drawn by the reader's own.
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        canvas = Canvas(figsize=(WIDTH, HEIGHT), layout="constrained")
        FigureCanvasSVG(canvas)
        axes = canvas.add_subplot()
        figure.draw(axes)
        if figure.n is not None:
            few = ": too few to conclude from" if figure.n < FEW else ""
            canvas.supxlabel(f"n = {figure.n}{few}", x=0.995, ha="right", fontsize=8)
        written = io.StringIO()
        canvas.savefig(written, format="svg", metadata=NOTHING_TOLD, transparent=True)
    return bare(written.getvalue(), figure)


def bare(document: str, figure: Figure) -> str:
    """The element alone, with ids of its own among the figures of a page and a width that follows the page's."""
    element = document[document.index("<svg") :].strip()
    element = re.sub(r"<metadata>.*?</metadata>\s*", "", element, flags=re.DOTALL)
    element = compact(element.replace(INK, "currentColor"), figure.name)
    named = f'xmlns:xlink="{XLINK}" xmlns="{SVG}"'
    said = f'font-family="{FONTS}" fill="currentColor" role="img"'
    return re.sub(r'<svg [^>]*?(viewBox="[^"]*")[^>]*>', rf"<svg {named} \1 {said}>", element)


SVG, XLINK = "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"
"""Names of the two languages; nothing is fetched from there."""


def standing_alone(element: str) -> str:
    """The same as a file: dark on white, whatever the page that shows it looks like."""
    element = element.replace("<svg ", '<svg style="background:#fff;color:#1c2128" ', 1)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{element}\n'
