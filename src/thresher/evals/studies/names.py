"""Names and numbers in one word of the command line."""

from __future__ import annotations

import re

from thresher.errors import UsageError

COMMA = re.compile(r",(?![^\[\]]*\])")
"""A comma that is not inside brackets: those of `rag[chunk.size=300,chunk.overlap=50]` belong to the name."""


def split_names(text: str) -> tuple[str, ...]:
    """`a, b[c=1,d=2]` to `a` and `b[c=1,d=2]`, without repeats."""
    return tuple(dict.fromkeys(part.strip() for part in COMMA.split(text) if part.strip()))


def split_numbers(text: str, *, subject: str) -> tuple[int, ...]:
    """`100, 10,25` to 10, 25, 100. Raises UsageError for what is no whole number above 0."""
    parts = split_names(text)
    if not parts or not all(part.isdecimal() and int(part) > 0 for part in parts):
        raise UsageError(f"'{text}' is not a list of numbers", subject=subject, next_step="e.g. 10,25,50")
    return tuple(sorted({int(part) for part in parts}))
