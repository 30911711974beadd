"""The wording of a question: whether it can stand alone, points back, says what is asked, and asks twice."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from thresher.text.language import question_language
from thresher.text.terms import index_terms

OPENING = re.compile(
    r"(?:(?:and|but|also|or|then|so|no|sorry|actually|what about|how about|i mean|i meant)\b[\s,]*)+", re.IGNORECASE
)
_ASKS = r"(?:who|whom|whose|what|which|when|where|why|how)"
_ASKING = re.compile(rf"\b{_ASKS}\b", re.IGNORECASE)
_POINTING = frozenset(("it", "its", "they", "them", "their", "he", "him", "his", "she", "her", "this", "that", "these"))
_AUXILIARY = frozenset(("is", "are", "was", "were", "do", "does", "did", "has", "have", "had", "can", "could", "will"))
_AMOUNT = frozenset(("many", "much", "long", "often", "far", "late"))
_OF_WHAT = frozenset(("of", "for", "in", "on", "at", "with", "without", "by", "from", "to", "under"))
_EMPTY_IT = re.compile(r"\bit\b.*\bto\b\W*\w", re.IGNORECASE)
"""It stands for nothing: "What does it cost to rent a towel?"."""
_RELATIVE = re.compile(
    r"(?<!\bdo )(?<!\bdoes )(?<!\bdid )(?<!\bcan )(?<!\bcould )(?<!\bwill )"
    r"\b(?:the|an?) (?:(?!is\b|are\b|was\b|were\b)[\w-]+ ){1,2}that (?=\w)",
    re.IGNORECASE,
)
"""That stands for the noun before it: "the sequences that it reads"."""
_WORD = re.compile(r"\w[\w'’-]*")
ADDED = re.compile(r"(?P<typed>.+?) \((?P<before>.+)\)", re.DOTALL)
"""A question with its topic in brackets."""


def cannot_stand_alone(question: str) -> bool:
    """Whether a question seems to leave out what it is about: how it opens, a pronoun, or next to no words of its own.

    An opening alone ("And is there a dress code?") is enough: the evidence decides which reading is asked. One that has
    its topic in brackets already stands alone.
    """
    if ADDED.fullmatch(question):
        return False
    if OPENING.match(question):
        return True
    if points(question):
        return True
    lower = [word.lower() for word in _WORD.findall(question)]
    if lower and lower[0] in _OF_WHAT and not asks(question):
        return True
    content = [word for word in lower if word not in _AMOUNT and index_terms(word)]
    return not content or (len(content) == 1 and _AUXILIARY.isdisjoint(lower))


def points(question: str) -> bool:
    """Whether a pronoun stands for something before."""
    words = _WORD.findall(_RELATIVE.sub(" ", question))
    pointing = any(word.lower() in _POINTING and not word.isupper() for word in words)
    return pointing and _EMPTY_IT.search(question) is None


def asks(question: str) -> bool:
    """Whether a question says what is asked: "and on Mondays?" says only of what, and "why?" not even that."""
    opening = OPENING.match(question)
    words = [word.lower() for word in _WORD.findall(question, opening.end() if opening else 0)]
    opens = _ASKING.search(question) is not None or (words and words[0] in _AUXILIARY)
    return bool(opens) and any(word not in _AMOUNT and index_terms(word) for word in words)


# --- two questions in one ---------------------------------------------------------------------------------------------

_HELPING = rf"(?:{'|'.join(sorted(_AUXILIARY))}|would|should|may|might|must|shall)\b"
_SUBJECT = r"(?:an?|the|th(?:is|at|ese|ose)|it|they|s?he|we|you|I|there|my|our|your|his|her|its|their|any|both)"
"""Begins what is asked about, behind "is", "does" or the like: "renewed" in "and can be renewed" is none."""
_SECOND = re.compile(
    rf"(?:(?<!\?)\?++\s*+|;\s*|,?\s+and\s+)(?:and\s+)?(?=(?:(?:in|at|on|for|by|with|from|to) )?{_ASKS}\b)",
    re.IGNORECASE,
)
_YES_OR_NO = re.compile(rf"\W*{_HELPING}", re.IGNORECASE)
_SECOND_CLAUSE = re.compile(
    rf",\s+(?:while|whereas)\s+|,?\s+and\s+(?=(?i:{_HELPING})\s+(?:(?i:{_SUBJECT})\b|[A-Z'‘\"“]))"
)
_CLAUSE_TERMS = 2
"""Least terms of a clause that says something of its own: "while I wait" does not."""


class SubQuestion(NamedTuple):
    """One of the questions that a question asks."""

    text: str
    asked: str
    """What is read for it: a second part that cannot stand alone ("when was it built?") is followed by the first."""


def asked_apart(question: str) -> tuple[SubQuestion, ...]:
    """The question; or, where "and", ";" or "?" stands between two question words, its two parts.

    So with two clauses of a yes-or-no question: "Is A open and is the shop of B open?", "Does A say C, while B says D?"
    What stands in brackets behind a question is its topic, not a question of its own.
    """
    text = " ".join(question.split())
    if (added := ADDED.fullmatch(text)) is not None:
        if len(parts := asked_apart(added["typed"])) == 1:
            return (SubQuestion(question, question),)
        return tuple(SubQuestion(part.text, f"{part.text} ({added['before']})") for part in parts)
    if (cut := _between(text)) is None:
        return (SubQuestion(question, question),)
    first, second = text[: cut.start()], text[cut.end() :].rstrip("? ")
    alone = not cannot_stand_alone(second)
    in_full = f"{second}?" if alone else f"{second}? ({first})"
    return SubQuestion(f"{first}?", f"{first}?"), SubQuestion(f"{second}?", in_full)


def _between(text: str) -> re.Match[str] | None:
    """What stands between two questions: before a question word, or before a clause of a yes-or-no question."""
    cut = _SECOND.search(text)
    if cut is not None and _ASKING.search(text[: cut.start()]):
        return cut
    cut = _SECOND_CLAUSE.search(text) if _YES_OR_NO.match(text) else None
    return cut if cut is not None and len(index_terms(text[cut.end() :])) >= _CLAUSE_TERMS else None


# --- words that may be mistyped ---------------------------------------------------------------------------------------

PLAIN_WORD = re.compile(r"(?<![\w./'’@-])(?:[a-z]+|(?<=\A)[A-Z][a-z]+)(?![\w/'’@-]|\.\w)")
"""A word in small letters, or the first one, that is no part of a name, a path or an address."""

_SHORTEST = 5
"""Letters of a word that may be mistyped: a shorter one is one letter from too many others."""
_LONGEST = 30
"""Letters of one at most: it has 54 edits a letter, each as long as the word, and all of them are searched for."""


_SHORTEST_STEM, _ENDINGS = 3, ("s", "es", "ed", "ing", "er", "ers", "ly", "able")


def may_be_mistyped(word: str, is_word: Callable[[str], bool]) -> bool:
    """Whether a plain word is of a usual length, and neither a common one nor a form of one: fixes, beamer."""
    bare = word.lower()
    stems = [bare.removesuffix(ending) for ending in _ENDINGS if bare.endswith(ending)]
    forms = [bare, *stems, *(f"{stem}e" for stem in stems), *(stem[:-1] for stem in stems if stem[-2:-1] == stem[-1:])]
    return _SHORTEST <= len(word) <= _LONGEST and not any(
        len(form) >= _SHORTEST_STEM and is_word(form) for form in forms
    )


def has_mistyped(question: str, is_word: Callable[[str], bool]) -> bool:
    """Whether a question in English has a plain word that may be mistyped."""
    words = PLAIN_WORD.findall(question)
    return any(may_be_mistyped(word, is_word) for word in words) and not question_language(question)
