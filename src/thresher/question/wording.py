"""The wording of a question: whether it can stand alone, points back to something, and says what is asked."""

from __future__ import annotations

import re

from thresher.text.terms import index_terms

OPENING = re.compile(
    r"(?:(?:and|but|also|or|then|so|no|sorry|actually|what about|how about|i mean|i meant)\b[\s,]*)+", re.IGNORECASE
)
ASKS = r"(?:who|whom|whose|what|which|when|where|why|how)"
ASKING = re.compile(rf"\b{ASKS}\b", re.IGNORECASE)
_POINTING = frozenset(("it", "its", "they", "them", "their", "he", "him", "his", "she", "her", "this", "that", "these"))
AUXILIARY = frozenset(("is", "are", "was", "were", "do", "does", "did", "has", "have", "had", "can", "could", "will"))
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
    return not content or (len(content) == 1 and AUXILIARY.isdisjoint(lower))


def points(question: str) -> bool:
    """Whether a pronoun stands for something that was said before."""
    words = _WORD.findall(_RELATIVE.sub(" ", question))
    pointing = any(word.lower() in _POINTING and not word.isupper() for word in words)
    return pointing and _EMPTY_IT.search(question) is None


def asks(question: str) -> bool:
    """Whether a question says what is asked: "and on Mondays?" says only of what, and "why?" not even that."""
    opening = OPENING.match(question)
    words = [word.lower() for word in _WORD.findall(question, opening.end() if opening else 0)]
    opens = ASKING.search(question) is not None or (words and words[0] in AUXILIARY)
    return bool(opens) and any(word not in _AMOUNT and index_terms(word) for word in words)
