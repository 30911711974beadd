"""Whether a statement says a claim in the same words: in their order, with nothing of them exchanged.

A claim may leave words of the statement out, but none that bound it (must, until, by, first), and where one
turns it (not, except, only, if) none at all: who speaks no fluent English may speak English. Numbers and days compare
by value. Of 1,519 supported claims that people wrote (VitaminC, FEVER's symmetric claims, SufficientFacts) 106 are
quoted, of 1,481 others about the same texts one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

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
_WORD = re.compile(r"[^\W_]+(?:['’][a-z]+)?")
_PARTS = re.compile(r";\s+|(?<=[.!?])\s+")

Token = str | Quantity | Date


def is_quoted(claim: str, statement: str, about: str = "") -> bool:
    """Whether a statement, or a part of it between semicolons, says a claim in the same words.

    Words of the claim that the statement lacks may stand in `about`: the title of its document, the heading above.

    >>> is_quoted("The canteen opens at 8.", "The canteen on the ground floor opens at 8 (at 10 on Sundays).")
    True
    >>> is_quoted("The canteen is open on Friday.", "The canteen is not open on Friday.")
    False
    """
    parts = [statement, *(part for part in _PARTS.split(statement) if part != statement)]
    return any(_says(part, claim, about) for part in parts if not (says_nothing(part) or part.rstrip().endswith(":")))


def _says(statement: str, claim: str, about: str) -> bool:
    stated, known = _tokens(statement), term_set(about)
    held: list[int] = []
    for token in _tokens(claim):
        behind = held[-1] + 1 if held else 0
        at = next((at for at in range(behind, len(stated)) if _same(token, stated[at])), None)
        if at is not None:
            held.append(at)
        elif token not in known or token in stated:
            return False
    left_out = [token for at, token in enumerate(stated) if at not in held]
    turned = not _TURNS.isdisjoint(token for token in stated if isinstance(token, str))
    bounds = (token for token in left_out if isinstance(token, str) and token.startswith("*"))
    return len(held) >= LEAST_WORDS and not (turned and left_out) and not any(bounds)


@lru_cache(maxsize=4_096)  # a claim is compared with each statement, a statement with each claim
def _tokens(text: str) -> tuple[Token, ...]:
    """Its terms, signs for what turns or bounds, its numbers and days."""
    text = without_iso_dates(text)
    found: list[Token] = []
    behind = 0
    for value in quantities_and_dates(text):
        if value.start >= behind:
            found += [*_terms(text[behind : value.start]), value]
            behind = value.end
    return (*found, *_terms(text[behind:]))


def _terms(text: str) -> Iterator[str]:
    for word in _WORD.findall(text.lower().replace("’", "'")):
        bare = "not" if word.endswith("n't") else word.removesuffix("'s")
        if bare in _SIGNS:
            yield _SIGNS[bare]
        else:
            yield from index_terms(bare)


def _same(one: Token, other: Token) -> bool:
    """Whether two are the same word, number or day; the claim, the first, may leave the unit out."""
    match one, other:
        case Quantity(), Quantity():
            return not set(one.values).isdisjoint(other.values) and one.unit in ("", other.unit)
        case Date(), Date():
            return (one.year, one.month, one.day) == (other.year, other.month, other.day)
        case _:
            return one == other
