"""The names and identifiers in a text, and whether another text knows the names."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from thresher.text.numbers import numbers_in, numbers_stated, without_iso_dates
from thresher.text.terms import folded, index_terms

_WORD = re.compile(r"[^\W_]+(?:['’.&-][^\W_]+)*")
_POSSESSIVE = re.compile(r"['’]s$")
_SPACED = re.compile(r"(?<![^\W\d_])([^\W\d_]+)[ -](\d+)")
_RUN = re.compile(r"\b[A-Z][\w'’-]*(?:\s+(?:(?:of|the|and|for|de|von)\s+)*[A-Z][\w'’-]*)+")

PREFIX = 4
"""German and Germany, America and American: one name is the other's beginning, and at least this long."""

ABBREVIATION = 3
"""Letters from which initials are believed to stand for words that begin with them: two are found everywhere."""

_SMALL = frozenset("of the and for in on de von".split())  # noqa: SIM905

_DAYS = "monday tuesday wednesday thursday friday saturday sunday".split()  # noqa: SIM905
_NEVER = frozenset(["i", "ok", "mr", "mrs", "ms", "dr", "prof", "st", "etc", *_DAYS, *(f"{day}s" for day in _DAYS)])
"""Capitals that name nobody, or (weekdays) hardly ever what an answer turns on."""


def names_in(text: str) -> list[str]:
    """Each word with a capital inside, or at its start unless it begins a sentence alone, once; stop words never."""
    return list(dict.fromkeys(name for _, name in name_places(text)))


@lru_cache(maxsize=1_024)
def facts_in(text: str) -> frozenset[str]:
    """What a text names and counts, which distinguishes near copies."""
    return frozenset(name.casefold() for name in names_in(text)) | numbers_in(text)


def name_places(text: str) -> Iterator[tuple[int, str]]:
    """Where each name of `names_in` begins, and the name without possessive."""
    words = list(_WORD.finditer(text))
    for position, word in enumerate(words):
        if word.group().islower() and word.group().isalpha():
            continue
        bare = _POSSESSIVE.sub("", word.group())
        before = text[: word.start()].rstrip(" \"“'(‘*-")
        begins = not before or before.endswith((".", ":", "!", "?", "\n"))
        named = _is_inside(bare) or (bare[0].isupper() and not (begins and not _goes_on(words, position, text)))
        if named and bare.lower() not in _NEVER and index_terms(bare):
            yield word.start(), bare


def whole_names(text: str) -> Iterator[str]:
    """The names of a text in their order, those that follow each other as one: Albert Einstein."""
    start, end = -1, -1
    for begin, name in name_places(text):
        if end > 0 and begin == end + 1 and text[end] == " ":
            end = begin + len(name)
            continue
        if end > 0:
            yield text[start:end]
        start, end = begin, begin + len(name)
    if end > 0:
        yield text[start:end]


class _Known:
    """The words of a text, in which names are looked up."""

    def __init__(self, text: str) -> None:
        self.words = {part for word in _WORD.findall(text) for part in _parts(word)}
        self.stems = set(index_terms(text))
        self.initials = "".join(word[0] for word in _WORD.findall(text) if word not in _SMALL).upper()

    def has(self, name: str) -> bool:
        """In any case, ending or compound."""
        return self.stands(name) or set(index_terms(name)) <= self.stems

    def stands(self, name: str) -> bool:
        """As it is written, dots and dashes aside, or as the beginning of a word, or the other way round."""
        bare = _folded(name)
        if bare in self.words or re.sub(r"[.-]", "", bare) in self.words:
            return True
        long = (word for word in self.words if len(word) >= PREFIX <= len(bare))
        return any(word.startswith(bare) or bare.startswith(word) for word in long)

    def spells_out(self, name: str) -> bool:
        """Whether a name abbreviates words that follow each other."""
        bare = name.replace(".", "")
        return len(bare) >= ABBREVIATION and bare.isupper() and bare in self.initials


def missing_name(claim: str, known: str) -> str:
    """The first name of the claim that the text lacks in any case, ending, compound or abbreviation; "" for none."""
    claim, known = without_iso_dates(claim), without_iso_dates(known)
    there = _Known(known)
    there.words |= {_folded(letters + digits) for letters, digits in _SPACED.findall(known)}
    spelled_out = {word for run in _RUN.findall(claim) if _initials(run).lower() in there.words for word in run.split()}
    for name in names_in(claim):
        if name in spelled_out or there.spells_out(name) or there.stands(name):
            continue
        # Of HIV-positive and anti-CD3 only the part with the capitals or digits is a name.
        parts = [part for part in re.split(r"[-&]", name) if _is_inside(part) or part[0].isupper() or part[0].isdigit()]
        if not parts or not all(map(there.has, parts)):
            return name
    return ""


def namesake(claim: str, known: str) -> str:
    """The person with the same last name whom the known text names instead of one of the claim; "" for none.

    Joseph Feilden for Henry Feilden. A first name that stands anywhere in the text is the person's own.
    """
    first_names = set(_WORD.findall(known))
    runs = list(filter(None, map(_without_lead, _RUN.findall(known))))
    for name in map(_without_lead, _RUN.findall(claim)):
        first, last = name.split()[0], _POSSESSIVE.sub("", name.split()[-1])
        others = [run for run in runs if _POSSESSIVE.sub("", run.split()[-1]) == last]
        unknown = first != last and first not in first_names
        if unknown and others and not any(run.startswith(first[0]) for run in others):
            return others[0]
    return ""


def _without_lead(run: str) -> str:
    """Capitalised words without leading ones that name nobody: With Batch Normalization, An Orrin X."""
    words = run.split()
    while len(words) > 1 and not index_terms(words[0]):
        words = words[1:]
    return " ".join(words)


def _is_inside(word: str) -> bool:
    """mRNA, DNA, p53 and GPT-4 are names wherever they stand; 2.5 and 1980s are not."""
    return any(c.isupper() for c in word[1:]) or (word[:1].isalpha() and any(c.isdigit() for c in word))


def _goes_on(words: list[re.Match[str]], position: int, text: str) -> bool:
    """Whether the next word carries the name on: Albert Einstein, but not Previous IPCC reports."""
    if position + 1 >= len(words):
        return False
    word, following = words[position], words[position + 1]
    return text[word.end() : following.start()] == " " and following.group().istitle()


def _parts(word: str) -> set[str]:
    folded = _folded(word)
    return {folded, re.sub(r"[.-]", "", folded), *re.split(r"[-&]", folded)}


def _initials(run: str) -> str:
    return "".join(word[0] for word in run.split() if word[0].isupper())


def _folded(word: str) -> str:
    return folded(_POSSESSIVE.sub("", word))


_VARIANT = re.compile(r"\b([A-Z][\w’'-]*)[ -](\d[\w.]*)\b")
"""A name with a number behind it: Gemma 3, GPT-2, Section 5, PW-24-0415."""

_YEAR = re.compile(r"(?:1[89]|20)\d\d")


def missing_details(question: str, known: str) -> tuple[str, ...]:
    """The names, names with numbers, and numbers of a question that the known text lacks, as they are written.

    Gemma 2 does not stand in a text about Gemma 3, nor 2021 in one about 2022. A name and a year may stand apart (the
    budget of 2025, by quarter, for Q3 2025), but not where the name has another year behind it.
    """
    there, run_together = _Known(known), _run_together(known)
    variants = {f"{name} {number}": number for name, number in _VARIANT.findall(question)}
    absent = [variant for variant in variants if not _has_variant(run_together, variant)]
    for name in names_in(question):
        written = there.spells_out(name) or re.sub(r"[.-]", "", _folded(name)) in there.words
        if not written and not all(there.has(part) for part in name.split("-") if part):
            absent.append(name)
    absent += sorted(numbers_in(question) - numbers_stated(known) - set(variants.values()))
    return tuple(dict.fromkeys(absent))


def _has_variant(run_together: str, variant: str) -> bool:
    name, _, number = _run_together(variant).rpartition(" ")
    if _YEAR.fullmatch(number):
        years = re.findall(rf"\b{re.escape(name)} ({_YEAR.pattern})\b", run_together)
        return number in years or not years
    return f"{name} {number}" in run_together


def _run_together(text: str) -> str:
    return re.sub(r"[\s-]+", " ", text.casefold())


# --- identifiers ------------------------------------------------------------------------------------------------------

# Error codes, part and order numbers, paragraphs, versions: `A71` is never `A17`. What is an identifier is read off its
# form: letters before two digits or more (`E-0401`, `D22-R`), digits with two dots or dashes between them (`2.3.1`),
# five digits or more, a number behind a sign (`§ 12`, `#4471`). A word with a number (`article 12`) and a decimal
# (`5.4`) are identifiers only where an entry begins with them.

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
