"""What a question asks for besides words: one of its options, or whether a claim is true.

The question itself says so, in the forms that multiple-choice and fact-checking sets are asked in: options behind
letters ("(A) ... (B) ...", "A. ...", "A: ...") and a claim behind "True or false:" or "Is it true that".
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_OPTION = re.compile(r"(?:^|[\s;,])\(?([A-H])[).:]\s+")
_CLAIM = re.compile(
    r"^\s*(?:is (?:it|the following(?: claim| statement)?) (?:true|correct)(?: or false)?(?: that|[:?])"
    r"|true or false\s*[:?.,-])\s*",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Choice:
    """A question with options, as they were lettered."""

    stem: str
    options: tuple[tuple[str, str], ...]
    """Letter and text, at least two."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A statement that is true or false."""

    text: str


Task = Choice | Claim


def task_of(question: str) -> Task | None:
    """The task a question sets; None for one that is answered in words."""
    claim = _CLAIM.match(question)
    if claim is not None and question[claim.end() :].strip(" ?"):
        return Claim(question[claim.end() :].strip().rstrip("?").strip())
    return _choice(question)


def _choice(question: str) -> Choice | None:
    """Letters that follow each other from A on, each with a text behind it."""
    found: list[re.Match[str]] = []
    for match in _OPTION.finditer(question):
        if match[1] == "ABCDEFGH"[len(found)]:
            found.append(match)
        if len(found) == len("ABCDEFGH"):
            break
    if len(found) < 2:
        return None
    ends = [*(match.start() for match in found[1:]), len(question)]
    options = tuple(
        (match[1], question[match.end() : end].strip(" ;,\n")) for match, end in zip(found, ends, strict=True)
    )
    stem = question[: found[0].start()].strip()
    return Choice(stem, options) if stem and all(text for _, text in options) else None
