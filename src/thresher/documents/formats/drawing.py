"""Charts and diagrams of Office files: their titles, and their numbers as a small table."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from xml.etree.ElementTree import Element

from thresher.documents.assembly import Assembly
from thresher.documents.cleaning import clean_inline
from thresher.documents.formats.archives import child, children, descendants, local, xml_of
from thresher.documents.formats.number_formats import shown_number

MOST_POINTS = 10_000  # of a chart; more are a measurement, whose numbers nobody reads from the picture


def add_chart(assembly: Assembly, root: Element) -> None:
    """A chart: its title with those of its axes, and a row for each category."""
    chart = child(root, "chart")
    axes = [_text(child(axis, "title")) for axis in child(chart, "plotArea") or () if local(axis).endswith("Ax")]
    title, named = _text(child(chart, "title")), [axis for axis in axes if axis]
    series = list(descendants(chart, "ser"))
    categories: dict[int, str] = {}
    columns: list[tuple[str, dict[int, str]]] = []
    for number, each in enumerate(series, start=1):
        for index, text in _points(child(each, "cat") if child(each, "cat") is not None else child(each, "xVal")):
            categories.setdefault(index, text)
        values = child(each, "val") if child(each, "val") is not None else child(each, "yVal")
        name = "; ".join(text for _, text in _points(child(each, "tx"))) or _text(child(each, "tx"))
        columns.append((name or (title if len(series) == 1 else f"series {number}"), dict(_points(values))))
    if caption := " – ".join([title, *named] if title else named):
        assembly.paragraph(caption)
    rows = sorted({*categories, *(index for _, values in columns for index in values)})
    if not columns or not rows or len(rows) * len(columns) > MOST_POINTS:
        return
    head = ["", *(name for name, _ in columns)]
    assembly.table([head, *([categories.get(at, ""), *(found.get(at, "") for _, found in columns)] for at in rows)])


def _text(element: Element | None) -> str:
    texts = map(_joined, descendants(element, "p"))
    values = (each.text or "" for each in descendants(element, "v"))
    return clean_inline(" ".join(texts)) or clean_inline(" ".join(values))


def _joined(paragraph: Element) -> str:
    return "".join(text.text or "" for text in descendants(paragraph, "t"))


def _points(element: Element | None) -> Iterator[tuple[int, str]]:
    """Each point that a chart keeps of its data: position, and text as it is shown."""
    for kept in ("strCache", "numCache", "numLit", "strLit", "lvl"):
        for cache in descendants(element, kept):
            form = child(cache, "formatCode")
            code = (form.text if form is not None else None) or "General"
            for point in children(cache, "pt"):
                value, index = child(point, "v"), point.get("idx", "0")
                text = "" if value is None else clean_inline(value.text or "")
                yield int(index) if index.isdigit() else 0, (shown_number(text, code) if "num" in kept else text)
            return


def diagram_lines(root: Element) -> Iterator[str]:
    """The texts of the shapes of a diagram (SmartArt)."""
    for point in descendants(root, "t"):
        if paragraphs := list(descendants(point, "p")):
            yield "\n".join(map(_joined, paragraphs))


def add_drawing(assembly: Assembly, archive: zipfile.ZipFile, part: str, kind: str) -> None:
    """Add what a part of an archive draws, a `chart` or else a diagram; nothing for a part that is not there."""
    if part not in archive.NameToInfo:
        return
    if kind == "chart":
        add_chart(assembly, xml_of(archive, part))
    else:
        assembly.paragraph(*diagram_lines(xml_of(archive, part)))
