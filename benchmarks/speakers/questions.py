"""A question with the sentence that answers it in several wordings, and with what that sentence is made wrong by."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.questions.rules import Groups, plain, states

QUESTIONS = Path(__file__).with_name("questions.jsonl")

Change = tuple[str, str]
"""What stands in the gold sentence, and what a liar puts there."""

VERB = re.compile(r"\b(?:is|was|are|were|can|may|must|should)\b(?! not\b)")
"""The first of them is denied."""


@dataclass(frozen=True, slots=True)
class Question:
    """One row of questions.jsonl; what has no `gold` is a near miss: its documents do not answer it."""

    id: str
    collection: str
    question: str
    gold: str = ""
    """A sentence that answers it, in our own words."""
    paraphrase: str = ""
    """Another one, in words that are further from the document's."""
    german: str = ""
    value: Groups = ()
    """What an answer must state to be right, one alternative of each group, in English or German."""
    holds: Groups = ()
    """What a passage must state for the answer to follow from it."""
    number: Change | None = None
    name: Change | None = None
    negated: str = ""
    """The gold sentence denied, where the rule does not do it."""

    @property
    def answerable(self) -> bool:
        """Whether the documents answer it."""
        return bool(self.gold)

    def held_by(self, text: str) -> bool:
        """Whether the answer follows from a text; never for a near miss."""
        return bool(self.holds) and all(any(states(text, one) for one in group) for group in self.holds)

    def answered_by(self, text: str) -> bool:
        """Whether a text states the right value."""
        return bool(self.value) and all(any(states(text, one) for one in group) for group in self.value)

    @property
    def denied(self) -> str:
        """The gold sentence with its verb denied."""
        return self.negated or VERB.sub(lambda found: f"{found[0]} not", self.gold, count=1)

    def changed(self, change: Change | None) -> str:
        """The gold sentence with another number or name; empty where it has none."""
        return self.gold.replace(change[0], change[1], 1) if change else ""


def load(path: Path = QUESTIONS) -> list[Question]:
    """All questions, in order."""
    return [question_of(line) for line in path.read_text(encoding="utf-8").splitlines()]


def question_of(line: str) -> Question:
    """One row as a question."""
    row = json.loads(line)
    for field in ("value", "holds"):
        row[field] = tuple(tuple(group) for group in row.get(field, ()))
    for field in ("number", "name"):
        row[field] = tuple(row[field]) if row.get(field) else None
    return Question(**row)


def chosen(questions: Sequence[Question], limit: int | None) -> list[Question]:
    """So many answerable ones and near misses in proportion, by hash; all where there is no limit."""
    ordered = sorted(questions, key=lambda one: hashlib.sha1(one.id.encode()).hexdigest())
    if limit is None:
        return ordered
    answerable = [one for one in ordered if one.answerable]
    misses = [one for one in ordered if not one.answerable]
    share = limit / max(1, len(answerable))
    return [*answerable[:limit], *misses[: max(1, round(share * len(misses)))]]


def from_elsewhere(question: Question, questions: Iterable[Question]) -> str:
    """The gold sentence of a question to other documents, the same one each time; empty where there is none."""
    others = [one.gold for one in questions if one.answerable and one.collection != question.collection]
    number = int.from_bytes(hashlib.sha1(question.id.encode()).digest()[:4], "big")
    return others[number % len(others)] if others else ""


def same_words(text: str) -> str:
    """A question in one form, to know it again in a prompt."""
    return re.sub(r"\W+", " ", plain(text)).strip()
