"""Which questions may be looked at: three fifths train, one fifth to tune on, one fifth for the number that counts."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Literal, get_args

from thresher.errors import UsageError
from thresher.evals.labels import Question

Split = Literal["train", "tune", "final", "all"]

FIFTHS: tuple[Split, ...] = ("train", "train", "train", "tune", "final")


def split_of(key: str) -> Split:
    """The split of a subject, an article or a question id: sha1 of "split:" and the key, modulo 5.

    Questions about one thing share a key, so that nothing tuned on some of them is measured on others.
    """
    return FIFTHS[sha1_number(f"split:{key}") % len(FIFTHS)]


def members(questions: Iterable[Question], split: Split) -> tuple[Question, ...]:
    """The questions of a split, in their order."""
    return tuple(question for question in questions if split in ("all", split_of(question.group or question.id)))


def read_split(name: str) -> Split:
    """The split of that name."""
    for split in get_args(Split):
        if name == split:
            return split  # type: ignore[no-any-return]
    raise UsageError("unknown split", subject=name, next_step=f"splits are {', '.join(get_args(Split))}")


def sha1_number(text: str) -> int:
    """The sha1 of a text as a number: the same on every machine, unrelated to the order of a file."""
    return int(hashlib.sha1(text.encode("utf-8", "backslashreplace"), usedforsecurity=False).hexdigest(), 16)
