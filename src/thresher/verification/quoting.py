"""Whether a statement says a claim in the same words: without a gap, from the beginning of a clause on.

A claim may leave out the clauses before it, brackets, middle names, and the end of the statement, but no word that
bounds it (must, until, by, first), and where one turns it (not, except, only, if) none at all. What leaves out words in
between may say something else: of "eleven locomotives, four of them in working order" the eleven are not. Numbers and
days compare by value.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Container, Iterator, Sequence
from functools import lru_cache
from operator import itemgetter

from thresher.text.boilerplate import says_nothing
from thresher.text.numbers import Date, Quantity, quantities_and_dates, without_iso_dates
from thresher.text.terms import index_terms, term_set

LEAST_WORDS = 2
"""Words and numbers that a quoted claim shares with its statement, at least."""

_TURNING = """not no never none nor neither without cannot nobody nothing nowhere;
refuse refuses refused; fail fails failed; lack lacks lacked; deny denies denied; reject rejects rejected;
all every everyone everybody everything each always any anyone whatever whoever both entire whole; most; few; half;
only solely exclusively sole just alone; except excluding unless apart other; but; or either; instead;
if when whenever whether; must required requires mandatory obliged compulsory shall need needs needed necessary"""
_BOUNDING = """may might can could optional; should recommended advised ought; because due; than; until till;
before prior; since; from; after following; during; by; up; down; some several; many; more; less fewer; better; worse;
above over exceeding; under below within; while; though although; would; first; second; third; already; between;
least"""


def _signs(groups: str) -> dict[str, str]:
    """Each word to the first of its group, with a star."""
    return {word: f"*{group.split()[0]}" for group in groups.split(";") for word in group.split()}


_SIGNS = _signs(f"{_TURNING};{_BOUNDING}")
_TURNS = frozenset(_signs(_TURNING).values())
_WORD = re.compile(r"[^\W_]+(?:['’][a-z]+)?", re.IGNORECASE)
_PARTS = re.compile(r";\s+|(?<=[.!?])\s+")
_BRACKETS = re.compile(r"\([^()]*\)|\[[^\[\]]*\]")
_MIDDLE_NAMES = re.compile(r"^(?!(?:The|An?) )([A-Z][\w’'-]+ )(?:[A-Z][\w.’'-]* )+(?=[A-Z])")
_BEGINS = re.compile(r"[,:–—]\s+(?:(?:and|but)\b)?|\b(?:and|but)\b")
"""Before a clause, or an item of a list."""

Token = str | Quantity | Date


def is_quoted(claim: str, statement: str, about: str = "") -> bool:
    """Whether a statement, or a part of it between semicolons, says a claim in the same words.

    Words of the claim that the statement lacks may stand in `about`: the title of its document, the heading above.

    >>> is_quoted("The canteen opens at 8.", "On weekdays, the canteen opens at 8 (on Sundays at 10).")
    True
    >>> is_quoted("The canteen is open on Friday.", "The canteen is not open on Friday.")
    False
    """
    parts = [statement, *(part for part in _PARTS.split(statement) if part != statement)]
    stating = [part for part in parts if not (says_nothing(part) or part.rstrip().endswith(":"))]
    return any(_says(text, claim, about) for part in stating for text in _shortened(part))


def _shortened(statement: str) -> set[str]:
    """The statement, without what stands in brackets, and with the name in short with which it begins."""
    bare = _BRACKETS.sub(" ", statement)
    return {statement, bare, _MIDDLE_NAMES.sub(r"\1", " ".join(bare.split()))}


def _says(statement: str, claim: str, about: str) -> bool:
    (stated, begins), (claimed, _), known = _tokens(statement), _tokens(claim), term_set(about)
    turned = not _TURNS.isdisjoint(token for token in stated if isinstance(token, str))
    for begin in begins:
        end = _run(stated, begin, claimed, known)
        left_out = (*stated[:begin], *stated[end:])
        bounds = any(isinstance(token, str) and token.startswith("*") for token in left_out)
        if end - begin >= LEAST_WORDS and not bounds and not (turned and left_out):
            return True
    return False


def _run(stated: Sequence[Token], begin: int, claimed: Sequence[Token], known: Container[Token]) -> int:
    """Where the tokens of a claim end that stand one after the other from a place on; the place where they do not."""
    at = begin
    for token in claimed:
        if at < len(stated) and _same(token, stated[at]):
            at += 1
        elif token not in known or token in stated:
            return begin
    return at


@lru_cache(maxsize=4_096)  # a claim is compared with each statement, a statement with each claim
def _tokens(text: str) -> tuple[tuple[Token, ...], tuple[int, ...]]:
    """Its terms, signs for what turns or bounds, its numbers and days; and the places where a clause begins."""
    text = without_iso_dates(text)
    found: list[tuple[int, Token]] = []
    behind = 0
    for value in quantities_and_dates(text):
        if value.start >= behind:
            found += [*_terms(text, behind, value.start), (value.start, value)]
            behind = value.end
    found += _terms(text, behind, len(text))
    begins = {bisect_left(found, one.end(), key=itemgetter(0)) for one in _BEGINS.finditer(text)}
    return tuple(token for _, token in found), (0, *sorted(begins - {0, len(found)}))


def _terms(text: str, start: int, end: int) -> Iterator[tuple[int, str]]:
    """The terms and signs between two places, each with its own."""
    for found in _WORD.finditer(text, start, end):
        word = found[0].lower().replace("’", "'")
        bare = "not" if word.endswith("n't") else word.removesuffix("'s")
        for term in [_SIGNS[bare]] if bare in _SIGNS else index_terms(bare):
            yield found.start(), term


def _same(one: Token, other: Token) -> bool:
    """Whether two are the same word, number or day; the claim, the first, may leave the unit out."""
    match one, other:
        case Quantity(), Quantity():
            return not set(one.values).isdisjoint(other.values) and one.unit in ("", other.unit)
        case Date(), Date():
            return (one.year, one.month, one.day) == (other.year, other.month, other.day)
        case _:
            return one == other
