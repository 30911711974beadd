"""Ask all questions, one collection after another, and keep a row for each answer."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter
from typing import Any, Protocol

from benchmarks.questions import documents, rules
from benchmarks.questions.rules import Question
from thresher.answer import Answer
from thresher.types import Refined


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
    """Make the documents and index what is not indexed yet, in a home folder."""
    import thresher

    documents.make(home / "made")
    for name in collections:
        with thresher.open(home=home, collection=name) as collection:
            collection.add(*documents.sources(name, home / "made", papers), recipe=recipes)


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
