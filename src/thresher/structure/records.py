"""Lines read as tables: "label: value" lines as one of one row, numbered JSON paths as one of several rows."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from thresher.structure.grid import Cell, Grid
from thresher.text.figures import without_figures
from thresher.text.sentences import Span, line_spans
from thresher.types import Document

_FIELD = re.compile(r"[-*• \t]*(?P<label>[^\W_][^:\n|.?!]{0,50}|[\w.-]{1,100}):[ \t]+(?P<value>\S[^\n]{0,300})")
_PATH = re.compile(r"(?P<row>(?:.*\.)?\d+)\.(?P<column>[^.\d].*)")
_NUMBER_OF = re.compile(
    r"^(?P<path>[^\W\d][\w.-]*)\.(?P<name>[^\W\d][\w -]{0,60}): (?P<value>\S[^\n]{0,40})$", re.MULTILINE
)
_CELL = re.compile(r"\S+(?: \S+)*")
LEAST = 3
"""Fields that make a form; a colon or two are in every text."""
LABEL_WORDS = 6
FORM = 3_000
"""Characters of a form before and behind the place it is looked for at."""
GAP = 3
"""Lines between two fields that may be something else: a sentence of address, a heading."""


def records_of(document: Document, low: int = 0, high: int | None = None) -> Iterator[Grid]:
    """The forms of a document, in order, and its numbered records; of a long text those around a span of it."""
    text = without_figures(document)
    if document.kind in ("json", "jsonl"):  # whose records belong together however many there are
        low, high = 0, len(text)
        yield from _maps(document)
    else:
        low, high = _stretch(text, low, len(text) if high is None else high)
    low = max(low, head_of(document))
    fields: list[tuple[Cell, Cell]] = []
    last = 0
    for number, label, value in fields_of(text, low, high):
        if fields and number - last > GAP + 1:
            yield from _grids(document, fields)
            fields = []
        fields.append((label, value))
        last = number
    yield from _grids(document, fields)


def head_of(document: Document) -> int:
    """Where the head of a mail ends, whose fields say of the mail, not of what it is about; 0 of other documents."""
    return next((mark.start for mark in document.marks if document.kind == "email" and mark.name != "header"), 0)


def fields_of(text: str, low: int, high: int) -> Iterator[tuple[int, Cell, Cell]]:
    """Each line of a span that is a field: its number among those that hold something, label and value."""
    for number, (start, end) in enumerate(line_spans(text[low:high])):
        found = _FIELD.fullmatch(text, low + start, low + end)
        if found is not None and len(found["label"].split()) <= LABEL_WORDS:
            label, value = (Cell(found[name].strip(), *found.span(name)) for name in ("label", "value"))
            yield number, label, value


def aligned(document: Document, low: int, high: int) -> Iterator[Grid]:
    """Tables of plain text: lines that follow each other and whose cells two spaces part, as many in each."""
    if document.tables or document.kind == "pdf":
        return
    text, table, before = document.text, list[tuple[Cell, ...]](), None
    low, high = _stretch(text, low, high)
    for start, end in [*line_spans(text[low:high]), (high - low, high - low)]:
        cells = tuple(Cell(found[0], *found.span()) for found in _CELL.finditer(text, low + start, low + end))
        if table and len(cells) != len(table[0]):
            if len(table) > 1 and len(table) + len(table[0]) > 4:  # two lines of two words are no table
                yield Grid(table[0], tuple(table[1:]), () if before is None else (before,), document.title)
            table, before = [], None
        if len(cells) > 1:
            table.append(cells)
        else:
            before = next(iter(cells), None)


def _stretch(text: str, low: int, high: int) -> Span:
    return max(0, text.rfind("\n", 0, max(0, low - FORM))), min(len(text), high + FORM)


def _grids(document: Document, fields: Sequence[tuple[Cell, Cell]]) -> Iterator[Grid]:
    rows: dict[str, dict[str, Cell]] = {}
    form: list[tuple[Cell, Cell]] = []
    for label, value in fields:
        if path := _PATH.fullmatch(label.text):
            rows.setdefault(path["row"], {})[path["column"]] = value
        else:
            form.append((label, value))
    often = Counter(label.text for label, _ in form)
    form = [(label, value) for label, value in form if often[label.text] == 1]
    if len(form) >= LEAST:
        labels, values = zip(*form, strict=True)
        yield Grid(labels, (values,), (), document.title)
    if len(rows) > 1:
        names = list(dict.fromkeys(name for row in rows.values() for name in row))
        place = fields[0][0].start
        header = tuple(Cell(name.replace("_", " "), place, place) for name in names)
        body = (tuple(row.get(name, Cell("", place, place)) for name in names) for row in rows.values())
        yield Grid(header, tuple(body), (), document.title)


def _maps(document: Document) -> Iterator[Grid]:
    """Numbers by name, as JSON has them in an object ("gusts.Old Mole: 121"): a table of two columns."""
    maps: dict[str, list[tuple[Cell, Cell]]] = {}
    for found in _NUMBER_OF.finditer(document.text):
        name, value = (Cell(found[part], *found.span(part)) for part in ("name", "value"))
        if value.number is not None:
            maps.setdefault(found["path"], []).append((name, value))
    for path, pairs in maps.items():
        if len(pairs) >= LEAST:
            start = pairs[0][0].start - len(path) - 1
            header = (Cell("", start, start), Cell(path.replace("_", " "), start, start + len(path)))
            yield Grid(header, tuple(pairs), (), document.title)
