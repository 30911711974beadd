"""Defines judges: the answers that each measure applies to, and results that need no judge.

Hallucination has two senses, which are never added up: `unsupported` is the share of an answer's sentences that its
context does not support, and `judged_correct` is whether the answer agrees with the gold answers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import log2
from typing import Any

from thresher.errors import UnknownSetting, UsageError
from thresher.text.sentences import sentence_spans
from thresher_evals.metrics.answers import answered, spoken
from thresher_evals.rows import Row

UNSUPPORTED, FACTS, CORRECT = "unsupported", "factscore", "judged_correct"
RELEVANCE, QUALITY = "judged_relevance", "likert"

VALUES: Mapping[str, tuple[str, ...]] = {
    UNSUPPORTED: ("unsupported",),
    FACTS: ("factscore", "responded"),
    CORRECT: ("judged_correct",),
    RELEVANCE: ("judged_relevance", "judged_P@5", "judged_nDCG@5"),
    QUALITY: ("likert_correctness", "likert_coherence", "likert_relevance"),
}
"""Measure to the names of its numbers."""


@dataclass(frozen=True)
class Case:
    """An answer and what it is judged against."""

    row: Row
    references: Sequence[str] = ()
    """Texts that check the facts of a long answer."""

    @cached_property
    def text(self) -> str:
        """The answer without citation markers and quotation marks; empty without an answer."""
        return spoken(self.row.reply) if answered(self.row.reply) else ""

    @cached_property
    def sentences(self) -> list[str]:
        """The sentences of the answer."""
        return sentences(self.text)

    @cached_property
    def context(self) -> tuple[str, ...] | None:
        """The texts that the answer was written from, else the quotes of its citations; None if neither is known."""
        if self.row.context is not None:
            return tuple(piece.text for piece in self.row.context)
        reply = self.row.reply
        return tuple(cited.quote for cited in reply.citations) or None if reply else None

    @property
    def context_is_quotes(self) -> bool:
        """Whether only the answer's own quotes are known as context."""
        return self.row.context is None and bool(self.context)


def sentences(text: str) -> list[str]:
    """The sentences of a text with a letter or digit; a line break ends one."""
    pieces = (line[start:end] for line in text.splitlines() for start, end in sentence_spans(line))
    return [piece for piece in pieces if any(map(str.isalnum, piece))]


@dataclass(frozen=True, slots=True)
class Outcome:
    """Result of judging one measure of one answer."""

    values: Mapping[str, float] = field(default_factory=dict)
    detail: Mapping[str, Any] = field(default_factory=dict)
    failed: bool = False
    """Whether a reply was unreadable, after one retry."""


Look = Callable[[Case], Outcome]


@dataclass(frozen=True, slots=True)
class Judge:
    """A judge, with a function for each measure that it knows."""

    name: str
    prompts: str
    """Version of its prompts or rules."""
    looks: Mapping[str, Look]
    described: Mapping[str, Any] = field(default_factory=dict)
    """Fields for judge.json."""
    note: str = ""
    """Caveat to print with its numbers."""
    workers: int = 1
    """Answers judged in parallel."""

    def wanted(self, names: Sequence[str] | None) -> tuple[str, ...]:
        """The measures with these names, or names of their numbers; without names all that it knows."""
        if not names:
            return tuple(self.looks)
        known = {name: measure for measure, values in VALUES.items() for name in (*values, measure)}
        for name in names:
            if name not in known:
                raise UnknownSetting(name, known, kind="measure")
            if known[name] not in self.looks:
                raise UsageError(
                    f"is nothing the judge {self.name} can say",
                    subject=known[name],
                    next_step=f"it knows {', '.join(self.looks)}; the judge llm knows all",
                )
        return tuple(dict.fromkeys(known[name] for name in names))


def judged(judge: Judge, measure: str, case: Case) -> Outcome:
    """The judge's outcome; the judge is asked only if there is something to judge.

    A refusal or failure is not correct if there are gold answers, and does not respond to a topic. A sentence from an
    empty context is unsupported; an empty context is not relevant. Other measures do not apply.
    """
    asked, look = case.row.question, judge.looks[measure]
    match measure:
        case "judged_correct":
            if not asked.answerable or not asked.answers:
                return Outcome()
            return look(case) if case.text else Outcome({measure: 0.0})
        case "factscore":
            if not asked.topic:
                return Outcome()
            return look(case) if case.sentences else Outcome({"responded": 0.0})
        case "judged_relevance":
            if case.context is None:
                return Outcome()
            return look(case) if case.context else Outcome(ranked_by_grades(()))
        case "unsupported":
            return unsupported(look, case)
        case _:
            return look(case) if case.text else Outcome()


RELEVANT_GRADE = 3
"""Least grade of a relevant text, from 1 to 5 (hybrid report, section 3)."""


def ranked_by_grades(grades: Sequence[int]) -> dict[str, float]:
    """Measures of a ranking from the grades of its texts, best first (hybrid report, section 3).

    Precision: relevant ones among the first five, divided by five. nDCG: the discounted sum of the first five grades
    over that of the best order; 0 for an empty ranking.
    """
    best = discounted(sorted(grades, reverse=True)[:5])
    relevant = sum(grade >= RELEVANT_GRADE for grade in grades[:5])
    return {"judged_P@5": relevant / 5, "judged_nDCG@5": discounted(grades[:5]) / best if best else 0.0}


def discounted(gains: Sequence[int]) -> float:
    """Sum of gains, each divided by log2(rank + 1)."""
    return sum(gain / log2(rank + 1) for rank, gain in enumerate(gains, start=1))


def unsupported(look: Look, case: Case) -> Outcome:
    """Whether the context supports the sentences; without a judge if the context is empty or unknown."""
    if not case.sentences:
        return Outcome()
    if case.context is None:
        return Outcome(detail={"context": "not known"})
    if not case.context:
        return Outcome({"unsupported": 1.0}, {"context": "none", "sentences": len(case.sentences)})
    found = look(case)
    origin = "quotes of the citations" if case.context_is_quotes else "all"
    return Outcome(found.values, {"context": origin, **found.detail}, found.failed)


def share_unsupported(stated: Sequence[str], supported: Sequence[bool], **detail: Any) -> Outcome:
    """The share of unsupported sentences, and the sentences."""
    without = [sentence for sentence, holds in zip(stated, supported, strict=True) if not holds]
    found = {"sentences": len(stated), **detail, "unsupported_sentences": without}
    return Outcome({"unsupported": len(without) / len(stated)}, found)
