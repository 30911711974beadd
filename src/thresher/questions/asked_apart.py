"""A question that asks twice is put as two."""

from __future__ import annotations

import re
from typing import NamedTuple

from thresher.questions.standing_alone import cannot_stand_alone

_ASKS = r"(?:who|whom|whose|what|which|when|where|why|how)"
_SECOND = re.compile(
    rf"(?:\?+\s*|;\s*|,?\s+and\s+)(?:and\s+)?(?=(?:(?:in|at|on|for|by|with|from|to) )?{_ASKS}\b)", re.IGNORECASE
)
_ASKING = re.compile(rf"\b{_ASKS}\b", re.IGNORECASE)


class Part(NamedTuple):
    """One of the questions that a question asks."""

    text: str
    asked: str
    """What is read for it: a second part that cannot stand alone ("when was it built?") is followed by the first."""


def searches(question: str) -> tuple[str, ...]:
    """What is searched and judged for a question: itself, and each of two parts."""
    parts = asked_apart(question)
    return (question,) if len(parts) == 1 else (question, *(part.asked for part in parts))


def asked_apart(question: str) -> tuple[Part, ...]:
    """The question; or, where "and", ";" or "?" stands between two question words, its two parts."""
    text = " ".join(question.split())
    cut = _SECOND.search(text)
    if cut is None or not _ASKING.search(text[: cut.start()]):
        return (Part(question, question),)
    first, second = text[: cut.start()], text[cut.end() :].rstrip("? ")
    alone = not cannot_stand_alone(second)
    return Part(f"{first}?", f"{first}?"), Part(f"{second}?", f"{second}?" if alone else f"{second}? ({first})")
