"""Questions that the documents do not answer by a hair: made ones that ask of another entity, year or condition.

The other entity occurs in the documents, but nowhere with what is asked of it. What counts as answering is wide: a
passage that has the changed thing and half of the question's other words may.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Literal

from thresher.text.made_questions import Made
from thresher.text.sentences import line_spans
from thresher.text.terms import index_terms
from thresher.types import Document

Changed = Literal["entity", "year", "condition"]

ANSWERING = 0.5
"""Share of the question's other terms that a passage with the changed thing may not have."""
MOST_TRIED = 8
"""Other entities that are tried for one question."""
ABOUT = 1 / 3
"""Share of those terms that a document must have to be asked in the place of another."""
YEARS = (1, -1, 2, -2, 3)
"""How far another year is from the one that is asked for."""

_YEAR = re.compile(r"(?<= )(?:1[5-9]\d\d|20[0-3]\d)(?=[? ])")
_PAIRS = """
first/last last/first winter/summer summer/winter largest/smallest smallest/largest highest/lowest lowest/highest
adults/children inside/outside maximum/minimum minimum/maximum men/women women/men January/February February/March
March/May April/June May/July June/August July/September August/October September/November October/December
November/January December/February north/south south/north east/west west/east
"""
_OTHERS = tuple((one, other) for one, _, other in (pair.partition("/") for pair in _PAIRS.split()))
"""A word of a condition, and another of the same sort."""
_AMOUNT = re.compile(r"(?<= )(?<!\d )(\d{1,3})(?= (?:[a-z]+\b))")


class Passages:
    """The paragraphs and rows of documents, to see whether one may answer a question."""

    def __init__(self, documents: Sequence[Document], names: Mapping[str, str]) -> None:
        self._texts = {document.id: f"{document.title}\n{document.text}".casefold() for document in documents}
        self._documents = {document.id: document for document in documents}
        self._names = {name.casefold(): id for id, name in names.items() if name}
        self._terms = cache(self._read)

    def holding(self, thing: str) -> list[str]:
        """Ids of the documents that say a thing."""
        wanted = re.compile(rf"(?<!\w){re.escape(thing.casefold())}(?!\w)")
        return [id for id, text in self._texts.items() if thing.casefold() in text and wanted.search(text)]

    def may_answer(self, thing: str, asked: str) -> bool:
        """Whether a passage with the thing, or any of a document of that name, has half of what else is asked."""
        own = set(index_terms(thing))
        wanted = set(index_terms(asked)) - own
        for id in self.holding(thing):
            whole = self._names.get(thing.casefold()) == id
            for terms in self._terms(id):
                if (whole or own <= terms) and len(wanted & terms) >= ANSWERING * len(wanted):
                    return True
        return not wanted

    def is_about(self, name: str, asked: str) -> bool:
        """Whether the document of this name speaks of what is asked at all."""
        wanted = set(index_terms(asked)) - set(index_terms(name))
        said = set[str]().union(*self._terms(self._names[name.casefold()]))
        return len(wanted & said) >= ABOUT * len(wanted)

    def _read(self, id: str) -> list[set[str]]:
        """Terms of each paragraph with its document's title; of a table row with those of the header."""
        document = self._documents[id]
        title = set(index_terms(document.title))
        found = [title | set(index_terms(paragraph)) for paragraph in re.split(r"\n\s*\n", document.text)]
        for table in document.tables:
            lines = [
                document.text[table.start + low : table.start + high]
                for low, high in line_spans(document.text[table.start : table.end])
            ]
            found += [title | set(index_terms(f"{lines[0]} {line}")) for line in lines[1:]]
        return found


def near_misses(made: Made, name: str, entities: Sequence[str], passages: Passages) -> Iterator[tuple[str, Changed]]:
    """The question with one thing changed so that no passage answers it, and what was changed.

    `name` is what it calls its document; `entities` are other things it could ask of, the likeliest first: names of
    documents where it names its document, else subjects.
    """
    question = made.question
    here = made.subject or name
    rest = question.replace(here, " ", 1)
    others = [one for one in entities if _alike(here, one) and one not in question] if here in question else []
    for other in others[:MOST_TRIED]:
        if passages.may_answer(other, rest) or not (made.subject or passages.is_about(other, rest)):
            continue
        yield question.replace(here, other, 1), "entity"
    if found := _YEAR.search(question):
        for step in YEARS:
            year = str(int(found[0]) + step)
            other = f"{question[: found.start()]}{year}{question[found.end() :]}"
            if not passages.may_answer(year, other):
                yield other, "year"
                break
    for one, another in () if made.kind == "table" else _conditions(rest):
        other = re.sub(rf"(?<![-\w]){one}(?![-\w])", another, question, count=1)
        if one not in here and not passages.may_answer(another, other):
            yield other, "condition"
            break


def _conditions(asked: str) -> Iterator[tuple[str, str]]:
    """The words of a condition with others of the same sort: months, opposites, amounts."""
    words = set(re.findall(r"[\w-]+", asked))
    yield from ((one, other) for one, other in _OTHERS if one in words)
    if amount := _AMOUNT.search(asked):
        yield amount[1], str(int(amount[1]) * 2 + 1)


def _alike(one: str, other: str) -> bool:
    """Whether two things look of the same sort: both codes of one shape, both names, both with the same article."""
    return one.casefold() != other.casefold() and _shape(one) == _shape(other)


def _shape(thing: str) -> tuple[str, ...]:
    if re.search(r"\d", thing):
        return (re.sub(r"\d", "9", re.sub(r"[A-Za-z]", "a", thing)),)
    words = thing.split()
    article = words[0].lower() if words[0].lower() in ("the", "a", "an", "every", "each") else ""
    return (article, "s" if words[-1].endswith("s") else "", "A" if words[-1][:1].isupper() else "")
