"""What a question asks, read once from its words."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from thresher.question.about import asks_about_whole, courtesy, wants_other
from thresher.question.parts import SubQuestion, asked_apart, compared
from thresher.text.boilerplate import asks_for_questions
from thresher.text.entities import heads_in
from thresher.text.terms import index_terms

READ = 1_000
"""Questions of which the intent is kept."""


@dataclass(frozen=True, slots=True)
class Intent:
    """What a question asks."""

    question: str
    parts: tuple[SubQuestion, ...]
    """The question, or both of two that it asks."""
    compared: tuple[str, str] | None
    """The two that it compares."""
    subject: str
    """What it asks to be introduced; "" where it asks for something else."""
    identifiers: tuple[str, ...]
    """Numbers and codes under which an entry of a document may stand, as they are typed."""
    wants_questions: bool
    """Whether questions of a document may answer."""
    document: str | None
    """What it calls the document that it asks about as a whole, "" for "this document"; None for another question."""
    wants_other: bool
    """Whether it asks for the next passage."""
    courtesy: str
    """The line that answers a greeting; "" for a question."""

    @property
    def searches(self) -> tuple[str, ...]:
        """What is searched and judged: the question, and each of its parts or of the two that it compares."""
        parts = [part.asked for part in self.parts] if len(self.parts) > 1 else self.compared or ()
        return (self.question, *parts)

    def to_dict(self) -> dict[str, Any]:
        """What the trace has of it; empty for a question that asks one thing."""
        read = {
            "parts": [part.text for part in self.parts] if len(self.parts) > 1 else [],
            "compared": list(self.compared or ()),
            "subject": self.subject,
            "identifiers": list(self.identifiers),
        }
        return {name: value for name, value in read.items() if value}


@lru_cache(maxsize=READ)
def intent_of(question: str) -> Intent:
    """The intent of a question as it is searched."""
    return Intent(
        question,
        asked_apart(question),
        compared(question),
        subject_asked(question),
        tuple(question[one.start : one.end] for one in heads_in(question)),
        asks_for_questions(question),
        asks_about_whole(question),
        wants_other(question),
        courtesy(question),
    )


_WHAT_IS = re.compile(
    r"\s*(?:what|who)(?:\s+(?:is|are|was|were)|['’]s)\s+(?P<article>(?:the|an?)\s+)?(?P<subject>[^?]+?)\s*\?*\s*",
    re.IGNORECASE,
)
_LONGEST_SUBJECT = 4


def subject_asked(question: str) -> str:
    """What a question asks to be introduced, "" for any other question.

    A name or a noun without a definite article: "the deposit" is a value of something that is known.

    >>> [subject_asked(q) for q in ("What is batch normalization?", "who's Ada Kask", "What is the deposit?")]
    ['batch normalization', 'Ada Kask', '']
    """
    found = _WHAT_IS.fullmatch(question)
    if found is None:
        return ""
    words, definite = found["subject"].split(), (found["article"] or "").lower().startswith("the")
    if len(words) > _LONGEST_SUBJECT or not all(map(index_terms, words)) or (definite and found["subject"].islower()):
        return ""
    return found["subject"]
