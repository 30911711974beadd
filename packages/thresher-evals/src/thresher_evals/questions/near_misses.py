"""Near misses: made questions changed to another entity, year or condition that the documents do not answer.

The other entity occurs in the documents, but never with the rest of the question. To be safe, a passage with the
changed thing and half of the question's other words counts as an answer.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import chain, islice
from typing import Literal

from thresher.structure.grid import grid_of
from thresher.text.sentences import line_spans
from thresher.text.terms import index_terms
from thresher.types import Document
from thresher_evals.questions.made_questions import Made

Changed = Literal["entity", "year", "condition"]

ANSWERING = 0.5
"""A passage with the changed thing and this share of the other terms may answer."""
MOST_TRIED = 4
"""Other entities tried for one question."""
ABOUT = 1 / 3
"""Least share of those terms in a document that replaces another in a question."""
MOST_HOLDING = 200
"""Documents with a thing that are searched at most."""
YEARS = (1, -1, 2, -2, 3)
"""Offsets of other years."""

_YEAR = re.compile(r"(?<= )(?:1[5-9]\d\d|20[0-3]\d)(?=[? ])")
_PAIRS = """
first/last last/first winter/summer summer/winter largest/smallest smallest/largest highest/lowest lowest/highest
adults/children inside/outside maximum/minimum minimum/maximum men/women women/men January/February February/March
March/May April/June May/July June/August July/September August/October September/November October/December
November/January December/February north/south south/north east/west west/east
"""
_OTHERS = tuple((one, other) for one, _, other in (pair.partition("/") for pair in _PAIRS.split()))
"""A word of a condition and its replacement."""
_AMOUNT = re.compile(r"(?<= )(?<!\d )(\d{1,3})(?= (?:[a-z]+\b))")


class Passages:
    """The paragraphs and table rows of documents, for checking whether one may answer a question."""

    def __init__(self, documents: Sequence[Document], names: Mapping[str, str]) -> None:
        self._texts = {document.id: f"{document.title}\n{document.text}".casefold() for document in documents}
        self._documents = {document.id: document for document in documents}
        self._names = {name.casefold(): id for id, name in names.items() if name}
        self._terms = cache(self._read)

    def may_answer(self, thing: str, asked: str, besides: str = "") -> bool:
        """Whether a passage with the thing, or in the document of that name, has half of the other terms.

        Only documents with the longest word of `besides` count. A thing in too many documents counts as answered.
        """
        own, needed = set(index_terms(thing)), max(besides.casefold().split(), key=len, default="")
        wanted = set(index_terms(asked)) - own
        bare = thing.casefold()
        said, whole = re.compile(rf"(?<!\w){re.escape(bare)}(?!\w)"), self._names.get(bare)
        found = [id for id, text in self._texts.items() if bare in text and needed in text and said.search(text)]
        return (
            not wanted
            or len(found) > MOST_HOLDING
            or any(
                (id == whole or own <= terms) and len(wanted & terms) >= ANSWERING * len(wanted)
                for id in found
                for terms in self._terms(id)
            )
        )

    def is_about(self, name: str, asked: str) -> bool:
        """Whether the document of this name is about the question's other terms."""
        wanted = set(index_terms(asked)) - set(index_terms(name))
        said = set[str]().union(*self._terms(self._names[name.casefold()]))
        return len(wanted & said) >= ABOUT * len(wanted)

    def _read(self, id: str) -> list[set[str]]:
        """Terms of each paragraph with its document's title, and of each table row with header, caption and lead-in.

        Column names are split into words, as in questions: `height_m` is height m.
        """
        document = self._documents[id]
        title = set(index_terms(document.title))
        found = [title | set(index_terms(paragraph)) for paragraph in re.split(r"\n\s*\n", document.text)]
        for table in document.tables:
            lines = [
                document.text[table.start + low : table.start + high]
                for low, high in line_spans(document.text[table.start : table.end])
            ]
            found += [title | set(index_terms(f"{lines[0]} {line}")) for line in lines[1:]]
            grid = grid_of(document, table)
            if grid is not None:
                above = " ".join(cell.text.replace("_", " ") for cell in (*grid.around, *grid.header))
                found += [
                    title | set(index_terms(" ".join([above, *(cell.text for cell in row)]))) for row in grid.rows
                ]
        return found


def near_misses(
    made: Made, name: str, entities: Iterable[str], passages: Passages, generator: random.Random
) -> Iterator[tuple[str, Changed]]:
    """The question with one change, so that no passage answers it, and the kind of change; in random order.

    `name` is its name for its document. `entities` are replacements, the likeliest first: names of documents if it
    names its document, else subjects.
    """
    here = made.subject or name
    ways = [_of_another(made, here, entities, passages), _of_another_year(made, here, passages)]
    if made.kind != "table":
        ways.append(_on_another_condition(made, here, passages))
    yield from chain.from_iterable(generator.sample(ways, len(ways)))


def _of_another(made: Made, here: str, entities: Iterable[str], passages: Passages) -> Iterator[tuple[str, Changed]]:
    question, rest = made.question, made.question.replace(here, " ", 1)
    alike = (one for one in entities if here in question and _alike(here, one) and one not in question)
    for other in islice(alike, MOST_TRIED):
        if not passages.may_answer(other, rest) and (made.subject or passages.is_about(other, rest)):
            yield question.replace(here, other, 1), "entity"


def _of_another_year(made: Made, here: str, passages: Passages) -> Iterator[tuple[str, Changed]]:
    found = _YEAR.search(made.question)
    if found is None:
        return
    for step in YEARS:
        year = str(int(found[0]) + step)
        other = f"{made.question[: found.start()]}{year}{made.question[found.end() :]}"
        if not passages.may_answer(year, other, here):
            yield other, "year"
            return


def _on_another_condition(made: Made, here: str, passages: Passages) -> Iterator[tuple[str, Changed]]:
    for one, another in _conditions(made.question.replace(here, " ", 1)):
        other = re.sub(rf"(?<![-\w]){one}(?![-\w])", another, made.question, count=1)
        if one not in here and not passages.may_answer(another, other, here):
            yield other, "condition"
            return


def _conditions(asked: str) -> Iterator[tuple[str, str]]:
    """Words of a condition with replacements: months, opposites, amounts."""
    words = set(re.findall(r"[\w-]+", asked))
    yield from ((one, other) for one, other in _OTHERS if one in words)
    if amount := _AMOUNT.search(asked):
        yield amount[1], str(int(amount[1]) * 2 + 1)


def _alike(one: str, other: str) -> bool:
    """Whether two things have the same form: codes of one shape, names, or the same article."""
    return one.casefold() != other.casefold() and _shape(one) == _shape(other)


def _shape(thing: str) -> tuple[str, ...]:
    if re.search(r"\d", thing):
        return (re.sub(r"\d", "9", re.sub(r"[A-Za-z]", "a", thing)),)
    words = thing.split()
    article = words[0].lower() if words[0].lower() in ("the", "a", "an", "every", "each") else ""
    return (article, "s" if words[-1].endswith("s") else "", "A" if words[-1][:1].isupper() else "")
