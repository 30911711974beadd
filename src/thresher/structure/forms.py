"""Forms: fields with labels, and tables of items for which all the fields hold; what a question asks of one.

An invoice says once who the customer is and when it was delivered, and then row by row what was bought. "What did one
whiteboard cost on the invoice of 30 August?" names a field, a row and a column of it. A form answers only where it, its
title and its labels contain every content word of the question: another customer's form does not.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from thresher.structure.grid import Cell, Found, Grid, with_unit
from thresher.structure.lookup import (
    CUSTOMER,
    THINGS,
    YES_OR_NO,
    Words,
    means,
    telling_terms,
    terms_of,
    words_of,
)
from thresher.text.answer_types import answer_type, is_of_type
from thresher.text.marks import in_force
from thresher.text.numbers import Date, quantities_and_dates
from thresher.text.sentences import line_spans, widened, without_figures
from thresher.types import Document

LONGEST_FORM = 6_000
"""Characters of a document that is read as one form."""

_UNTIL = re.compile(
    r"(?P<label>(?:please )?\w+(?: \w+)? (?:by|before|until|within)) (?P<value>[^.;:\n]*\d[^.;:\n]*)", re.IGNORECASE
)
"""A date that stands in a sentence as in a field: "Please pay by 8 September 2024"."""

LONGEST_DAY = 12
"""Characters before a date: "Monday, "."""
_TRADING = frozenset(terms_of("buy bought purchase purchased order ordered hire hired rent rented sell sold"))
"""What is done with an item."""

_PAYING = frozenset(terms_of("pay must"))
_ANY = frozenset(terms_of("date time number name address place"))
"""What labels are of; the other word says which: of "due date" that is due, whatever label has the date."""
_COUNT = frozenset(terms_of("number quantity qty pieces units count"))
_HOW_MUCH = re.compile(r"\bhow much\b", re.IGNORECASE)
_DATE = re.compile(r"\b(?:what|which)\b.*\b(?:date|day|deadline)\b", re.IGNORECASE)
_WHAT_TRADED = re.compile(r"\s*what (?:did|does|has|have|was|were)\b", re.IGNORECASE)
_WHO = re.compile(r"\bwho(?:m|se)?\b", re.IGNORECASE)
_WHICH = re.compile(r"\b(?:which|what) (?P<kind>[^\W\d_]+)\b", re.IGNORECASE)
_KEY = frozenset(terms_of("number no id code"))

_FIELD = re.compile(r"[-*• \t]*(?P<label>[^\W_][^:\n|.?!]{0,50}|[\w.-]{1,100}):[ \t]+(?P<value>\S[^\n]{0,300})")
LEAST_FIELDS = 3
"""Fields that make a form; a colon or two are in every text."""
LABEL_WORDS = 6

Field = tuple[Cell, Cell]
"""Label and value."""


@dataclass(frozen=True, slots=True)
class Form:
    """The fields of a document, label and value, and the tables of items for which they hold."""

    fields: tuple[Field, ...]
    items: tuple[Grid, ...]
    title: str

    @property
    def start(self) -> int:
        """Where its first field begins."""
        return self.fields[0][0].start

    @property
    def end(self) -> int:
        """Where its last field or item ends."""
        return max(self.fields[-1][1].end, *(grid.end for grid in self.items), 0)


def form_of(document: Document, items: Iterable[Grid]) -> Form | None:
    """A document as a form, with those tables; None for one that is long or has few fields."""
    if len(document.text) > LONGEST_FORM:
        return None
    text, head = without_figures(document), head_of(document)
    found = {label.text: (label, value) for label, value in fields_of(text[head:], head)}
    if len(found) < LEAST_FIELDS:
        return None
    dated = [tuple(Cell(m[name], *m.span(name)) for name in ("label", "value")) for m in _UNTIL.finditer(text)]
    inside = [value.start for _, value in found.values()] + [label.start for label, _ in found.values()]
    outside = [(label, value) for label, value in dated if label.start not in inside and _is_date(value.text)]
    fields = sorted((*found.values(), *outside), key=lambda one: one[0].start)
    return Form(tuple(fields), tuple(items), document.title)


def head_of(document: Document) -> int:
    """Where the head of a mail ends, whose fields say of the mail, not of what it is about; 0 of other documents."""
    return next((mark.start for mark in document.marks if document.kind == "email" and mark.name != "header"), 0)


def fields_of(text: str, offset: int = 0) -> Iterator[Field]:
    """Each line that is a field, of text that stands at an offset of a document."""
    for span in line_spans(text):
        found = _FIELD.fullmatch(text, *span)
        if found is not None and len(found["label"].split()) <= LABEL_WORDS:
            label, value = (_cell(found, name, offset) for name in ("label", "value"))
            if label.text and value.text:
                yield label, value


def _cell(found: re.Match[str], name: str, offset: int) -> Cell:
    return Cell(in_force(found[name].strip()), offset + found.start(name), offset + found.end(name))


def _is_date(text: str) -> bool:
    return any(isinstance(one, Date) and one.start <= LONGEST_DAY for one in quantities_and_dates(text))


def filled_in(form: Form, question: str) -> Found | None:
    """A field, a cell of an item or all items; None where that is not certain, and for a question of yes or no."""
    if YES_OR_NO.match(question):
        return None
    words = words_of(question)
    rows = _named(form, words)
    if len(rows) > 1:
        return None
    found = _of_item(form, *rows[0], question, words) if rows else _items(form, question) or _field(form, question)
    if found is None:
        return None
    label, answer, cells = found
    verbs = _PAYING if label and not rows else _TRADING | _PAYING
    given = [value for _, value in form.fields if words.within(telling_terms(value.text))]
    known = [form.title, label, *(cell.text for cell in (*cells, *given)), *(name.text for name, _ in form.fields)]
    known += [cell.text for grid in form.items for cell in (*grid.header, *grid.around)]
    terms = {term for text in known for term in terms_of(text)} | THINGS | verbs
    asked = telling_terms(question)
    if any(not means(term, terms) for term in asked) or not (given or rows or len(asked) > len(terms_of(label))):
        return None
    return Found(answer, (*cells, *given))


def _named(form: Form, words: Words) -> list[tuple[Grid, tuple[Cell, ...]]]:
    """The items that the question names, whole or, where it names none whole, in part."""
    rows = [(grid, row) for grid in form.items for row in grid.rows]
    whole = [one for one in rows if words.of(terms_of(one[1][0].text))]
    return whole or [one for one in rows if words.within(telling_terms(one[1][0].text))]


Filled = tuple[str, str, tuple[Cell, ...]]
"""The label, the text and the cells it was taken from."""


def _of_item(form: Form, grid: Grid, row: Sequence[Cell], question: str, words: Words) -> Filled | None:
    """The column that is asked for of an item, or the field of the form that it stands in."""
    asked = _COUNT if re.search(r"\bhow many\b", question, re.IGNORECASE) else frozenset(words.tokens)
    columns = [at for at in range(1, len(row)) if any(means(term, asked) for term in terms_of(grid.header[at].text))]
    if len(columns) == 1:
        head, cell = grid.header[columns[0]].text, row[columns[0]]
        return head, with_unit(cell.text, grid.unit(head)[0]), (cell, row[0])
    which = _WHICH.search(question)
    kind = CUSTOMER if _WHO.search(question) else frozenset(terms_of(which["kind"]) if which else ())
    fields = [one for one in form.fields if any(means(term, kind) for term in terms_of(one[0].text))]
    keys = [one for one in fields if _KEY & set(terms_of(one[0].text))] or fields
    if columns or len(keys) != 1:
        return None
    label, value = keys[0]
    return label.text, value.text, (value, row[0])


def _items(form: Form, question: str) -> Filled | None:
    """All items, where it is asked which ones there are."""
    which = _WHICH.search(question)
    heads = {term for grid in form.items for term in terms_of(grid.header[0].text)}
    kinds = set(terms_of(which["kind"])) if which else set[str]()
    traded = _WHAT_TRADED.match(question) and _TRADING & set(terms_of(question))
    if not traded and not kinds & (THINGS | heads):
        return None
    cells = tuple(row[0] for grid in form.items for row in grid.rows)
    return ("", ", ".join(cell.text for cell in cells), cells) if cells else None


def _field(form: Form, question: str) -> Filled | None:
    """The one field whose label the question says most of, in words that neither title nor another value explains."""
    others = set(terms_of(form.title))
    whole = terms_of("total") if re.search(r"\bhow (?:much|high) (?:is|was)\b", question, re.IGNORECASE) else ()
    asked = [term for term in (*terms_of(question), *whole) if term not in others]
    kind = "time" if _DATE.search(question) else answer_type(question)
    scored = []
    for label, value in form.fields:
        if is_of_type(value.text, kind) is False or (_HOW_MUCH.search(question) and value.number is None):
            continue
        terms = set(terms_of(label.text)) - others
        exact, meant = len(terms & set(asked)), sum(means(term, terms) for term in asked)
        telling = sum(means(term, terms) for term in asked if term not in _ANY)
        if meant:
            scored.append(((bool(telling), exact, meant), (label.text, value.text, (value,))))
    best = max((score for score, _ in scored), default=None)
    found = [answer for score, answer in scored if score == best]
    return found[0] if len(found) == 1 else None


# --- lines read as tables ---------------------------------------------------------------------------------------------

_PATH = re.compile(r"(?P<row>(?:.*\.)?\d+)\.(?P<column>[^.\d].*)")
FORM_REACH = 3_000
"""Characters of a form before and behind the place it is looked for at."""
GAP_LINES = 3
"""Lines between two fields that may be something else: a sentence of address, a heading."""


def records_of(document: Document, low: int, high: int) -> Iterator[Grid]:
    """The forms of a document around a span, in order, and its numbered records, which are not all of a data file."""
    low, high = widened(document.text, low, high, FORM_REACH)
    for grid in _grids_within(document, max(low, head_of(document)), high):
        yield replace(grid, whole=document.kind not in ("json", "jsonl"))


def _grids_within(document: Document, low: int, high: int) -> Iterator[Grid]:
    """The forms and records of a span, parted where something else stands between two fields."""
    text = without_figures(document, low, high)
    fields: list[Field] = []
    for label, value in fields_of(text, low):
        between = text[fields[-1][1].end - low : label.start - low] if fields else ""
        if sum(map(bool, map(str.strip, between.split("\n")))) > GAP_LINES:
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
    if len(form) >= LEAST_FIELDS:
        labels, values = zip(*form, strict=True)
        yield Grid(labels, (values,), (), document.title)
    if len(rows) > 1:
        names = list(dict.fromkeys(name for row in rows.values() for name in row))
        place = fields[0][0].start
        header = tuple(Cell(name.replace("_", " "), place, place) for name in names)
        body = (tuple(row.get(name, Cell("", place, place)) for name in names) for row in rows.values())
        yield Grid(header, tuple(body), (), document.title)
