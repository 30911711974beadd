"""PowerPoint files: each slide is a page, in the order they are shown, with its notes and comments.

Shapes come in the order of the file, which is the order a screen reader takes; of a chart its titles and numbers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from xml.etree.ElementTree import Element

from thresher.documents.assembly import Assembly, Cell, Parsed, add_tabbed, add_table
from thresher.documents.cleaning import RAISED, STRUCK, clean_inline, clean_text, with_marks
from thresher.documents.formats.archives import Part, attribute, child, children, descendants, local, opened, whole
from thresher.documents.formats.number_formats import shown_number
from thresher.documents.registry import RawFile
from thresher.errors import DocumentError

NOTES_LABEL = "Notes:"
NUMBERS = frozenset({"sldNum", "dt", "hdr", "ftr", "sldImg"})  # placeholders of notes that repeat what every page has


def read_slides(file: RawFile) -> Parsed:
    """A pptx file; hidden slides are kept unless the limits say otherwise, and counted."""
    with opened(file.data, limits=file.limits) as archive:
        reader = SlidesReader(hidden=file.limits.hidden)
        part = Part.main(archive, "ppt/presentation.xml")
        reader.read(part)
        title, date, stated = part.properties()
    if not reader.assembly:
        raise DocumentError("the pptx file has no text", next_step="check that it is not only pictures")
    return reader.assembly.parsed(
        title=title,
        heading=reader.heading,
        date=date,
        metadata={**stated, **({"hidden_slides": reader.hidden} if reader.hidden else {})},
    )


class SlidesReader:
    """Walks the slides once and fills an `Assembly`."""

    def __init__(self, *, hidden: bool) -> None:
        """With `hidden`, slides that are not shown are kept too."""
        self.assembly = Assembly()
        self.heading = ""
        self.hidden = 0
        self._keeps_hidden = hidden
        self._hiding = False  # the slide that is read
        self._authors: dict[str, str] = {}
        self._tables = 0

    def read(self, deck: Part) -> None:
        """All slides."""
        for authors in deck.related("commentAuthors", "authors"):
            self._authors |= {attribute(one, "id"): attribute(one, "name") for one in authors.root}
        for number, entry in enumerate(descendants(deck.root, "sldId"), start=1):
            identifier = next(value for name, value in entry.items() if name.endswith("}id"))
            self._slide(deck.targets[identifier][1], number)

    def _slide(self, part: Part, number: int) -> None:
        slide = part.root
        hidden = attribute(slide, "show", "1") in ("0", "false")
        self.hidden += hidden
        self.assembly.page(number)
        self.assembly.mark("part", "")
        self._tables = 0
        if hidden and not self._keeps_hidden:
            return
        self._hiding = hidden
        if hidden or self.hidden:
            self.assembly.mark("hidden", "hidden slide" if hidden else "")
        self._shapes(child(slide, "cSld", "spTree"), part)
        for notes in part.related("notesSlide"):
            self._aside("notes", [NOTES_LABEL, *filter(str.strip, map(clean_text, self._noted(notes.root)))])
        for comments in part.related("comments"):
            self._aside("comments", ["", *self._comments(comments.root)])

    def _aside(self, called: str, paragraphs: list[str]) -> None:
        """What belongs to a slide and is not on it: something to call it by, and the paragraphs."""
        if len(paragraphs) > 1:
            self.assembly.mark("part", called)
            self.assembly.paragraph(*paragraphs)

    def _noted(self, notes: Element) -> Iterator[str]:
        for shape in descendants(notes, "sp"):
            holder = next(descendants(shape, "ph"), None)
            if holder is None or attribute(holder, "type") not in NUMBERS:
                yield from paragraphs_of(child(shape, "txBody"))

    def _comments(self, root: Element) -> Iterator[str]:
        for comment in descendants(root, "cm"):
            author = self._authors.get(attribute(comment, "authorId"), "")
            plain = "".join(each.text or "" for each in descendants(comment, "text"))
            if text := clean_inline(plain or " ".join(paragraphs_of(comment))):
                yield f"Comment by {author}: {text}" if author else f"Comment: {text}"

    def _shapes(self, tree: Element | None, part: Part) -> None:
        for shape in tree if tree is not None else ():
            name = local(shape)
            hides = name in ("grpSp", "sp", "cxnSp") and _is_hidden(shape)
            if hides and not self._keeps_hidden:
                continue
            if hides and not self._hiding:
                self.assembly.mark("hidden", "hidden shape")
            if name == "grpSp":
                self._shapes(shape, part)
            elif name == "AlternateContent":
                self._shapes(next(iter(shape), None), part)
            elif name in ("sp", "cxnSp"):
                self._text(child(shape, "txBody"))
            elif name == "graphicFrame":
                self._frame(shape, part)
            if hides and not self._hiding:
                self.assembly.mark("hidden", "")

    def _text(self, body: Element | None) -> None:
        lines = [clean_text(line) for line in paragraphs_of(body)]
        self.heading = self.heading or next((clean_inline(line) for line in lines if line.strip()), "")
        if any("\t" in line.strip() for line in lines):
            add_tabbed(self.assembly, [line for line in lines if line.strip()])
        else:
            self.assembly.paragraph(*lines)

    def _frame(self, frame: Element, part: Part) -> None:
        for table in descendants(frame, "tbl"):
            self._tables += 1
            add_table(self.assembly, list(_rows(table)), number=self._tables)
        for kind, name in (("chart", "id"), ("relIds", "dm")):
            for each in descendants(frame, kind):
                add_drawing(self.assembly, part, attribute(each, name), kind)


def _is_hidden(shape: Element) -> bool:
    """Whether a shape is switched off, as in the list of what a slide holds."""
    named = next((each for each in shape if local(each).startswith("nv")), None)
    return attribute(child(named, "cNvPr"), "hidden") in ("1", "true")


def paragraphs_of(body: Element | None) -> Iterator[str]:
    """The paragraphs of a text of DrawingML; numbered ones with their numbers."""
    counts: dict[int, int] = {}
    for paragraph in descendants(body, "p"):
        text = with_marks("".join(_characters(paragraph)))
        properties = child(paragraph, "pPr")
        level = whole(attribute(properties, "lvl"))
        numbered = child(properties, "buAutoNum")
        if numbered is None:
            counts = {at: count for at, count in counts.items() if at < level}
        elif text.strip():
            counts = {at: count for at, count in counts.items() if at <= level}
            counts[level] = counts[level] + 1 if level in counts else whole(attribute(numbered, "startAt"), 1)
            text = f"{counts[level]}. {text}"
        yield text


def _characters(paragraph: Element) -> Iterator[str]:
    for each in paragraph:
        match local(each):
            case "r" | "fld":
                if re.fullmatch(r"[1-9]\d*%?", attribute(child(each, "rPr"), "baseline")):
                    yield RAISED
                line = attribute(child(each, "rPr"), "strike", "noStrike") != "noStrike"
                text = "".join(part.text or "" for part in children(each, "t"))
                yield f"{STRUCK}{text}{STRUCK}" if line else text
            case "br":
                yield "\n"
            case "AlternateContent" | "m" | "oMath" | "oMathPara" | "Choice":
                yield from (part.text or "" for part in descendants(each, "t"))


def _rows(table: Element) -> Iterator[list[Cell]]:
    """The cells of a table; those that another one spans are not repeated."""
    for row in children(table, "tr"):
        cells = []
        for cell in children(row, "tc"):
            if "1" in (covered := [attribute(cell, "hMerge"), attribute(cell, "vMerge")]) or "true" in covered:
                continue
            columns, rows = (whole(attribute(cell, name), 1) for name in ("gridSpan", "rowSpan"))
            cells.append(Cell("\n".join(paragraphs_of(child(cell, "txBody"))), columns, rows))
        yield cells


# --- charts and diagrams of office files ------------------------------------------------------------------------------


MOST_POINTS = 10_000  # of a chart; more are a measurement, whose numbers nobody reads from the picture


def add_chart(assembly: Assembly, root: Element) -> None:
    """A chart: its title with those of its axes, and a row for each category."""
    chart = child(root, "chart")
    area = child(chart, "plotArea")
    drawn = () if area is None else area
    axes = [_text(child(axis, "title")) for axis in drawn if local(axis).endswith("Ax")]
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
                value = child(point, "v")
                text = "" if value is None else clean_inline(value.text or "")
                yield whole(point.get("idx", "")), shown_number(text, code) if "num" in kept else text
            return


def diagram_lines(root: Element) -> Iterator[str]:
    """The texts of the shapes of a diagram (SmartArt)."""
    for point in descendants(root, "t"):
        if paragraphs := list(descendants(point, "p")):
            yield "\n".join(map(_joined, paragraphs))


def add_drawing(assembly: Assembly, part: Part, identifier: str, kind: str) -> None:
    """Add what a part has drawn under an identifier, a `chart` or else a diagram; nothing where it is not there."""
    if identifier not in part.targets:
        return
    root = part.targets[identifier][1].root
    if kind == "chart":
        add_chart(assembly, root)
    else:
        assembly.paragraph(*diagram_lines(root))
