"""What a judge of answers is, which answers each measure looks at, and what follows without asking anybody.

Hallucination is measured in two senses, which are never added up: `unsupported` is the share of an answer's sentences
that its context does not support, and `judged_correct` says whether the answer is wrong against the gold answers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from math import log2
from pathlib import Path
from typing import Any

from thresher.errors import UnknownSetting, UsageError
from thresher.models.usage import Meter
from thresher.text.sentences import sentence_spans
from thresher_evals.judges import JUDGES
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
"""What is judged at once, and the names of the numbers that come of it."""


@dataclass(frozen=True)
class Case:
    """An answer and what it is judged by."""

    row: Row
    references: Sequence[str] = ()
    """The texts that the facts of a long answer are checked against."""

    @cached_property
    def text(self) -> str:
        """The answer without citation markers and quotation marks; empty where nothing was answered."""
        return spoken(self.row.reply) if answered(self.row.reply) else ""

    @cached_property
    def sentences(self) -> list[str]:
        """The sentences of the answer."""
        return sentences(self.text)

    @cached_property
    def context(self) -> tuple[str, ...] | None:
        """The texts that the answer was written from; the quotes of its citations where a row does not keep them.

        None where neither is known.
        """
        if self.row.context is not None:
            return tuple(piece.text for piece in self.row.context)
        reply = self.row.reply
        return tuple(cited.quote for cited in reply.citations) or None if reply else None

    @property
    def context_is_quotes(self) -> bool:
        """Whether the context is only what the answer quotes of it."""
        return self.row.context is None and bool(self.context)


def sentences(text: str) -> list[str]:
    """The sentences of a text that hold a letter or a digit; a line break ends one."""
    pieces = (line[start:end] for line in text.splitlines() for start, end in sentence_spans(line))
    return [piece for piece in pieces if any(map(str.isalnum, piece))]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of judging one measure of one answer."""

    values: Mapping[str, float] = field(default_factory=dict)
    detail: Mapping[str, Any] = field(default_factory=dict)
    failed: bool = False
    """Whether a reply could not be read, after one retry."""


Look = Callable[[Case], Outcome]


@dataclass(frozen=True, slots=True)
class Judge:
    """Somebody who judges answers: a look for each measure it knows."""

    name: str
    prompts: str
    """Version of its prompts or rules."""
    looks: Mapping[str, Look]
    described: Mapping[str, Any] = field(default_factory=dict)
    """For judge.json."""
    note: str = ""
    """What must be said beside its numbers."""
    workers: int = 1
    """Answers judged at the same time."""

    def wanted(self, names: Sequence[str] | None) -> tuple[str, ...]:
        """The measures that are meant by their names or those of their numbers; all it knows where none are given."""
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
    """What a judge says, asked only where there is something to say.

    A refusal or a failure of a question with gold answers is not correct, and does not respond to a topic; a sentence
    written from no context at all is unsupported, and no context is no relevant one. Other measures do not apply.
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
"""From which a piece counts as relevant, of 1 to 5 (hybrid report, section 3)."""


def ranked_by_grades(grades: Sequence[int]) -> dict[str, float]:
    """Numbers of a ranking whose pieces were graded, best first (hybrid report, section 3).

    The share of the first five from `RELEVANT_GRADE` on, of five also where fewer came; and the discounted sum of the
    first five grades over that of all grades in their best order, 0 where nothing came.
    """
    best = discounted(sorted(grades, reverse=True)[:5])
    relevant = sum(grade >= RELEVANT_GRADE for grade in grades[:5])
    return {"judged_P@5": relevant / 5, "judged_nDCG@5": discounted(grades[:5]) / best if best else 0.0}


def discounted(gains: Sequence[int]) -> float:
    """Sum of gains, each divided by log2(rank + 1)."""
    return sum(gain / log2(rank + 1) for rank, gain in enumerate(gains, start=1))


def unsupported(look: Look, case: Case) -> Outcome:
    """Whether the context supports the sentences; said without a judge where there is none or it is not known."""
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
    """The share of the sentences that are not supported, and which they are."""
    without = [sentence for sentence, holds in zip(stated, supported, strict=True) if not holds]
    found = {"sentences": len(stated), **detail, "unsupported_sentences": without}
    return Outcome({"unsupported": len(without) / len(stated)}, found)


# --- who judges -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Bench:
    """What a judge is made with."""

    directory: Path
    """Of the run whose answers are judged."""
    generators: Sequence[str]
    """What wrote the answers."""
    given: Mapping[str, Any]
    """Settings of the judge."""
    gamma: float
    """Facts below which FActScore penalises."""
    meter: Meter = field(default_factory=Meter)
    same_model: bool = False
    """Whether a model may judge answers that it wrote itself."""


def make_judge(name: str, bench: Bench) -> Judge:
    """The judge of that name. Raises UnknownSetting, and UsageError for settings that it cannot have."""
    if name not in JUDGES:
        raise UnknownSetting(name, JUDGES, kind="judge")
    judge: Judge = import_module(JUDGES[name]).make(bench)
    return judge
