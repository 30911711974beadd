"""A question that asks twice is put as two."""

from __future__ import annotations

import re
from typing import NamedTuple

_ASKS = r"(?:who|whom|whose|what|which|when|where|why|how)"
_SECOND = re.compile(
    rf"(?:\?+\s*|;\s*|,?\s+and\s+)(?:and\s+)?(?=(?:(?:in|at|on|for|by|with|from|to) )?{_ASKS}\b)", re.IGNORECASE
)
_ASKING = re.compile(rf"\b{_ASKS}\b", re.IGNORECASE)


class Part(NamedTuple):
    """One of the questions that a question asks."""

    text: str
    asked: str
    """What is searched and read for it: a second part is followed by the first in brackets, since it may say "it"."""


def asked_apart(question: str) -> tuple[Part, ...]:
    """The question; or, where "and", ";" or "?" stands between two question words, its two parts."""
    text = " ".join(question.split())
    cut = _SECOND.search(text)
    if cut is None or not _ASKING.search(text[: cut.start()]):
        return (Part(question, question),)
    first, second = text[: cut.start()], text[cut.end() :].rstrip("? ")
    return Part(f"{first}?", f"{first}?"), Part(f"{second}?", f"{second}? ({first})")
