"""Past questions in the client."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from thresher.answer import Answer
from thresher_server.client import reading


@dataclass(frozen=True, slots=True)
class Said:
    """Feedback on an answer, with the right answer if it was given."""

    right: bool
    answer: str | None


@dataclass(frozen=True, slots=True)
class PastQuestion:
    """Summary of a past question."""

    trace: str
    question: str
    text: str
    abstained: bool
    verdict: str | None
    confidence: float | None
    certainty: float | None
    recipe: str
    asked: datetime
    feedback: Said | None

    @classmethod
    def from_dict(cls, told: Mapping[str, Any]) -> PastQuestion:
        """From the server's JSON."""
        same = {name: told[name] for name in cls.__slots__ if name not in ("asked", "feedback")}
        return cls(**same, asked=datetime.fromisoformat(told["asked"]), feedback=_said(told["feedback"]))


@dataclass(frozen=True, slots=True)
class Explained:
    """A stored answer with its chunks; `answer.explain()` prints its trace."""

    answer: Answer
    asked: datetime
    feedback: Said | None

    @classmethod
    def from_dict(cls, told: Mapping[str, Any]) -> Explained:
        """From the server's JSON."""
        answer = reading.answer(told, told["labels"])
        return cls(answer, datetime.fromisoformat(told["asked"]), _said(told["feedback"]))


def _said(told: Mapping[str, Any] | None) -> Said | None:
    return None if told is None else Said(told["right"], told["answer"])
