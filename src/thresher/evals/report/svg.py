"""Figures as SVG: the same bytes for the same numbers, text as text, in the colours of the page they stand on."""

from __future__ import annotations

import io
import re
import warnings
from typing import Any

from thresher.errors import MissingExtra
from thresher.evals.report.compact import compact
from thresher.evals.report.drawing import INK, WIDTH
from thresher.evals.report.section import Figure

try:
    import matplotlib
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure as Canvas
except ModuleNotFoundError as error:
    if error.name != "matplotlib":
        raise
    raise MissingExtra("matplotlib", extra="evals") from error

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
