"""The rows and columns of a table that a question names, and its words that the table does not explain.

A table answers only where every content word of the question is a cell, a column name, or a word of the caption,
heading or title. "Revenue in Q5" is not answered from Q4's row, nor "marketing costs" from "costs".
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from thresher.structure.grid import Cell, Grid, is_money
from thresher.text.numbers import MONTHS, UNITS, canonical
from thresher.text.terms import STOP_WORDS, among, first_alike, folded, index_terms

_TOKEN = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_]\d+(?![^\W_])|[^\W\d_]+")
_IN_BRACKETS = re.compile(r"[(\[].*?[)\]]")
YES_OR_NO = re.compile(r"\s*(?:is|are|was|were|do|does|did|has|have|had|can|could|may|must|should|will)\b", re.I)
"""Questions that want a yes or no."""

_RELATIONS = frozenset(
    {"not", "no", "nor", "before", "below", "above", "over", "under", "than", "more", "most", "other", "between"}
)
"""Stop words of an index that turn a question about a table into another one."""
_ASKING = """give tell show say state report reported record list name find get got make made reach reached achieve
achieved obtain obtained amount amounts value values figure figures number numbers entry entries row rows column columns
table tables according document file sheet spreadsheet much many long please company firm organisation year did does was
were score scores result results stand stands listed shown given use used exactly currently belong belongs assigned one
someone there per every take takes taken need needs leave
leaves go goes"""
_LIGHT = frozenset(term for word in _ASKING.split() for term in index_terms(word))
"""Words that ask, or stand for any column or row."""

_PAYING = "cost costs price pay expensive"
"""Words for amounts of money, whatever the column is called."""


@dataclass(frozen=True, slots=True)
class Words:
    """The terms of a text by place; a compound of two words stands where both do."""

    places: dict[str, frozenset[int]]
    tokens: tuple[str, ...]
    spoken: tuple[str, ...]
    """The tokens as they were written."""

    def within(self, terms: Iterable[str]) -> frozenset[int]:
        """Where any of the terms stands."""
        return frozenset().union(*(places for term in terms if (places := self.of([term])) is not None))

    def of(self, terms: Iterable[str]) -> frozenset[int] | None:
        """Where all the terms stand; None where one is missing."""
        found: set[int] = set()
        for term in terms:
            near = term if self.places.get(term) else first_alike(term, self.places)
            at = None if near is None else self.places[near]
            if at is None:
                return None
            found |= at
        return frozenset(found)


def _tokens(text: str) -> Iterator[tuple[str, str]]:
    """Terms in order, each with the word it is from: stems, numbers and Q3 or M8 whole, single capital letters."""
    for match in _TOKEN.finditer(re.sub(r"['’]s\b", "", text)):
        word = match.group()
        plain = folded(word)
        if word[0].isdigit():
            yield canonical(word), word
        elif word.isupper() and word != "I" and (plain in STOP_WORDS or len(word) == 1):
            yield word, word
        elif plain not in STOP_WORDS or plain in _RELATIONS:
            month = MONTHS.get(plain)
            yield f"month{month}" if month and word[0].isupper() else "".join(index_terms(plain)) or plain, word


@lru_cache(maxsize=20_000)
def terms_of(text: str) -> tuple[str, ...]:
    """The terms of a text."""
    return tuple(term for term, _ in _tokens(text))


def telling_terms(text: str) -> list[str]:
    """The terms of a text without those that only ask."""
    return [term for term in terms_of(text) if term not in _LIGHT]


def words_of(question: str) -> Words:
    """The terms of a question by place."""
    tokens, spoken = zip(*found, strict=True) if (found := list(_tokens(question))) else ((), ())
    places: dict[str, set[int]] = {}
    for at, token in enumerate(tokens):
        places.setdefault(token, set()).add(at)
        if at + 1 < len(tokens):
            places.setdefault((token + tokens[at + 1]).casefold(), set()).update((at, at + 1))
    return Words({term: frozenset(at) for term, at in places.items()}, tokens, spoken)


@dataclass(frozen=True, slots=True)
class Match:
    """One cell or column name and where the question names it; `whole` is whether nothing of it is missing."""

    column: int
    places: frozenset[int]
    whole: bool


@dataclass(frozen=True, slots=True)
class Look:
    """The cells and columns of one table that a question names."""

    question: str
    words: Words
    grid: Grid
    rows: tuple[int, ...]
    """Those that fit the question best; empty where it names none."""
    named: tuple[Match, ...]
    """The cells by which they fit."""
    columns: tuple[Match, ...]
    """Columns that are named, those of the cells apart."""
    unexplained: tuple[int, ...]
    """Places of the question that nothing in or around the table says."""
    reach: tuple[frozenset[int], ...]
    """For every row the places that name it."""

    @property
    def naming(self) -> set[int]:
        """The columns of the cells by which the rows fit."""
        return {match.column for match in self.named}

    def lacks(self, besides: Iterable[str] = ()) -> bool:
        """Whether the table leaves a word of the question unexplained that is none of `besides` (highest, total)."""
        return any(self.words.tokens[at] not in besides for at in self.unexplained)

    @property
    def other_columns(self) -> list[int]:
        """The columns that are named besides those of the cells; those that only the title names give way to others."""
        naming = self.naming
        named = [match for match in self.columns if match.column not in naming]
        titled = self.words.within(terms_of(self.grid.title))
        return [match.column for match in named if not match.places <= titled] or [match.column for match in named]


def look(grid: Grid, question: str) -> Look:
    """What the question names."""
    words = words_of(question)
    cells = [_cells_named(row, words) for row in grid.rows]
    reach = [frozenset().union(*(match.places for match in matches)) for matches in cells]
    farthest = _farthest(reach)
    rows = tuple(at for at, places in enumerate(reach) if (places and places in farthest) or len(reach) == 1)
    rows = _without_lookalikes(grid, rows, cells, reach, words)
    named = tuple(dict.fromkeys(match for at in rows for match in cells[at]))
    by_rows = frozenset().union(*(match.places for match in named))
    columns = _columns_named(grid, words, by_rows)
    explained = by_rows.union(*(match.places for match in columns))
    units = [grid.unit(head.text)[0] for head in grid.header]
    heads = [head.text for head in grid.header if not _is_value(grid, head)]
    texts = [grid.title, *(cell.text for cell in grid.around), *heads, *units]
    context = {term for text in texts for term in terms_of(text)}
    context |= set(terms_of(_PAYING)) if any(map(is_money, units)) else set()
    left = tuple(
        at
        for at, token in enumerate(words.tokens)
        if at not in explained
        and token not in _LIGHT
        and not among(token, context)
        and not (words.spoken[at].lower() in UNITS and at - 1 in explained and words.tokens[at - 1][0].isdigit())
    )
    return Look(question, words, grid, rows, named, columns, left, tuple(reach))


def _without_lookalikes(
    grid: Grid, rows: Sequence[int], cells: Sequence[Sequence[Match]], reach: Sequence[frozenset[int]], words: Words
) -> tuple[int, ...]:
    """The rows without those that are only like a name of which another row has the very words: Bergh for Berg."""

    def has_words(at: int) -> bool:
        there = {term for match in cells[at] for term in terms_of(grid.rows[at][match.column].text)}
        return there <= words.places.keys() | _LIGHT

    literal = {reach[at] for at in rows if has_words(at)}
    return tuple(at for at in rows if reach[at] not in literal or has_words(at))


def _cells_named(row: Sequence[Cell], words: Words) -> list[Match]:
    """The cells of a row that the question names whole, what stands in brackets aside."""
    found = []
    for column, cell in enumerate(row):
        terms = terms_of(cell.text)
        needed = telling_terms(cell.text) or list(terms)
        if not needed or len(needed) > NAME_TERMS:
            continue
        if (places := _places(words, needed)) is not None:
            found.append(Match(column, places, True))
            continue
        bare = terms_of(_IN_BRACKETS.sub(" ", cell.text))
        if bare and bare != terms and (places := _places(words, bare)) is not None:
            found.append(Match(column, places, False))
    return [match for match in found if not any(match.places < other.places for other in found)]


NAME_TERMS = 8
"""Terms of a cell that can be named; a longer one is a sentence."""


def _is_value(grid: Grid, head: Cell) -> bool:
    """Whether the first row is a label and a value as the others are: the value is no name of a column."""
    label = grid.header[0]
    return (
        grid.header[1:2] == (head,)
        and len(grid.header) == 2
        and (label.text.endswith(":") or len(terms_of(head.text)) > NAME_TERMS)
    )


def _places(words: Words, terms: Sequence[str]) -> frozenset[int] | None:
    found = words.of(terms)
    joined = ["".join(terms).casefold()] if found is None and len(terms) == 2 else []
    return words.of(joined) if joined else found


def _columns_named(grid: Grid, words: Words, taken: frozenset[int]) -> tuple[Match, ...]:
    """The columns named best by words that name no row; several where the question names several.

    A word of a name may be missing; a year, number or letter only where no other column differs in it.
    """
    found = []
    for column, head in enumerate(grid.header):
        if _is_value(grid, head):
            continue
        terms = terms_of(_IN_BRACKETS.sub(" ", head.text)) or terms_of(head.text)
        there = {term: at for term in terms if (at := words.of([term]) or words.within(_ASKED_OF.get(term, ())))}
        places = frozenset().union(*there.values())
        telling = any(any(map(str.isdigit, term)) or len(term) == 1 for term in terms if term not in there)
        if places and not places <= taken:
            found.append((Match(column, places, len(there) == len(set(terms))), telling))
    whole = {match.places for match, _ in found if match.whole}
    kept = [match for match, telling in found if not telling or match.places not in whole]
    whole = {match.places for match in kept if match.whole}
    farthest = _farthest(match.places for match in kept)
    return tuple(match for match in kept if (match.whole or match.places not in whole) and match.places in farthest)


def _farthest(reach: Iterable[frozenset[int]]) -> set[frozenset[int]]:
    """Those that are no part of another one; many rows are named by the same few places."""
    found = set(reach)
    return {places for places in found if not any(places < other for other in found)}


_PERIODS = tuple(map(re.compile, (r"[qh][1-4]", r"month\d+", r"(?:19|20)\d\d")))
"""Quarters and halves, months, years."""


def is_period(name: str) -> bool:
    """Whether a row or column is named by a quarter, half, month or year, or by several."""
    terms = [term.casefold() for term in terms_of(name)]
    return bool(terms) and all(any(kind.fullmatch(term) for kind in _PERIODS) for term in terms)


# --- words that mean the same -----------------------------------------------------------------------------------------

_CUSTOMER = "customer client buyer hirer tenant recipient"
CUSTOMER = frozenset(index_terms(_CUSTOMER))
THINGS = frozenset(index_terms("goods item article equipment product thing one"))
"""Words for any row of a table of things."""

_SAME = tuple(
    frozenset(index_terms(words))
    for words in (
        "due payable deadline pay",
        _CUSTOMER,
        "price cost fee rate",
        "total sum",
        "delivered delivery arrived received",
        "date dated issued",
        "paid payment",
        "vat tax",
    )
)
"""Words of labels and of questions that mean the same."""

_ASKED_OF = {
    term: frozenset(index_terms(words))
    for names, words in (
        (
            "name",
            "called customer client person employee member colleague student patient guest tenant applicant",
        ),
        ("age", "old age"),
        ("city town residence home", "live reside resident"),
        ("company employer department job profession", "work employed"),
        ("salary wage income", "earn"),
        ("price fee rate", "cost pay expensive"),
        ("height", "tall high"),
        ("weight", "weigh heavy"),
        ("length", "long"),
        ("birthday birth", "born"),
    )
    for term in index_terms(names)
}
"""Words that ask for a column without its name: "old" for an age, "lives" for a city."""


def means(term: str, terms: Iterable[str]) -> bool:
    """Whether a word is one of some words, or means the same as one."""
    same = next((group for group in _SAME if term in group), frozenset())
    terms = list(terms)
    return among(term, terms) or not same.isdisjoint(terms)
