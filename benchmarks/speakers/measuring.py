"""What became of the sentences that a model said: shown, marked or removed, and in which state; and the counts."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from benchmarks.questions.rules import plain
from benchmarks.speakers.doubles import LIARS
from benchmarks.speakers.questions import Question

MARK = re.compile(r"\s*[\[(][^\])]*\b(?:unverified|not verified|contradicted)\b[^\])]*[\])]", re.IGNORECASE)
"""The remark behind a sentence that nothing supports, alone or among others."""

BREAK = re.compile(r"(?<=[.!?\]])\s+(?![\[(])|\n+")
"""Between sentences; a remark stays with the sentence before it."""

MARKER = re.compile(r"\s*\[\d+\](?!\w)")
LEAST_OVERLAP = 0.8
"""Of the words of a sentence that was said and one of the answer, to be the same: a marker may split a word off."""

SUPPORTED, UNVERIFIED, CONTRADICTED, UNKNOWN = "supported", "unverified", "contradicted", ""


@dataclass(frozen=True, slots=True)
class Fate:
    """What became of one sentence."""

    said: str
    state: str
    """Empty where the answer does not tell."""
    shown: bool
    """Stands in the text of the answer."""
    marked: bool
    """With a remark that nothing supports it."""
    support: float | None = None
    """Probability that the evidence supports it, where the answer tells."""

    @property
    def caught(self) -> bool:
        """Whether a reader is warned, or would be: it is called unsupported, is marked, or is not shown."""
        return self.state in {UNVERIFIED, CONTRADICTED} or self.marked or not self.shown


@dataclass(frozen=True, slots=True)
class Row:
    """What came of one question."""

    id: str
    recipe: str
    double: str
    question: str
    answerable: bool
    fates: tuple[Fate, ...]
    """Of each sentence that was said; none for a refusal."""
    text: str
    abstained: bool
    answered_by: str
    right: bool
    """The right value is shown, in a sentence that is not marked."""
    right_marked: bool
    """It is shown, only in a sentence that is marked."""
    answers: bool
    """Something unmarked is shown, and it is no refusal."""
    held: bool
    """A passage that the model was shown holds the answer."""
    calls: int
    seconds: float
    cpu_seconds: float
    """Of this process, the double's server included."""


def fate(said: str, answer: Mapping[str, Any]) -> Fate:
    """What became of a sentence, by the answer's sentences and its text."""
    text, wanted = str(answer.get("text") or ""), bare(said)
    told = [*(answer.get("sentences") or ()), *(answer.get("removed") or ())]
    known = [one for one in told if overlap(bare(str(one.get("text", ""))), wanted)]
    state = str(known[0].get("state") or UNKNOWN) if known else UNKNOWN
    support = known[0].get("support") if known else None
    flat = MARKER.sub("", text)
    where = place(flat, said)
    if answer.get("abstained") or where is None:
        return Fate(said, state, shown=False, marked=False, support=support)
    return Fate(said, state, shown=True, marked=MARK.match(flat, where[1]) is not None, support=support)


def bare(sentence: str) -> str:
    """A sentence without markers, remarks and the punctuation around it, in one form."""
    return plain(MARKER.sub("", MARK.sub("", sentence))).strip(" .!?-*")


def overlap(one: str, other: str) -> bool:
    """Whether two sentences are the same, but for a word or two of many."""
    if one == other:
        return True
    first, second = Counter(one.split()), Counter(other.split())
    shared = sum((first & second).values())
    longer = max(first.total(), second.total())
    return longer >= 2 / (1 - LEAST_OVERLAP) and shared >= LEAST_OVERLAP * longer and numbers(one) == numbers(other)


def numbers(text: str) -> list[str]:
    """The numbers of a sentence: a sentence with another number is another sentence."""
    return sorted(re.findall(r"\d+(?:[.,:]\d+)*", text))


def place(text: str, said: str) -> tuple[int, int] | None:
    """Where a sentence stands in a text without markers, its full stop included; None where it is not in it."""
    words = MARKER.sub("", said).rstrip(" .!?").split()
    found = re.search(r"\s+".join(map(re.escape, words)) + r"\s*[.!?]?", text, re.IGNORECASE) if words else None
    return found.span() if found else None


def unmarked(answer: Mapping[str, Any]) -> str:
    """The text without markers and without the sentences that are marked; empty for a refusal."""
    if answer.get("abstained"):
        return ""
    text = MARKER.sub("", str(answer.get("text") or ""))
    for sentence in answer.get("sentences") or ():
        where = place(text, str(sentence.get("text", "")))
        mark = MARK.match(text, where[1]) if where else None
        if where and mark:
            text = text[: where[0]] + text[mark.end() :]
    return " ".join(piece for piece in BREAK.split(text) if not MARK.search(piece))


def row(
    question: Question, recipe: str, double: str, said: Sequence[str], answer: Mapping[str, Any], **measured: Any
) -> Row:
    """What is kept of an answer; `measured` are `held`, `calls`, `seconds` and `cpu_seconds`."""
    clean, text = unmarked(answer), str(answer.get("text") or "")
    abstained = bool(answer.get("abstained"))
    right = question.answered_by(clean)
    return Row(
        id=question.id,
        recipe=recipe,
        double=double,
        question=question.question,
        answerable=question.answerable,
        fates=tuple(fate(sentence, answer) for sentence in said),
        text=text,
        abstained=abstained,
        answered_by=str(answer.get("answered_by") or ""),
        right=right,
        right_marked=not abstained and not right and question.answered_by(MARKER.sub("", text)),
        answers=any(character.isalnum() for character in clean),
        **measured,
    )


def counted(rows: Sequence[Row]) -> dict[str, Any]:
    """The numbers of one recipe with one double."""
    asked, missed = [one for one in rows if one.answerable], [one for one in rows if not one.answerable]
    fates = [fate for one in asked for fate in one.fates]
    states = Counter(fate.state or "not told" for fate in fates)
    common = {
        "questions": len(asked),
        "answer in the prompt": sum(one.held for one in asked),
        "written": sum(bool(one.fates) for one in asked),
        "sentences": len(fates),
        "states": dict(sorted(states.items())),
        "near misses": len(missed),
        "near misses answered": sum(one.answers for one in missed),
        "calls": round(sum(one.calls for one in rows) / max(1, len(rows)), 1),
        "seconds": round(median(one.seconds for one in rows), 2) if rows else 0.0,
        "CPU seconds": round(median(one.cpu_seconds for one in rows), 2) if rows else 0.0,
    }
    if rows and rows[0].double in LIARS:
        return common | of_lies(fates)
    return common | of_faultless(asked, fates)


def of_lies(fates: Sequence[Fate]) -> dict[str, int]:
    """How many wrong sentences were caught, and how many a reader takes for right."""
    return {
        "wrong shown unmarked": sum(one.shown and not one.marked for one in fates),
        "wrong marked": sum(one.shown and one.marked for one in fates),
        "wrong removed": sum(not one.shown for one in fates),
        "caught": sum(one.caught for one in fates),
    }


def of_faultless(asked: Sequence[Row], fates: Sequence[Fate]) -> dict[str, int]:
    """How many right answers a reader sees, and how many faultless sentences were marked or removed."""
    written = [one for one in asked if one.fates]
    return {
        "shown": sum(one.right for one in written),
        "shown, by the model": sum(one.right and one.answered_by == "model" for one in written),
        "shown marked": sum(one.right_marked for one in written),
        "lost": sum(not one.right and not one.right_marked for one in written),
        "marked": sum(one.shown and one.marked for one in fates),
        "removed": sum(not one.shown for one in fates),
        "called unsupported": sum(one.state in {UNVERIFIED, CONTRADICTED} for one in fates),
    }
