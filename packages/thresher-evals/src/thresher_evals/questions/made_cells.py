"""Makes whole questions from cells of tables and fields of forms."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from thresher.structure.forms import LEAST_FIELDS, LONGEST_FORM, fields_of
from thresher.structure.grid import Cell, Grid, grid_of
from thresher.structure.lookup import is_period
from thresher.text.terms import STOP_WORDS
from thresher.types import Document
from thresher_evals.questions.made_questions import Made, whole

MOST_NAME = 8
"""Longest name of a row, column or field, in words."""
MOST_CELL = 12
"""Longest cell that is asked for, in words."""
_NO_NAME = re.compile(
    r"(?:what|who|when|how|which|why|where|dear|your|our|my|yes|no|notes?|from|to|cc|subject|re|see|source|tip|warning)\b",
    re.IGNORECASE,
)
_MEASURE = re.compile(r"[A-Z][a-z]+(?: [a-z]+){0,2}?(?= (?:by|in|per|for|of) |, |$)")
"""The quantity of a table's numbers in its caption: Revenue by segment."""
_NAMING = re.compile(r"(?:[^\W\d]|%).*|&|\d+")
"""A word of a name: no sign (Hyperparams / #A), and no number with a letter (QNLI 108k)."""
_AMOUNT = re.compile(
    r"\b(?:price|cost|amount|total|number|revenue|rate|share|size|sum|weight|length|height|fee)", re.IGNORECASE
)


def table_questions(document: Document, title: str) -> Iterator[Made]:
    """Questions for cells of tables with bars; the columns of tables in a PDF are guesses."""
    for table in document.tables:
        grid = grid_of(document, table) if "|" in document.text[slice(*table.rows[0])] else None
        if grid is None or grid.header[0].text.endswith(":"):  # a form: its first line names no columns
            continue
        names = Counter(row[0].text for row in grid.rows)
        for row in grid.rows:
            if names[row[0].text] > 1 or not _names(row[0].text):
                continue
            for head, cell in zip(grid.header[1:], row[1:], strict=True):
                asked = _of_cell(grid, row[0].text, head.text, cell)
                if asked:
                    subject = _small(head.text) if is_period(row[0].text) else row[0].text
                    span = (row[0].start, max(one.end for one in row))
                    made = whole(asked, cell.text, "table", span, title, subject=subject)
                    if made is not None:
                        yield made


def _names(text: str) -> bool:
    """Whether people can ask by a row's or column's name: words, or a year; what stands in brackets may be anything."""
    words = re.sub(r"(?<!\w)\([^()]*\)", " ", text).split()
    if any("(" in word for word in words):  # Module(s)
        return False
    worded = any(re.search(r"[^\W\d]", word) for word in words)
    return 0 < len(text.split()) <= MOST_NAME and all(map(_NAMING.fullmatch, words)) and (worded or is_period(text))


def _of_cell(grid: Grid, name: str, column: str, cell: Cell) -> str:
    column = column.replace("_", " ")
    period, other = is_period(column), is_period(name)
    words = column.split()
    if not _names(column) or not re.search(r"\w", cell.text) or len(cell.text.split()) > MOST_CELL:
        return ""
    if not period and (_NO_NAME.match(column) or {words[0].lower(), words[-1].lower()} & STOP_WORDS):
        return ""
    small = _small(column)
    measured = next(filter(None, (_MEASURE.match(around.text) for around in reversed(grid.around))), None)
    if period or other:
        if period == other:
            return ""
        thing, when = (name, column) if period else (small, name)
        if period and measured and cell.number is not None:
            return f"What was the {_small(measured[0])} for {thing} in {when}"
        if other and _AMOUNT.search(column):
            return f"What was the {small} in {when}"
        return f"What is the figure for {thing} in {when}" if cell.number is not None else ""
    number = cell.number is not None
    if not grid.header[0].text:  # rows are attributes of the columns
        thing = _small(name)
        if number and _many(name):
            return f"How many {thing} does the {column} have"
        return f"What {'are' if _many(name) else 'is'} the {thing} of the {column}"
    if number and _many(column):
        return f"How many {small} are there for {name}"
    if number and measured and _several(measured[0]) and not _AMOUNT.search(column) and " in " not in column:
        small = f"{small} {_small(measured[0]).removesuffix('s')}"
    return f"What {'are' if _many(column) else 'is'} the {small} {'for' if number else 'of'} {name}"


def _many(name: str) -> bool:
    """Whether the name of a column or row is a plural: boats a day, but not price in euros."""
    return _several(re.split(r" (?:in|per|a|of|for)\b| [(/]", name)[0].split()[-1])


def field_questions(document: Document, title: str) -> Iterator[Made]:
    """Questions for the values of a form; in a long text a colon marks no field."""
    if len(document.text) > LONGEST_FORM:
        return
    fields = list(fields_of(document.text))
    tables = [(table.start, table.end) for table in document.tables]
    if len(fields) < LEAST_FIELDS:
        return
    names = Counter(label.text for label, _ in fields)
    for label, value in fields:
        plain = re.fullmatch(r"[A-Z]?[a-z]+(?:[ -][A-Za-z]+)*", label.text)
        if not plain or names[label.text] > 1 or _NO_NAME.match(label.text) or len(value.text.split()) > MOST_CELL:
            continue
        if label.text in document.title or any(start <= label.start < end for start, end in tables):
            continue
        name = _small(label.text)
        done = re.fullmatch(r"(\w+ed) (?:on|at|by)", name)
        if done is None and (name.split()[-1] in STOP_WORDS or re.fullmatch(r"\w+ed", name)):
            continue
        who = name in ("customer", "author", "tenant", "buyer", "seller", "manager", "supplier", "client", "owner")
        asked = f"When was it {done[1]}" if done else f"{'Who' if who else 'What'} is the {name}"
        made = whole(asked, value.text, "field", (label.start, value.end), title, subject="")
        if made is not None:
            yield made


def _small(name: str) -> str:
    """A name within a sentence: with a small first letter if no other letter is a capital."""
    first = name.split(" ", 1)[0]
    return f"{name[0].lower()}{name[1:]}" if first.istitle() and name[1:] == name[1:].lower() else name


def _several(noun: str) -> bool:
    """Whether a noun looks plural."""
    return noun.endswith("s") and not noun.endswith(("ss", "us", "is", "'s", "’s"))
