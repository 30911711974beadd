"""What the labels of forms mean, in the words in which questions ask for them."""

from __future__ import annotations

import re
from collections.abc import Iterable

from thresher.text.terms import alike, index_terms

_SAME = tuple(
    frozenset(index_terms(words))
    for words in (
        "due payable deadline pay",
        "customer client buyer hirer tenant recipient",
        "price cost fee rate",
        "total sum",
        "delivered delivery arrived received",
        "date dated issued",
        "paid payment",
        "vat tax",
    )
)
"""Words of labels and of questions that mean the same."""

_ASKS_EVENT = re.compile(r"when (?:did|was|were|has|have)\b", re.IGNORECASE)
_STILL_TO_COME = re.compile(r"\b(?:to be|please|must|has to|have to|should|shall|due)\b", re.IGNORECASE)


def means(term: str, terms: Iterable[str]) -> bool:
    """Whether a word is one of some words, or means the same as one."""
    same = next((group for group in _SAME if term in group), frozenset())
    return any(term == other or other in same or alike(term, other) for other in terms)


def still_to_come(question: str, text: str) -> bool:
    """Whether a question asks when something happened and the text says when it has to."""
    asks = _ASKS_EVENT.match(question) and not _STILL_TO_COME.search(question)
    return bool(asks and _STILL_TO_COME.search(text))
