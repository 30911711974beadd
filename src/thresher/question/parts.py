"""A question that asks twice, or compares two: its parts, as each is searched and judged."""

from __future__ import annotations

import re
from typing import NamedTuple

from thresher.question.wording import ADDED, ASKING, ASKS, AUXILIARY, cannot_stand_alone
from thresher.text.terms import index_terms

_SIDE = r"(?:the |an? )?[^\s,;?]+(?: [^\s,;?]+){0,3}?"
_COMPARED = tuple(
    re.compile(form, re.IGNORECASE)
    for form in (
        rf"\W*(?P<one>{_SIDE}) or (?P<other>{_SIDE})\s*[,:-]\s*(?:which|who|what)\b.*",
        rf"(?:which|who|what)\b.*?[,:]\s*(?P<one>{_SIDE}) or (?P<other>{_SIDE})\W*",
        rf".*\bdifference\b.* between (?P<one>{_SIDE}) and (?P<other>{_SIDE})\W*",
    )
)


def compared(question: str) -> tuple[str, str] | None:
    """The two that a question asks to compare, in its words; None for any other.

    >>> compared("Lake Orla or the Brana, which is deeper?"), compared("Can I pay by card or cash?")
    (('Lake Orla', 'Brana'), None)
    """
    found = next((found for form in _COMPARED if (found := form.fullmatch(question.strip()))), None)
    if found is None:
        return None
    one, other = (re.sub(r"^(?:the|an?) ", "", found[name], flags=re.IGNORECASE) for name in ("one", "other"))
    return one, other


_HELPING = rf"(?:{'|'.join(sorted(AUXILIARY))}|would|should|may|might|must|shall)\b"
_SUBJECT = r"(?:an?|the|th(?:is|at|ese|ose)|it|they|s?he|we|you|I|there|my|our|your|his|her|its|their|any|both)"
"""Begins what is asked about, behind "is", "does" or the like: "renewed" in "and can be renewed" is none."""
_SECOND = re.compile(
    rf"(?:\?+\s*|;\s*|,?\s+and\s+)(?:and\s+)?(?=(?:(?:in|at|on|for|by|with|from|to) )?{ASKS}\b)", re.IGNORECASE
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
    if cut is not None and ASKING.search(text[: cut.start()]):
        return cut
    cut = _SECOND_CLAUSE.search(text) if _YES_OR_NO.match(text) else None
    return cut if cut is not None and len(index_terms(text[cut.end() :])) >= _CLAUSE_TERMS else None
