"""What a question asks, found out once: every part of the path that answers it reads the same `Intent`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from thresher.questions.clauses import descriptions_of
from thresher.questions.kinds import Asked, Kind, asked_for
from thresher.questions.parts import parts_of, subject_of
from thresher.structure.lists import ASKS_FOR_STEPS
from thresher.text.answer_types import AnswerType, answer_type, asks_for_figure
from thresher.text.options import Choice, choice_of

_SEVERAL = re.compile(
    r"^(?:please\s+)?(?:list|name|enumerate|give (?:me )?(?:all|the|a list))\b"
    r"|\b(?:what|which)\b(?:\s+[\w-]+){0,4}?\s+(?:are|were|do|must|should|can|need|have|did|will)\b"
    r"|\bwho does what\b|\bwhat(?:'s|\u2019s| is| was) new\b"
    r"|\bwhat (?:must|should|do|can|may) \w+|\bwhat is \w+(?:ed|en|ne)\b",
    re.IGNORECASE,
)
_ONE = re.compile(
    r"\b(?:first|second|third|last|next|many|much|highest|lowest|most|least|only)\b|\bstep \d", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Intent:
    """What a question asks for."""

    kind: Kind
    """The kind of answer."""
    parts: tuple[str, ...]
    """The questions it is put together from, each standing alone; the question itself where it is one."""
    searches: tuple[str, ...]
    """What is searched for it: it itself, then its parts, its descriptions, or each of two things compared."""
    descriptions: tuple[str, ...]
    """What a long question says of the one thing that it asks for, one description at a time; mostly empty."""
    things: tuple[str, ...]
    """The two that are compared, or the document or subject that a question about documents names."""
    subject: str
    """What it is about: its last names, else the noun behind its verb; empty where neither is there."""
    wants: AnswerType
    """The type of the answer; empty for what may be anything."""
    wants_figure: bool
    """Whether a measure is asked for that is given as a number."""
    may_be_list: bool
    """Whether several things or steps may be meant, and not one of them or their number.

    Wider than the kind `list`: of 3,673 questions of SQuAD 684 may be for a list by their words, 21 are of that kind.
    """
    choice: Choice | None
    """The options that it names."""


@lru_cache(maxsize=512)  # every part of the path reads it, for the question and for each of its parts
def read_intent(question: str) -> Intent:
    """What a question asks for, by rules for English that look at its words alone."""
    asked, parts, descriptions = asked_for(question), parts_of(question), descriptions_of(question)
    return Intent(
        kind=asked.kind,
        parts=parts,
        searches=_searches(question, asked, parts, descriptions),
        descriptions=descriptions,
        things=asked.things,
        subject=subject_of(question),
        wants=answer_type(question),
        wants_figure=asks_for_figure(question),
        may_be_list=bool(ASKS_FOR_STEPS.search(question) or _SEVERAL.search(question)) and not _ONE.search(question),
        choice=choice_of(question),
    )


def _searches(question: str, asked: Asked, parts: tuple[str, ...], descriptions: tuple[str, ...]) -> tuple[str, ...]:
    if len(parts) > 1:
        return (question, *parts)
    if descriptions:
        return (question, *descriptions)
    if asked.kind is not Kind.COMPARISON or len(asked.things) < 2:
        return (question,)
    of_each = f"What is the {asked.aspect} of {{}}?" if asked.aspect else "What is {}?"
    return (question, *(of_each.format(thing) for thing in asked.things))
