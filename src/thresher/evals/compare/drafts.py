"""A drafted question: what is written of it, and what every one must hold before it is."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from thresher.errors import UsageError
from thresher.evals.answers import normalise
from thresher.evals.labels import Gold
from thresher.evals.splits import sha1_number

Made = Literal["cloze", "title", "model", "model, near miss", "off-topic"]
"""How a question came about; every one should be read by a person."""

ID_DIGITS = 10
"""Hex digits of an id: a thousand questions share one with a chance of one in two million."""


@dataclass(frozen=True, slots=True)
class Draft:
    """One question as it is written to the file."""

    question: str
    made: Made
    category: str
    answers: tuple[str, ...] = ()
    answerable: bool = True
    gold: tuple[Gold, ...] = ()
    stands_in: str = ""
    """The words of the gold place, so that a person can check the question without opening the document."""

    @property
    def id(self) -> str:
        """A hash of the question: the same question has the same id in every file."""
        return f"drafted-{sha1_number(self.question):040x}"[: len("drafted-") + ID_DIGITS]

    @property
    def tells_its_answer(self) -> bool:
        """Whether an answer stands in the question, so that repeating the question would be right."""
        asked = f" {normalise(self.question)} "
        return any(f" {normalise(answer)} " in asked for answer in self.answers)

    def to_dict(self) -> dict[str, Any]:
        """One line of the file: a question of `qa:`, and how it was made."""
        told = {
            "id": self.id,
            "question": self.question,
            "answers": list(self.answers),
            "answerable": self.answerable,
            "gold": [gold.to_dict() for gold in self.gold],
            "category": self.category,
            "made": self.made,
        }
        return {**told, "stands_in": self.stands_in} if self.stands_in else told


def write_drafts(drafts: Iterable[Draft], path: Path, *, force: bool = False) -> None:
    """One line a question. Raises UsageError for a file that is there, unless `force` is given."""
    lines = [json.dumps(draft.to_dict(), ensure_ascii=False) + "\n" for draft in drafts]
    check_free(path, force=force)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(lines), encoding="utf-8")


def check_free(path: Path, *, force: bool) -> None:
    """Raise UsageError where a file would be overwritten that may hold a person's corrections."""
    if path.is_dir():
        raise UsageError("is a folder", subject=str(path), next_step="give a file")
    if path.exists() and not force:
        raise UsageError("exists already", subject=str(path), next_step="give another --out, or --force to replace it")
