"""The questions, with where their answers stand and whether they are put aside."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from benchmarks.questions import rules
from benchmarks.questions.rules import Groups, Question

QUESTIONS = Path(__file__).with_name("questions.jsonl")
PARTS = ("dev", "aside")
SALT = 5900
"""The first one with which each part has its third of the papers, the manuals and the unanswerable questions."""


@dataclass(frozen=True, slots=True)
class TextQuestion(Question):
    """One row of questions.jsonl."""

    source: str = ""
    """The package, or `papers`."""
    document: str = ""
    """The end of the path of the page that holds the answer, or is nearest to one."""
    part: str = "dev"
    absent: Groups = ()
    """Of an unanswerable question: words of each group that stand in no paragraph together."""


def load(path: Path = QUESTIONS) -> list[TextQuestion]:
    """All questions, in order."""
    return [_question(json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines()]


def part_of(id_: str) -> str:
    """The part of a question: every third one is put aside, by a hash of its id."""
    digest = hashlib.sha256(f"{SALT}:{id_}".encode()).hexdigest()
    return "aside" if int(digest, 16) % 3 == 0 else "dev"


def problems(question: TextQuestion, texts: Mapping[str, str]) -> list[str]:
    """What is wrong with a question: expected words that its document lacks, or an answer where there is none.

    `texts` are what is read of the documents, by path.
    """
    if question.answerable:
        text = "\n".join(text for path, text in texts.items() if path.endswith(f"/{question.document}"))
        needed = [group for group in question.expected if group[0] not in ("yes", "no")] + list(question.evidence or ())
        found = rules.stated(text, needed)
        return [f"lacks {group[0]}" for group, there in zip(needed, found, strict=True) if not there]
    return [
        f"{path} has {' and '.join(group)} in one paragraph"
        for path, text in texts.items()
        for group in question.absent
        if _together(_paragraphs(text), group)
    ]


@cache
def _paragraphs(text: str) -> tuple[str, ...]:
    return tuple(rules.plain(each) for each in re.split(r"\n\s*\n", text))


def _together(paragraphs: Sequence[str], words: Iterable[str]) -> bool:
    wanted = [rules.plain(word) for word in words]
    near = [each for each in paragraphs if all(word in each for word in wanted)]
    return any(all(rules.states(each, word) for word in wanted) for each in near)


def _question(row: dict[str, Any]) -> TextQuestion:
    for field in ("expected", "evidence", "absent"):
        if row.get(field) is not None:
            row[field] = tuple(tuple(group) for group in row[field])
    row["forbidden"] = tuple(row.get("forbidden", ()))
    return TextQuestion(**row)
