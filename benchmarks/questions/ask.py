"""Ask all questions, one collection after another, and keep a row for each answer."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any, Protocol

from benchmarks.questions import documents, rules
from benchmarks.questions.rules import Mark, Question
from thresher.answer import Answer
from thresher.types import Refined
from thresher_evals.stats import Forecast, ece_interval


@dataclass(frozen=True, slots=True)
class Row:
    """What came of one question."""

    id: str
    question: str
    recipe: str
    answer: str
    abstained: bool
    reason: str
    verdict: str
    confidence: float | None
    citation: str
    """File name and quote of the first one; empty for none."""
    mark: str
    """By rule."""
    why: str
    evidence_holds: bool | None
    """Whether what was handed on holds all that is expected."""
    seconds: float
    certainty: float | None = None
    """Of the answer, 0 to 1, where the reader says one."""
    also: tuple[str, ...] = ()
    """The texts of the alternatives."""

    @property
    def shown(self) -> str:
        """The answer and its alternatives."""
        return "\n".join([self.answer, *self.also])


class Asked(Protocol):
    """Of a collection what is needed here."""

    def ask(self, question: str, *, recipe: str) -> Answer:
        """The answer."""
        ...


def prepared(home: Path, papers: Path, collections: Sequence[str], recipes: Sequence[str]) -> None:
    """Index what is not indexed yet, in a home folder."""
    import thresher

    for name in collections:
        with thresher.open(home=home, collection=name) as collection:
            collection.add(*documents.sources(name, papers), recipe=recipes)


def ask_all(questions: Sequence[Question], opened: Callable[[str], Asked], recipe: str, out: Path) -> Iterator[Row]:
    """The rows that are not in `out` yet, each written as soon as it is there."""
    there = {row.id for row in read(out)} if out.exists() else set()
    collections: dict[str, Asked] = {}
    out.parent.mkdir(parents=True, exist_ok=True)
    with out.open("a", encoding="utf-8") as file:
        for question in questions:
            if question.id in there:
                continue
            if question.collection not in collections:
                collections[question.collection] = opened(question.collection)
            row = asked(question, collections[question.collection], recipe)
            file.write(json.dumps(asdict(row), ensure_ascii=False) + "\n")
            file.flush()
            yield row


def asked(question: Question, collection: Asked, recipe: str) -> Row:
    """Ask one question and mark the answer by rule."""
    started = perf_counter()
    answer = collection.ask(question.question, recipe=recipe)
    seconds = perf_counter() - started
    marked = rules.marked(question, answer.text, abstained=answer.abstained, reason=answer.reason or "")
    first = answer.citations[0] if answer.citations else None
    return Row(
        id=question.id,
        question=question.question,
        recipe=recipe,
        answer=answer.text,
        abstained=answer.abstained,
        reason=answer.reason or "",
        verdict=str(answer.verdict or ""),
        confidence=answer.confidence,
        citation=f"{Path(first.source).name}: {first.quote}" if first else "",
        mark=marked.mark,
        why=marked.why,
        evidence_holds=rules.holds(question, handed_on(answer)),
        seconds=round(seconds, 3),
        certainty=answer.certainty,
        also=tuple(one.text for one in answer.alternatives),
    )


def handed_on(answer: Answer) -> list[str]:
    """The texts that the generator was given: the evidence of the last refinement, with titles."""
    refined = [step.value for step in answer.steps if isinstance(step.value, Refined)]
    return [f"{piece.hit.chunk.title}\n{piece.text}" for piece in refined[-1].evidence] if refined else []


def read(path: Path) -> list[Row]:
    """Rows of a file, in the order they were written."""
    rows: list[Mapping[str, Any]] = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return [Row(**{**row, "also": tuple(row.get("also", ()))}) for row in rows]


# --- counts -----------------------------------------------------------------------------------------------------------


def table(questions: Sequence[Question], rows: Sequence[Row], *, by: str) -> str:
    """Lines of counts for each value of a field of the questions, for all, and the calibration of the certainty."""
    lines = [f"{by:<14} right partly wrong refused | wrong under correct | unanswerable refused | evidence holds"]
    row_of = {row.id: row for row in rows}
    there = [question for question in questions if question.id in row_of]
    for name in (*dict.fromkeys(getattr(question, by) for question in there), "all"):
        asked = [one for one in there if name in ("all", getattr(one, by))]
        answerable = [row_of[one.id] for one in asked if one.answerable]
        others = [row_of[one.id] for one in asked if not one.answerable]
        marks = Counter(row.mark for row in answerable)
        correct = [row for row in (*answerable, *others) if row.verdict == "correct" and not row.abstained]
        wrong = [row for row in correct if row.mark == Mark.WRONG]
        holds = [row.evidence_holds for row in answerable if row.evidence_holds is not None]
        lines.append(
            f"{name:<14} {marks[Mark.RIGHT]:5d} {marks[Mark.PARTLY]:6d} {marks[Mark.WRONG]:5d} "
            f"{marks[Mark.REFUSED]:7d} | {sum(row in answerable for row in wrong):3d} "
            f"({len(wrong):2d} of {len(correct):3d}) | {sum(row.mark == Mark.REFUSED for row in others):9d} of "
            f"{len(others):2d} | {sum(holds):5d} of {len(holds):3d}"
        )
    sure = [(row.certainty, row.mark == Mark.RIGHT) for row in rows if not row.abstained and row.certainty is not None]
    ece = ece_interval([Forecast(value, float(right)) for value, right in sure]).value
    error = "no certainties" if ece is None else f"certainty: ECE {ece:.3f} over {len(sure)} answers"
    return "\n".join([*lines, f"{error}; median {median(row.seconds for row in rows):.2f} s"])


def told(row: Row) -> str:
    """A row on one line, while questions are asked."""
    return f"{row.id:<14} {row.mark:<8} {row.seconds:5.1f} s  {' '.join(row.answer.split())[:90]}"
