"""What may be shown, and whether it is only a part of an answer: one of several, not compared, one of two of a name."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from thresher.answering.passage import Passage
from thresher.answering.spans import Place, Signs, answer_in
from thresher.protocols import PairReader
from thresher.questions import asks_for_several, superlatives
from thresher.structure.entries import FAR
from thresher.text.entities import whole_names
from thresher.text.markup import LISTED
from thresher.text.terms import among, term_set
from thresher.types import Citation


@dataclass(frozen=True, slots=True)
class Proposal:
    """A passage or a cell that may be shown, with its probability to hold the answer."""

    probability: float
    text: str
    """Of a cell with its markers, which count on from [1]; of a passage its quote."""
    citations: tuple[Citation, ...]
    leads: bool
    """Whether the words that answer stand first when it is shown."""
    passage: Passage | None = None
    """None for a cell."""
    place: Place | None = None
    """The most probable span of the passage."""
    signs: Signs | None = None
    """What the judge read of a passage; None for a cell, an entry and what is not in force."""
    in_doubt: bool = False
    """Whether it is shown and never asserted, however probable it is."""


_COUNTED = re.compile(r"\W*(?:in |on |at |to |for )?how many\b", re.IGNORECASE)


def is_one_of_several(question: str, best: Proposal, others: Sequence[Proposal]) -> bool:
    """Whether a question asks for several, and further passages answer it too, or a list or table is shown in part.

    Nor is a part of a table counted.
    """
    if best.passage is None:
        return False
    if not asks_for_several(question):
        return _COUNTED.match(question) is not None and _goes_on(best.passage)
    further = (one for one in others if _is_as_near(one, best) and not _is_in(one, best.passage))
    return next(further, None) is not None or _goes_on(best.passage)


def is_not_compared(question: str, best: Proposal) -> bool:
    """Whether a question asks for the highest, the oldest, the most, of which the passage does not speak."""
    passage = best.passage
    asked = superlatives(question)
    if passage is None or not asked:
        return False
    said = [] if best.place is None else superlatives(best.place.sentence.text)
    return not said and set(asked).isdisjoint(superlatives(f"{passage.stretch.title} {passage.quote}".casefold()))


def says_of(terms: Collection[str], text: str) -> bool:
    """Whether a text has one of some terms, or there are none; child stands for children."""
    there = term_set(text)
    return not terms or any(among(term, there) for term in terms)


def is_of_another(question: str, best: Proposal, others: Sequence[Proposal], reader: PairReader) -> bool:
    """Whether two paragraphs, rows or passages say different things of one who is named, and as much of the question.

    A word of the question that only one of them has tells them apart.
    """
    name = max((one for one in whole_names(question) if " " in one), key=len, default="")
    if not name or best.passage is None or best.place is None:
        return False
    if any(re.search(rf"\bthe {re.escape(name)}\b", text, re.IGNORECASE) for text in (question, best.passage.quote)):
        return False  # a person has no article
    asked = term_set(question) - term_set(name)
    near = [
        (one.passage.quote, one.place.words) for one in others if _is_as_near(one, best) and one.passage and one.place
    ]
    alone = re.compile(rf"(?<!the )\b{re.escape(name)}\b(?! [A-Z])")
    units = [(text, words) for text, words in near if alone.search(text)]
    mine = [text for text in _units(best.passage.quote) if alone.search(text)]
    if len(mine) > 1:
        title = best.passage.stretch.title
        read = list(zip(mine, reader.read(question, mine, [title] * len(mine)), strict=True))
        most = max(reading.relevance for _, reading in read)
        kept = [(text, reading) for text, reading in read if reading.relevance >= most - FAR]
        units += [(text, text[slice(*answer_in(text, reading))]) for text, reading in kept]
    else:
        units.append((best.passage.quote, best.place.words))
    most_said = max((asked & term_set(text) for text, _ in units), key=len, default=frozenset())
    told = [term_set(words) for text, words in units if asked & term_set(text) == most_said]
    return any(one and other and one.isdisjoint(other) for at, one in enumerate(told) for other in told[at + 1 :])


def _is_as_near(one: Proposal, best: Proposal) -> bool:
    if one.passage is None or one.signs is None or best.signs is None:
        return False
    return (one.signs.relevance or 0.0) >= (best.signs.relevance or 0.0) - FAR


def _is_in(one: Proposal, passage: Passage) -> bool:
    """Whether a passage shows the answer of another one too."""
    return one.place is not None and one.place.words in passage.quote


def _units(text: str) -> Iterator[str]:
    """Paragraphs, and of tables the rows."""
    for block in text.split("\n\n"):
        yield from block.split("\n") if block.startswith("|") else [block]


def _goes_on(passage: Passage) -> bool:
    """Whether a list or a table stands partly outside of a passage of it."""
    document = passage.stretch.document
    if document is None:
        return False
    tables = document.tables_over(passage.start, passage.end)
    if any(table.start < passage.start or passage.end < table.end for table in tables):
        return True
    last = passage.quote[passage.quote.rfind("\n") + 1 :]
    return bool(LISTED.match(last) and LISTED.match(document.text[passage.end :].lstrip("\n")[:100]))
