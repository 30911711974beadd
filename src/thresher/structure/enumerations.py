"""Enumerations within a line: "Present: Ana Silva, Bo Chen." and "The kit holds a pump, a patch set and two levers."

One answers a question only where the words before its first item and the question say the same: of a label line the
label, of a sentence its subject and verb.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from thresher.structure.lookup import telling_terms
from thresher.text.sentences import sentence_spans
from thresher.text.terms import alike, index_terms

LEAST_LABELLED, LEAST_SAID = 1, 3
"""Items behind a label, where one person may have been absent, and in a sentence, where two are a pair of words."""
LONGEST_ITEM = 80
"""Characters of an item; a longer one is a clause."""
CLOSE = 0.5
"""Share of the words before the first item that the question says; a long sentence has words of many questions."""

_LABELLED = re.compile(
    r"(?:^[-*• \t]*|(?<=[.;] ))(?P<label>[^\W\d_][^:\n|.?!,;]{1,40}?)\**:\**[ \t]+"
    r"(?P<items>(?:\b(?:Dr|Mr|Ms|Mrs|Prof|[A-Z])\.|,\n|[^\n:.|])+)",
    re.MULTILINE,
)
_APART = re.compile(r"\s*[;,]\s*(?:(?:and|or|&)\s+)?(?![^()]*\))|\s+(?:and|&)\s+(?![^()]*\))")
_SAID = re.compile(r"(?P<first>[^,;:()|]+),(?P<others>[^;:|]*?,?\s(?:and|or)\s[^;:|]+?)[.!]?", re.DOTALL)
_HOLDS = re.compile(
    r"\s*(?:holds?|contains?|includes?|comprises?|consists? of|has|have|is made of|are made of|comes? with)\s+"
    r"(?:(?:both|the following)\s+)?",
    re.IGNORECASE,
)
_ASKS_HELD = re.compile(
    r"\b(?:hold|contain|include|comprise|consist|made of|come with|belongs? to|(?:is|are) (?:in|inside|part of)\b"
    r"|have|parts|contents?)",
    re.IGNORECASE,
)
_ASKS = re.compile(r"(?:who(?:m)?|what|which|name|list)\b", re.IGNORECASE)
_ONE = re.compile(r"\b(?:first|second|third|last|next|many|much|only|one of|not|never)\b", re.IGNORECASE)
_WHO = re.compile(r"who(?:m)?\b", re.IGNORECASE)
_WAS_AT = re.compile(r"who (?:was|were) (?:at|in) the (?:meeting|session|call)\W*", re.IGNORECASE)

_CLAUSE = re.compile(
    r"(?:for|with|on|in|at|by|to|from|of|over|under|after|before|into|we|it|they|this|that|these|which|who|where|when"
    r"|while|as|but|so|thus|then|because|if|is|are|was|were|has|have|had|can|will|\w+ing)\b",
    re.IGNORECASE,
)
"""How what is no item begins: an adverbial or a clause between commas."""

_PRESENT = frozenset(index_terms("present attended attendees attending attendance participants participated"))
_ABSENT = frozenset(index_terms("absent apologies excused missing missed"))
_MEETING = frozenset(index_terms("meeting session call minutes"))
_HELD = frozenset(index_terms("hold contain include comprise consist made come belong part content inside"))


@dataclass(frozen=True, slots=True)
class Enumeration:
    """Items in the words of the text; offsets are in the text they were looked for in."""

    start: int
    end: int
    """Of the line or sentence."""
    low: int
    high: int
    """Of the items."""
    told: str
    """The whole as a sentence that a model of text can read."""


def enumerated(text: str, question: str, title: str = "") -> Iterator[Enumeration]:
    """The enumerations of a text that a question asks for; `title` may say what it names besides."""
    if not _ASKS.match(question) or _ONE.search(question):
        return
    asked = list(telling_terms(question))
    known = set(telling_terms(title))
    yield from _labelled(text, question, asked, known)
    if not _WHO.match(question):
        for start, end in sentence_spans(text):
            if (found := _said(text, start, end, question, asked, known)) is not None:
                yield found


def _labelled(text: str, question: str, asked: Sequence[str], known: Collection[str]) -> Iterator[Enumeration]:
    """Label lines whose label a question for persons says: those who were present, or absent."""
    if not _WHO.match(question):
        return
    for group in (_PRESENT, _ABSENT):
        meant = any(term in group for term in asked) or (group is _PRESENT and _WAS_AT.fullmatch(question))
        if not meant or any(not _one_of(term, group | _MEETING | set(known)) for term in asked):
            continue
        for found in _LABELLED.finditer(text):
            labels = telling_terms(found["label"])
            persons = _items(found["items"])
            named = all(item[:1].isupper() for item in persons)
            named = named and any(term in group for term in labels)
            if all(term in group | _MEETING for term in labels) and named and len(persons) >= LEAST_LABELLED:
                low, high = found.span("items")
                high = low + len(found["items"].rstrip())
                yield Enumeration(found.start("label"), high, low, high, _told(persons, came=group is _PRESENT))


def _told(persons: Sequence[str], *, came: bool) -> str:
    """Who came to a meeting, or did not, in the two ways in which people say and ask it."""
    who = " and ".join([*([", ".join(persons[:-1])] if persons[1:] else []), persons[-1]])
    was = "were" if persons[1:] else "was"
    label = "present" if came else "absent"
    told = f"{label.capitalize()}: {', '.join(persons)}. {who} {was} {label}."
    return f"{told} {who} {'attended' if came else 'did not attend'} the meeting."


def _said(
    text: str, start: int, end: int, question: str, asked: Sequence[str], known: Collection[str]
) -> Enumeration | None:
    """A sentence that ends with items, where the question says what goes before them."""
    found = _SAID.fullmatch(text, start, end)
    if found is None or not asked:
        return None
    first = found["first"]
    words = list(re.finditer(r"[^\W_]+(?:-[^\W_]+)*", first))
    last = max((at for at, word in enumerate(words) if _says(word[0], asked)), default=None)
    if last is None:
        return None
    before = {term for word in words[: last + 1] for term in telling_terms(word[0])}
    low = start + words[last].end()
    if holds := _HOLDS.match(text, low):
        if not _ASKS_HELD.search(question):
            return None
        low, before = holds.end(), before | _HELD
    elif _says(words[last][0], _HELD) and (rest := re.compile(r"\s*(?:of|with)\s+").match(text, low)):
        low = rest.end()
    low += len(text[low:end]) - len(text[low:end].lstrip())
    high = found.end("others")
    items = _items(text[low:high])
    explained = before | set(known)
    said = sum(_one_of(term, asked) for term in before - _HELD) / max(1, len(before - _HELD))
    whole = all(item and len(item) <= LONGEST_ITEM and not _CLAUSE.match(item) for item in items)
    ends = bool(holds) or asked[-1] in _HELD or _says(words[last][0], asked[-1:])  # with the question's own last word
    if (
        len(items) < LEAST_SAID
        or not whole
        or not ends
        or said < CLOSE
        or any(not _one_of(term, explained) for term in asked)
    ):
        return None
    return Enumeration(start, end, low, high, text[start:end])


def _items(text: str) -> list[str]:
    return [item.strip(" \n*") for item in _APART.split(text.strip())]


def _says(word: str, terms: Collection[str]) -> bool:
    return any(_one_of(term, terms) for term in telling_terms(word))


def _one_of(term: str, terms: Collection[str]) -> bool:
    return any(term == one or alike(term, one) for one in terms)
