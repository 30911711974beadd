"""Whether a question can stand alone, or leaves out what it is about."""

from __future__ import annotations

import re

from thresher.text.terms import index_terms

_OPENING = re.compile(
    r"(?:and|but|also|or|then|so|no|sorry|actually|what about|how about|i mean|i meant)\b[\s,]*", re.IGNORECASE
)
_POINTING = frozenset(("it", "its", "they", "them", "their", "he", "him", "his", "she", "her", "this", "that", "these"))
_AUXILIARY = frozenset(("is", "are", "was", "were", "do", "does", "did", "has", "have", "had", "can", "could", "will"))
_AMOUNT = frozenset(("many", "much", "long", "often", "far", "late"))
_EMPTY_IT = re.compile(r"\bit\b.*\bto\b", re.IGNORECASE)
"""It stands for nothing: "What does it cost to rent a towel?"."""
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
    if _OPENING.match(question):
        return True
    words = _WORD.findall(question)
    if any(word.lower() in _POINTING and not word.isupper() for word in words):
        return _EMPTY_IT.search(question) is None
    lower = [word.lower() for word in words]
    content = [word for word in lower if word not in _AMOUNT and index_terms(word)]
    return not content or (len(content) == 1 and _AUXILIARY.isdisjoint(lower))
