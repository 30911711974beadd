"""How a chat model answers in one collection, compared with the answerer without one: `calibrate --questions`."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from thresher.answer import Answer
from thresher.collection import Collection
from thresher.protocols import Counting
from thresher.types import Public
from thresher_evals.stats import wilson_interval

LEAST_LABELLED = 20
"""Questions with answers below which an interval says nothing."""

Labelled = tuple[str, Sequence[str]]
"""A question and the answers that are right; none where the documents do not answer it."""


@dataclass(frozen=True, slots=True)
class Share(Public):
    """A share of questions with Wilson's 95 % interval; 0, 0, 1 of nothing."""

    right: int
    n: int
    value: float = field(init=False)
    low: float = field(init=False)
    high: float = field(init=False)

    def __post_init__(self) -> None:
        found = wilson_interval(self.right, self.n)
        for name, of_nothing in (("value", 0.0), ("low", 0.0), ("high", 1.0)):
            object.__setattr__(self, name, getattr(found, name) if self.n else of_nothing)

    def __str__(self) -> str:
        return f"{self.right} of {self.n} ({self.value:.2f} [{self.low:.2f}, {self.high:.2f}])" if self.n else "-"


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

    def __str__(self) -> str:
        lines = [
            f"right answers: {self.model} {self.by_model}; without a chat model {self.by_reader}",
            f"refused, of those without an answer: {self.model} {self.refused_by_model}; without a chat model "
            f"{self.refused_by_reader}",
            f"right by {self.model} alone: {self.only_model}; right without it alone: {self.only_reader}",
        ]
        if self.worse:
            lines.append("answers are better without the chat model here: answer.by=reader keeps it for judging alone")
        return "\n".join(lines)


def answerer_worth(
    collection: Collection,
    rows: Sequence[Mapping[str, Any]],
    *,
    recipe: str,
    settings: Mapping[str, Any],
    counting: Counting,
) -> AnswererWorth | None:
    """Of the rows of a questions file, each asked twice; None without a chat model, and for too few with answers."""
    model, questions = collection.settings(recipe, settings)["llm.model"], labelled_answers(rows)
    if not model or len(questions) < LEAST_LABELLED:
        return None
    with counting(2 * len(questions), "answers") as progress:

        def ask(question: str, by_model: bool) -> Answer:
            by = {"answer.by": "model" if by_model else "reader"}
            answer = collection.ask(question, recipe=recipe, settings={**settings, **by})
            progress(1)
            return answer

        return measured(model, questions, ask)


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
    return AnswererWorth(
        model,
        by_model=_share(won[True]),
        by_reader=_share(won[False]),
        refused_by_model=_share(refused[True]),
        refused_by_reader=_share(refused[False]),
        only_model=only_model,
        only_reader=only_reader,
        worse=Share(only_model, only_model + only_reader).high < 0.5,
    )


def _share(right: Sequence[bool]) -> Share:
    return Share(sum(right), len(right))


def is_right(answer: Answer, answers: Sequence[str]) -> bool:
    """Whether an answer contains a right one, case, articles and punctuation aside; or refuses where there is none."""
    if not answers:
        return answer.abstained
    return not answer.abstained and holds(answer.text, answers)


def holds(text: str, answers: Sequence[str]) -> bool:
    """Whether a text contains the words of one of the answers, case, articles and punctuation aside.

    Unlike `match_norm`, which follows SQuAD, it reads raw text: typographic quotes, dashes and hyphens part words.
    """
    padded = f" {_plain(text)} "
    return any(f" {words} " in padded for words in map(_plain, answers) if words)


def _plain(text: str) -> str:
    """Words in lower case, without articles and punctuation; `3.5` and `12%` stay whole."""
    words = re.sub(r"[^\w.%]+|\.(?!\d)", " ", text.casefold())
    return " ".join(re.sub(r"\b(?:a|an|the)\b", " ", words).split())


def labelled_answers(rows: Sequence[Mapping[str, Any]]) -> list[Labelled]:
    """The rows of a questions file with answers, or marked as having none."""
    found: list[Labelled] = []
    for row in rows:
        answers = [one for one in row.get("answers") or () if isinstance(one, str)]
        answerable = row.get("answerable", True)
        if answers or not answerable:
            found.append((row["question"], answers if answerable else []))
    return found
