"""Lines read as tables: "label: value" lines as one of one row, numbered JSON paths as one of several rows."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from thresher.structure.forms import LEAST, Field, fields_of, head_of
from thresher.structure.grid import Cell, Grid
from thresher.text.sentences import without_figures
from thresher.types import Document

_PATH = re.compile(r"(?P<row>(?:.*\.)?\d+)\.(?P<column>[^.\d].*)")
_NUMBER_OF = re.compile(
    r"^(?P<path>[^\W\d][\w.-]*)\.(?P<name>[^\W\d][\w -]{0,60}): (?P<value>\S[^\n]{0,40})$", re.MULTILINE
)
FORM = 3_000
"""Characters of a form before and behind the place it is looked for at."""
GAP = 3
"""Lines between two fields that may be something else: a sentence of address, a heading."""


def records_of(document: Document, low: int, high: int) -> Iterator[Grid]:
    """The forms of a document around a span of it, in order, and its numbered records, however many there are."""
    text = without_figures(document)
    if document.kind in ("json", "jsonl"):
        low, high = 0, len(text)
        yield from _maps(document)
    low, high = max(0, text.rfind("\n", 0, max(0, low - FORM)), head_of(document)), min(len(text), high + FORM)
    fields: list[Field] = []
    for label, value in fields_of(text, low, high):
        if fields and sum(map(bool, map(str.strip, text[fields[-1][1].end : label.start].split("\n")))) > GAP:
            yield from _grids(document, fields)
            fields = []
        fields.append((label, value))
    yield from _grids(document, fields)


def _grids(document: Document, fields: Sequence[Field]) -> Iterator[Grid]:
    rows: dict[str, dict[str, Cell]] = {}
    form: list[Field] = []
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
    maps: dict[str, list[Field]] = {}
    for found in _NUMBER_OF.finditer(document.text):
        name, value = (Cell(found[part], *found.span(part)) for part in ("name", "value"))
        if value.number is not None:
            maps.setdefault(found["path"], []).append((name, value))
    for path, pairs in maps.items():
        if len(pairs) >= LEAST:
            start = pairs[0][0].start - len(path) - 1
            header = (Cell("", start, start), Cell(path.replace("_", " "), start, start + len(path)))
            yield Grid(header, tuple(pairs), (), document.title)
