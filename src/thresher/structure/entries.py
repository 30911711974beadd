"""Entries of a document that stand under an identifier: a section, a row of a table, a line or paragraph of a list."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from operator import attrgetter

from thresher.structure.lookup import telling_terms
from thresher.text.entities import Identifier, heads_in, spellings
from thresher.text.sentences import Span, joined, widened
from thresher.types import Document, logistic

_BEFORE = re.compile(r"[\W_]*(?:[^\W\d_]+[\W_]+){0,2}$")
"""What may stand before the identifier of an entry: marks of a list, and a word or two (Figure F-204)."""

_LINE = re.compile(r"[^\n]+")

LIST_REACH = 10_000
"""Characters before and behind a place in which the list that it belongs to is looked for."""

HEAD_CHARACTERS = 60
"""Characters of a line in which the identifier of an entry stands."""

SLOPE, MIDDLE, MOST_CERTAIN = 0.8, -1.1, 0.6
"""Probability that an entry answers what is asked of its identifier, by the judge's logit of the entry alone: chosen by
hand on the questions of benchmarks/signals, with both halves in sight. The most is too little to call the evidence
sufficient: the entry of 4 of 10 such questions does not answer."""

FAR, RIVALS = 2.0, 8
"""Logits by which a neighbour is far better, and neighbours that are read."""


def entry_probability(question: str, logit: float, rivals: Sequence[float] = ()) -> float:
    """Probability that the entry under the identifier of a question answers it, 0 to 1.

    Highest if nothing more is asked; 0 if a neighbour under the same name has a far higher logit: then only the
    neighbour states what is asked. `rivals` are the logits of the neighbours.

    >>> [round(entry_probability(question, -3.8), 2) for question in ("What does § 12 say?", "What colour is § 12?")]
    [0.6, 0.1]
    """
    named = sorted(heads_in(question), key=lambda one: one.start)
    rest = question
    for one in reversed(named):
        rest = rest[: one.start] + " " * (one.end - one.start) + rest[one.end :]
    asks_what = re.match(r"\W*wh(?:at|ich)\b", question, re.IGNORECASE)
    if not telling_terms(rest) and (asks_what or not re.search(r"\w", rest)):
        return MOST_CERTAIN
    return 0.0 if logit < max(rivals, default=logit) - FAR else min(MOST_CERTAIN, logistic(SLOPE * (logit - MIDDLE)))


@dataclass(frozen=True, slots=True)
class Entry:
    """A span of a document about one identifier."""

    key: str
    kind: str
    """Section, row or line, with the words before its identifier: the same for the entries of one list."""
    start: int
    end: int
    head: Span
    """Where the identifier stands."""

    def touches(self, start: int, end: int) -> bool:
        """Whether a span of the document overlaps it."""
        return self.start < end and start < self.end


@dataclass(frozen=True, slots=True)
class Named:
    """The entries of a document whose identifiers have the shape of those that a question names."""

    exact: Sequence[Entry]
    """Those under an identifier that the question names."""
    others: Sequence[Entry]
    mentions: Sequence[Span] = ()
    """Lines that name an identifier of the question, under whatever they stand."""

    def is_other(self, start: int, end: int) -> bool:
        """Whether a span belongs to another identifier, and neither belongs to one of the question nor names it."""
        if self.of(start, end) or any(first < end and start < last for first, last in self.mentions):
            return False
        return any(one.touches(start, end) for one in self.others)

    def renamed(self, document: Document, entry: Entry) -> list[str]:
        """The next entries of the list as if they stood under the identifier of an entry."""
        near = sorted(self.others, key=lambda one: abs(one.start - entry.start))[:RIVALS]
        text, name = document.text, document.text[slice(*entry.head)]
        return [f"{text[one.start : one.head[0]]}{name}{text[one.head[1] : one.end]}" for one in near]

    def of(self, start: int, end: int) -> list[Entry]:
        """The entries of the question that a span overlaps."""
        return [one for one in self.exact if one.touches(start, end)]


def named_in(document: Document, question: str, places: Iterable[Span]) -> Named:
    """The entries around some places under the identifiers of a question, and those under others of their shapes."""
    asked = list(heads_in(question))
    keys, shapes = {one.key for one in asked}, {one.shape for one in asked}
    near = [widened(document.text, *span, LIST_REACH) for span in joined(places, 2 * LIST_REACH)]
    found = [one for span in near for one in _entries(document, span, shapes)]
    of_kind: dict[str, set[str]] = {}
    for one in found:
        of_kind.setdefault(one.kind, set()).add(one.key)
    # One head alone is no list: a document about one thing, which is named on its first line.
    found = [one for one in found if len(of_kind[one.kind]) > 1]
    others = [one for one in found if one.key not in keys]
    written = [question[one.start : one.end] for one in asked] if others else []
    mentions = [line for span in near for line in _mentions(document.text, span, written)]
    return Named([one for one in found if one.key in keys], others, mentions)


def _mentions(text: str, span: Span, asked: Sequence[str]) -> Iterator[Span]:
    """The lines of a span in which an identifier stands, spelled as in the question or with other dashes and blanks."""
    written = {re.escape(spelling) for one in asked for spelling in spellings(one)}
    form = re.compile(rf"(?<![\w.,-])(?:{'|'.join(sorted(written))})(?![\w-])(?!\.\w)", re.IGNORECASE)
    for line in _LINE.finditer(text, *span) if asked else ():
        if form.search(line[0]):
            yield line.span()


def _entries(document: Document, span: Span, shapes: set[str]) -> Iterator[Entry]:
    """Each heading, row and line that begins with an identifier of one of the shapes, with what stands under it."""
    text, (low, high) = document.text, span
    tables = document.tables_over(low, high)
    for start, end in (row for table in tables for row in _between(table.rows, low, high)):
        cells = (one for one in _shaped(text, (start, end), shapes) if _is_cell(text, (start, end), one))
        yield from (Entry(one.key, "row", start, end, (one.start, one.end)) for one in cells)
    marks = document.marks[slice(*(bisect_left(document.marks, at, key=attrgetter("start")) for at in span))]
    headings = [mark.start for mark in marks if mark.kind == "heading"]
    heads: list[tuple[Identifier, Span]] = []
    for line in (found.span() for found in _LINE.finditer(text, low, high)):
        if document.tables_over(*line):
            continue
        shaped = _shaped(text, (line[0], min(line[1], line[0] + HEAD_CHARACTERS)), shapes)
        head = min(shaped, key=lambda one: one.start, default=None)
        if head is not None and _BEFORE.match(text[line[0] : head.start]):
            heads.append((head, line))
    nexts = [*(line[0] for _, line in heads[1:]), high]
    for (one, (start, behind)), following in zip(heads, nexts, strict=False):
        at = bisect_left(headings, behind)
        heading = at > 0 and headings[at - 1] >= start
        # A head that stands alone in its line is explained in the paragraph behind it.
        below = text[behind : behind + HEAD_CHARACTERS]
        own = behind if re.search(r"\w", text[one.end : behind]) else behind + len(below) - len(below.lstrip())
        paragraph = -1 if heading else text.find("\n\n", own, following)
        ends = [following, *headings[at : at + 1], *([] if paragraph < 0 else [paragraph])]
        kind = f"{'section' if heading else 'line'} {text[start : one.start].strip(' #*-')}"
        yield Entry(one.key, kind, start, min(ends), (one.start, one.end))


def _shaped(text: str, span: Span, shapes: set[str]) -> Iterator[Identifier]:
    """The identifiers of a span that have one of the shapes, with their places in the text."""
    for one in heads_in(text[slice(*span)]) if re.search(r"\d", text[slice(*span)]) else ():
        if one.shape in shapes:
            yield Identifier(one.key, one.shape, span[0] + one.start, span[0] + one.end)


def _between(rows: Sequence[Span], low: int, high: int) -> Sequence[Span]:
    """The rows that begin in a span."""
    return rows[bisect_left(rows, (low,)) : bisect_left(rows, (high,))]


def _is_cell(text: str, row: Span, one: Identifier) -> bool:
    """Whether an identifier fills a cell of a row."""
    before, behind = text[row[0] : one.start].rstrip(" "), text[one.end : row[1]].lstrip(" ")
    return before[-1:] in ("|", "") and behind[:1] in ("|", "")
