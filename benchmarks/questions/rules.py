"""A question with what its answer must state, and the mark that written rules give an answer (README.md)."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

QUESTIONS = Path(__file__).with_name("questions.jsonl")

Groups = tuple[tuple[str, ...], ...]
"""Of each group one alternative must be stated."""

DASHES = str.maketrans(dict.fromkeys("‐‑‒–—−", "-") | {"’": "'", "‘": "'", "“": '"', "”": '"'})
THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
ZEROS = re.compile(r"(?<=\d)\.0+(?![\d.])")


class Mark(StrEnum):
    """What an answer is worth; `refused` is right where there is no answer, and wrong where there is one."""

    RIGHT = "right"
    PARTLY = "partly"
    WRONG = "wrong"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Question:
    """One row of questions.jsonl."""

    id: str
    collection: str
    kind: str
    question: str
    answerable: bool
    expected: Groups = ()
    forbidden: tuple[str, ...] = ()
    """What makes an answer wrong wherever it stands in it."""
    evidence: Groups | None = None
    """What must stand in the evidence; None: what is expected. Empty: nothing can be said."""
    refusal_says: str = ""
    """A refusal that says this is right: of a question in another language than its documents'."""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Marked:
    """A mark and the reason for it."""

    mark: Mark
    why: str


def load(path: Path = QUESTIONS) -> list[Question]:
    """All questions, in order."""
    read = []
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        for field in ("expected", "evidence"):
            if row.get(field) is not None:
                row[field] = tuple(tuple(group) for group in row[field])
        row["forbidden"] = tuple(row.get("forbidden", ()))
        read.append(Question(**row))
    return read


def plain(text: str) -> str:
    """Lower case, one form of dashes and quotes, no thousands commas and `.0`, words broken at line ends mended."""
    folded = unicodedata.normalize("NFKC", text).translate(DASHES).lower()
    whole = re.sub(r"(?<=\w)-\n(?=\w)", "", folded)
    return " ".join(ZEROS.sub("", THOUSANDS.sub("", whole)).split())


def states(text: str, wanted: str) -> bool:
    """Whether the words stand in the text, not within another word or number."""
    pattern = rf"(?<!\w)(?<!\d[.,]){re.escape(plain(wanted))}(?!\w)(?![.,]\d)"
    return re.search(pattern, plain(text)) is not None


def stated(text: str, groups: Iterable[Sequence[str]]) -> list[bool]:
    """For each group whether one of its alternatives is stated."""
    return [any(states(text, one) for one in group) for group in groups]


def marked(question: Question, text: str, *, abstained: bool, reason: str = "") -> Marked:
    """The mark by rule: a proposal, which a reader corrects."""
    if abstained:
        if question.refusal_says and question.refusal_says in f"{text} {reason}".lower():
            return Marked(Mark.RIGHT, f"says that it is the {question.refusal_says}")
        return Marked(Mark.REFUSED, "rightly" if not question.answerable else f"wrongly: {reason}")
    if not question.answerable:
        return Marked(Mark.WRONG, "answers what the documents do not tell")
    found = stated(text, question.expected)
    missing = [group[0] for group, there in zip(question.expected, found, strict=True) if not there]
    if said := [one for one in question.forbidden if states(text, one)]:
        return Marked(Mark.WRONG, f"says {said[0]}")
    if not missing:
        return Marked(Mark.RIGHT, "states all that is expected")
    return Marked(Mark.PARTLY if any(found) else Mark.WRONG, f"does not state {'; '.join(missing)}")


def holds(question: Question, evidence: Iterable[str]) -> bool | None:
    """Whether everything needed stands in the evidence; None where that cannot be told."""
    needed = question.expected if question.evidence is None else question.evidence
    if not question.answerable or not needed:
        return None
    return all(stated("\n".join(evidence), needed))
