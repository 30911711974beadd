"""Sixty questions of the set, each with another wording that a person would use: do answer and verdict stay?"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.questions.ask import Row
from benchmarks.questions.rules import Question, plain
from thresher.types import HERE, PERHAPS_HERE

PARAPHRASES = Path(__file__).with_name("paraphrases.jsonl")

AIM = 0.85
"""Share of the pairs that should agree."""

OTHER = "/other"
"""Behind the id of a question: its other wording."""

_MARKER = re.compile(r"\s*\[\d+(?:, \d+)*\]")


@dataclass(frozen=True, slots=True)
class Pair:
    """What came of a question in the words of the set and in the other ones."""

    first: Row
    second: Row

    @property
    def same_answer(self) -> bool:
        """Whether both were refused, or both have the same words but for case, quotes, marks and "Perhaps:"."""
        return normalised(self.first) == normalised(self.second)

    @property
    def same_verdict(self) -> bool:
        """Whether the evidence was found as sufficient."""
        return self.first.verdict == self.second.verdict

    @property
    def agrees(self) -> bool:
        """Whether a person would see the same."""
        return self.same_answer and self.same_verdict

    @property
    def same_mark(self) -> bool:
        """Whether both answers are worth the same by rule."""
        return self.first.mark == self.second.mark


def normalised(row: Row) -> str:
    """The words of an answer as they are compared; nothing for a refusal."""
    if row.abstained:
        return ""
    words = plain(_MARKER.sub("", row.answer.removeprefix(PERHAPS_HERE).removeprefix(HERE)))
    return words.replace('"', "").strip(" .")


def load(path: Path = PARAPHRASES) -> dict[str, str]:
    """Id of a question to its other wording."""
    return {row["id"]: row["question"] for row in map(json.loads, path.read_text(encoding="utf-8").splitlines())}


def both(questions: Sequence[Question], others: Mapping[str, str]) -> Iterator[Question]:
    """Each question that has another wording, in both."""
    for question in questions:
        if question.id in others:
            yield question
            yield replace(question, id=question.id + OTHER, question=others[question.id])


def pairs(rows: Sequence[Row]) -> list[Pair]:
    """The rows of both wordings, side by side."""
    by_id = {row.id: row for row in rows}
    return [Pair(row, by_id[row.id + OTHER]) for row in rows if row.id + OTHER in by_id]


def told(found: Sequence[Pair], *, shown: int) -> str:
    """The shares of the pairs that agree, and the first disagreements: those first of which one wording is right."""
    disagreeing = [pair for pair in found if not pair.agrees]
    disagreeing.sort(key=lambda pair: (pair.same_mark, pair.same_verdict, pair.first.id))
    shares = {
        "answer and verdict": len(found) - len(disagreeing),
        "answer": sum(pair.same_answer for pair in found),
        "verdict": sum(pair.same_verdict for pair in found),
        "mark by rule": sum(pair.same_mark for pair in found),
    }
    lines = [f"{len(found)} pairs; the aim is {AIM:.0%} with the same answer and verdict"]
    lines += [f"  same {what}: {number} ({number / max(1, len(found)):.0%})" for what, number in shares.items()]
    for pair in disagreeing[:shown]:
        lines.append(pair.first.id)
        for row in (pair.first, pair.second):
            lines.append(f"  {row.question} -> {row.mark}, {row.verdict}: {' '.join(row.answer.split())[:160]}")
    return "\n".join(lines)
