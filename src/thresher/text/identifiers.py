"""Identifiers: error codes, part and order numbers, paragraphs, versions. `A71` is never `A17`.

What is an identifier is read off its form: letters before two digits or more (`E-0401`, `D22-R`), digits with two dots
or dashes between them (`2.3.1`), five digits or more, a number behind a sign (`§ 12`, `#4471`). A word with a number
(`article 12`) and a decimal (`5.4`) are identifiers only where an entry begins with them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_TOKEN = re.compile(r"(?<![\w.,])(?:(?:[§№][ \u00a0]?|#)(?=\d))?[^\W_]+(?:[-._/][^\W_]+)*(?!\w)")
_MIXED = re.compile(r"(?=(?:.*\d){2}).*[^\W\d_].*\d")
_LEVELS = re.compile(r"\d+(?:[.-]\d+){2,}[^\W\d_]?|\d{5,}")
_OTHER = re.compile(r"[^\W\d_]{3,}-(?:1[89]|20)\d\ds?|\d\d?[.-]\d\d?[.-]\d{4}|\d{4}-\d\d-\d\d|[^\W\d_]+/.*")
"""`mid-2023`, a day in digits, alternatives: they look like identifiers and are none."""
_SIGNED = re.compile(r"[§#№].?\d")
_NAMED = re.compile(r"[^\W\d_]+ \d+(?:\.\d+)*[^\W\d_]?(?![\w.,-]*\w)")
_SECTION = re.compile(r"^(?:section|paragraph|sec\.|par\.)(?=\d)")
"""What `§` stands for."""
_DECIMAL = re.compile(r"(?<![\w.,])\d+\.\d+(?![\w.,-]*\w)")


@dataclass(frozen=True, slots=True)
class Identifier:
    """One identifier as it is compared: without case, dashes and blanks."""

    key: str
    shape: str
    """The same for those that may stand in one list: `a9` for `A71` and `E-0401`, `article9` for articles."""
    start: int
    end: int


def identifiers_in(text: str) -> Iterator[Identifier]:
    """The identifiers of a text that are such by their form, in order."""
    for found in _TOKEN.finditer(text):
        word = found[0]
        if _SIGNED.match(word) or ((_MIXED.match(word) or _LEVELS.fullmatch(word)) and not _OTHER.fullmatch(word)):
            yield _identifier(found)


def heads_in(text: str) -> Iterator[Identifier]:
    """Those, and what is an identifier only at the head of an entry."""
    yield from identifiers_in(text)
    for form in (_NAMED, _DECIMAL):
        yield from map(_identifier, form.finditer(text))


def spellings(identifier: str) -> list[str]:
    """How an identifier may be written: as it is, in one piece, letters and digits apart.

    >>> spellings("e0401"), spellings("PPR-9087")
    (['e0401', 'e 0401'], ['PPR-9087', 'PPR9087', 'PPR 9087'])
    """
    whole = _in_one_piece(identifier)
    return list(dict.fromkeys((identifier, whole, re.sub(r"(?<=[^\W\d_])(?=\d)", " ", whole))))


def _in_one_piece(identifier: str) -> str:
    return re.sub(r"[-_\s]", "", identifier)


def _identifier(found: re.Match[str]) -> Identifier:
    key = _SECTION.sub("§", _in_one_piece(found[0].casefold()))
    plain = "0x" if key.startswith("0x") else re.sub(r"\d[\d.]*[^\W\d_]?$|\d[\d.]*", "9", key)
    shape = plain if " " in found[0] and key[0].isalpha() else re.sub(r"[^\W\d_]+", "a", plain)
    return Identifier(key, shape, found.start(), found.end())
