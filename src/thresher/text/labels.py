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

_PERSONS = "customer client person employee member colleague student patient guest tenant applicant participant"
_ASKED_OF = {
    term: frozenset(index_terms(words))
    for names, words in (
        ("name", f"called {_PERSONS}"),
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

_FACTS = {
    term: pattern
    for names, pattern in (
        ("age", "{name} is {value} years old."),
        ("city town residence home", "{name} lives in {value}."),
        ("company employer", "{name} works for {value}."),
        ("job profession occupation", "{name} works as {value}."),
        ("salary wage income", "{name} earns {value}."),
    )
    for term in index_terms(names)
}
_OF_PERSONS = frozenset(index_terms(f"name {_PERSONS}"))

_ASKS_EVENT = re.compile(r"when (?:did|was|were|has|have)\b", re.IGNORECASE)
_STILL_TO_COME = re.compile(r"\b(?:to be|please|must|has to|have to|should|shall|due)\b", re.IGNORECASE)


def means(term: str, terms: Iterable[str]) -> bool:
    """Whether a word is one of some words, or means the same as one."""
    same = next((group for group in _SAME if term in group), frozenset())
    return any(term == other or other in same or alike(term, other) for other in terms)


def terms_asking(column: str) -> frozenset[str]:
    """The terms that ask for what a column of that name holds, besides the name itself; by its stemmed term."""
    return _ASKED_OF.get(column, frozenset())


def fact_sentence(names: str, name: str, column: str, value: str) -> str:
    """A cell about a person as a sentence ("Ada lives in Paris."); "" for other columns and other names.

    `names` is the header of the column of names, `column` that of the value.
    """
    pattern = next((_FACTS[term] for term in index_terms(column) if term in _FACTS), "")
    return pattern.format(name=name, value=value) if _OF_PERSONS & set(index_terms(names)) else ""


def still_to_come(question: str, text: str) -> bool:
    """Whether a question asks when something happened and the text says when it has to."""
    asks = _ASKS_EVENT.match(question) and not _STILL_TO_COME.search(question)
    return bool(asks and _STILL_TO_COME.search(text))
