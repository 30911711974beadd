"""Questions that name what may be answered: "(A) ... (B) ...", "A. ... B. ...", "A: ...", or labels in a row."""

from __future__ import annotations

import re
from dataclasses import dataclass

_OPTION = re.compile(r"(?:^|[\s;,])\(?([A-H])[).:](?=\s)")
_LABELS = re.compile(r"\b(?:one of|either of)\b[^:?.\n]*:\s*(?P<labels>[^?.\n]+)", re.IGNORECASE)
_BETWEEN = re.compile(r"\s*(?:[,;|/]|\bor\b)\s*")
_AROUND = " \t\n.,:;!?\"'“”‘’()[]*"


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


def labels_of(question: str) -> tuple[str, ...]:
    """The labels behind "one of these labels:", as they are written."""
    row = _LABELS.search(question)
    return tuple(label for one in _BETWEEN.split(row["labels"]) if (label := one.strip(_AROUND))) if row else ()


def is_option(question: str, sentence: str) -> bool:
    """Whether a sentence is one of the options or labels of its question and nothing else: "A", "(B) iron", "true."."""
    said = sentence.strip(_AROUND).casefold()
    choice = choice_of(question)
    lettered = choice.options if choice else ()
    forms = {label.casefold() for label in labels_of(question)}
    for letter, text in lettered:
        bare = text.strip(_AROUND).casefold()
        forms |= {letter.casefold(), bare, *(f"{letter.casefold()}{mark} {bare}" for mark in (")", ".", ":", ""))}
    return said in forms
