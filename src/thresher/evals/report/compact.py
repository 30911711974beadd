"""A smaller SVG that looks the same: what nobody points at, says twice or could see is left out."""

from __future__ import annotations

import re
from collections.abc import Iterator

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
