"""How a chat model answers in one collection, compared with the answerer without one."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import sqrt
from typing import Any

from thresher.answer import Answer
from thresher.types import Public

Z95 = 1.959964
"""Of a 95 % interval."""

LEAST_LABELLED = 20
"""Questions with answers below which an interval says nothing."""


@dataclass(frozen=True, slots=True)
class Share(Public):
    """A share of questions with Wilson's 95 % interval."""

    right: int
    n: int
    value: float = field(init=False)
    low: float = field(init=False)
    high: float = field(init=False)

    def __post_init__(self) -> None:
        for name, number in zip(("value", "low", "high"), wilson(self.right, self.n), strict=True):
            object.__setattr__(self, name, number)


@dataclass(frozen=True, slots=True)
class AnswererWorth(Public):
    """Right answers of a chat model and of the answerer without one to the same questions."""

    model: str
    by_model: Share
    by_reader: Share
    refused_by_model: Share
    """Of the questions without an answer."""
    refused_by_reader: Share
    only_model: int
    """Questions that only the model answered right."""
    only_reader: int
    worse: bool
    """Whether the model is worse than the reader with 95 % certainty (sign test on the questions they differ on)."""

    @property
    def advice(self) -> str:
        """What to do about a worse model; empty for one that is not known to be."""
        advice = "answers are better without the chat model here: answer.by=reader keeps it for judging alone"
        return advice if self.worse else ""


Labelled = tuple[str, Sequence[str]]
"""A question and the answers that are right; none where the documents do not answer it."""


def measured(model: str, questions: Sequence[Labelled], ask: Callable[[str, bool], Answer]) -> AnswererWorth:
    """Ask every question twice; `ask` is given the question and whether the model answers."""
    won: dict[bool, list[bool]] = {True: [], False: []}
    refused: dict[bool, list[bool]] = {True: [], False: []}
    for question, answers in questions:
        for model_answers in (True, False):
            answer = ask(question, model_answers)
            (won if answers else refused)[model_answers].append(is_right(answer, answers))
    pairs = list(zip(won[True], won[False], strict=True))
    only_model, only_reader = sum(m and not r for m, r in pairs), sum(r and not m for m, r in pairs)
    by_model, by_reader, refused_by_model, refused_by_reader = (
        Share(sum(each), len(each)) for each in (won[True], won[False], refused[True], refused[False])
    )
    worse = wilson(only_model, only_model + only_reader)[2] < 0.5
    return AnswererWorth(
        model, by_model, by_reader, refused_by_model, refused_by_reader, only_model, only_reader, worse
    )


def is_right(answer: Answer, answers: Sequence[str]) -> bool:
    """Whether an answer contains a right one, case, articles and punctuation aside; or refuses where there is none."""
    if not answers:
        return answer.abstained
    text = f" {plain(answer.text)} "
    return not answer.abstained and any(f" {plain(one)} " in text for one in answers if plain(one))


def plain(text: str) -> str:
    """Words in lower case, without articles and punctuation."""
    words = re.sub(r"[^\w.%]+|\.(?!\d)", " ", text.casefold())
    return " ".join(re.sub(r"\b(?:a|an|the)\b", " ", words).split())


def wilson(right: int, n: int) -> tuple[float, float, float]:
    """Share and 95 % interval (Wilson 1927); 0, 0, 1 of nothing."""
    if n == 0:
        return 0.0, 0.0, 1.0
    share, square = right / n, Z95 * Z95
    middle = (share + square / (2 * n)) / (1 + square / n)
    half = Z95 * sqrt(share * (1 - share) / n + square / (4 * n * n)) / (1 + square / n)
    return share, max(0.0, middle - half), min(1.0, middle + half)


def labelled_answers(rows: Sequence[dict[str, Any]]) -> list[Labelled]:
    """The rows of a questions file with answers, or marked as having none."""
    found: list[Labelled] = []
    for row in rows:
        answers = [one for one in row.get("answers") or () if isinstance(one, str)]
        answerable = row.get("answerable", True)
        if answers or not answerable:
            found.append((row["question"], answers if answerable else []))
    return found
