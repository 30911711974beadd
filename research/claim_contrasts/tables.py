"""Cells of tables: the right one, and that of the neighbouring row or column."""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Iterator

from research.checker_data import CONTRADICTED, SUPPORTED
from research.claim_contrasts.base import MOST_CHARACTERS, Made, Passage, large

TABLES_ROWS = 7
FORMS = (
    "The {header} of {label} is {cell}.",
    "{Label} has {cell} as its {header}.",
    "For {label}, the {header} is {cell}.",
    "{Cell} is the {header} of {label}.",
    "{Label}: {header} {cell}.",
    "In the row of {label}, the {header} is given as {cell}.",
)
PAIRS = (
    "For {label}, the {header} is {cell} and the {second} is {also}.",
    "{Label} has {cell} as {header} and {also} as {second}.",
)
LISTED = (
    "The {header} is {cell} for {label} and {also} for {other}.",
    "{Label} and {other} have {cell} and {also} as their {header}.",
)
NO_HEADER = re.compile(r"^(?:no|rank|#|notes?|ref\w*|date|unnamed.*|\W*|\d.*|pos\w*|code|result|score)$", re.I)
NO_CELL = re.compile(r"^\W*$|^(?:n/a|none|unknown|tba|tbd|yes|no|-+|\?)$", re.I)


class Tables:
    """Makes contrasts of tables in which a row is `header: cell; header: cell`."""

    def __init__(self, draw: random.Random) -> None:
        self.draw = draw

    def of(self, texts: Iterable[str]) -> Iterator[Made]:
        """Two contrasts of every table that can be read."""
        for text in texts:
            caption, _, body = text.partition("\n")
            rows = [read(line) for line in body.split("\n")]
            labelled = [row for row in rows if len(row) > 1]
            if len(labelled) < 3 or len({tuple(row) for row in labelled}) > 1:
                continue
            header = self.label_of(labelled)
            if header:
                for _ in range(2):
                    yield from self.contrast(caption.rstrip("."), labelled, header, text)

    def label_of(self, rows: list[dict[str, str]]) -> str:
        """The column that names the rows: the first one of which no cell stands twice and that is no number."""
        for header in list(rows[0])[:3]:
            cells = [row[header] for row in rows]
            if len(set(cells)) == len(cells) and not any(re.match(r"[\W\d]|.{40}", cell) for cell in cells):
                return header
        return ""

    def contrast(self, caption: str, rows: list[dict[str, str]], header: str, family: str) -> Iterator[Made]:
        """A cell of some rows, with the cell of another row, and of another column of a like kind."""
        columns = [one for one in rows[0] if one != header and not NO_HEADER.match(one) and len(one) < 30]
        self.draw.shuffle(columns)
        start = self.draw.randrange(len(rows))
        shown = rows[start : start + self.draw.randint(2, TABLES_ROWS)]
        for column in columns:
            free = [row for row in shown if not NO_CELL.match(row[column]) and len(row[column]) < 50]
            if len(free) < 2:
                continue
            at = self.draw.randrange(len(free) - 1)
            one, other = self.draw.sample(free[at : at + 2], 2)
            if one[column] == other[column] or one[column] in other[column] or other[column] in one[column]:
                continue
            claims = self.claims(one, other, header, column, columns)
            text = self.written(caption, header, shown)
            if len(text) < 1.2 * MOST_CHARACTERS:
                yield Made("cell", Passage("table", "", family), text, tuple(claims))
                return

    def claims(
        self, one: dict[str, str], other: dict[str, str], header: str, column: str, columns: list[str]
    ) -> Iterator[tuple[str, str]]:
        """The cell of a row, another row's in its place, and cells of two rows or columns exchanged."""
        values = {"header": column, "label": one[header], "cell": one[column]}
        yield self.said(FORMS, values), SUPPORTED
        yield self.said(FORMS, values | {"cell": other[column]}), CONTRADICTED
        like = [
            each
            for each in columns
            if each != column and kind(one[each]) == kind(one[column]) and one[each] != one[column]
        ]
        chance = self.draw.random()
        if like and chance < 0.5:
            second = self.draw.choice(like)
            both = values | {"second": second, "also": one[second]}
            yield self.said(PAIRS, both), SUPPORTED
            yield self.said(PAIRS, both | {"cell": one[second], "also": one[column]}), CONTRADICTED
        elif chance < 0.75:
            both = values | {"other": other[header], "also": other[column]}
            yield self.said(LISTED, both), SUPPORTED
            yield self.said(LISTED, both | {"cell": other[column], "also": one[column]}), CONTRADICTED
        else:
            yield self.said(FORMS, values | {"label": other[header], "cell": other[column]}), SUPPORTED

    def said(self, forms: tuple[str, ...], values: dict[str, str]) -> str:
        """A form filled in."""
        form = self.draw.choice(forms)
        return large(form.format(**values, Label=values["label"], Cell=values["cell"]))

    def written(self, caption: str, header: str, rows: list[dict[str, str]]) -> str:
        """Rows as a table of pipes, as `header: cell`, or the row's label in front."""
        columns = list(rows[0])
        way = self.draw.random()
        if way < 0.3:
            lines = [" | ".join(columns), *(" | ".join(row.values()) for row in rows)]
        elif way < 0.65:
            lines = ["; ".join(f"{name}: {cell}" for name, cell in row.items()) for row in rows]
        else:
            lines = [
                f"{row[header]}: " + "; ".join(f"{name}: {cell}" for name, cell in row.items() if name != header)
                for row in rows
            ]
        return "\n".join([f"{caption}.", *lines])


def read(line: str) -> dict[str, str]:
    """The cells of a row under their headers."""
    cells = [one.partition(": ") for one in line.split("; ")]
    return {name.strip(): cell.strip() for name, _, cell in cells if name and cell}


def kind(cell: str) -> str:
    """Digits, or words: what may be mistaken for a cell."""
    return "number" if re.fullmatch(r"[\d.,$£€% -]+", cell) else "words" if not re.search(r"\d", cell) else "both"
