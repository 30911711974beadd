"""A question that brings its options: "(A) ... (B) ...", "A. ... B. ..." or "A: ...", as multiple-choice sets ask."""

from __future__ import annotations

import re
from dataclasses import dataclass

_OPTION = re.compile(r"(?:^|[\s;,])\(?([A-H])[).:](?=\s)")


@dataclass(frozen=True, slots=True)
class Choice:
    """A question with options, as they were lettered."""

    stem: str
    options: tuple[tuple[str, str], ...]
    """Letter and text, at least two."""


def choice_of(question: str) -> Choice | None:
    """The options of a question: letters that follow each other from A on, each with a text behind it."""
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
