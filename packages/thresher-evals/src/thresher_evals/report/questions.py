"""Question by question: what became of each, which ones a recipe gained and lost, and the most telling of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest
from typing import Any

from thresher_evals.metrics.answers import outcome
from thresher_evals.report.blocks import Example
from thresher_evals.report.data import Block, Run
from thresher_evals.rows import Place, Row, rows_path

LISTED = 5
"""Entries of a ranking, and citations, that are told: as many as an answer is written from."""

SPENT = ("llm_calls", "prompt_tokens", "completion_tokens", "web_requests")
LONGEST = 240
"""Characters of what a recipe said that stand on a page: two sentences or so; the file and the trace have all."""


def question_lines(run: Run) -> Iterator[dict[str, Any]]:
    """A line of questions.csv for every question put to every recipe."""
    for block in run.blocks:
        for recipe, rows in block.rows.items():
            numbers = successes(block, recipe)
            for row in rows:
                yield question_line(run, block, row, numbers.get(row.question.id))


def question_line(run: Run, block: Block, row: Row, value: float | None) -> dict[str, Any]:
    """What is told of a row; what an answer took only where that says something."""
    question, reply = row.question, row.reply
    return {
        "run": run.name,
        "dataset": block.dataset,
        "recipe": row.recipe,
        "id": question.id,
        "category": question.category,
        "question": question.question,
        "right answers": " | ".join(question.answers) if question.answerable else "(a refusal)",
        "outcome": str(outcome(row)),
        "measure": block.primary,
        "value": value,
        "verdict": reply and reply.verdict,
        "confidence": reply and reply.confidence,
        "text": reply and reply.text,
        "sources": " | ".join(place.source for place in sources(row)),
        "error": row.error,
        "timed out": int(row.timed_out),
        "unreadable": row.unreadable,
        "degraded": " | ".join(row.degraded),
        "generator": row.generator,
        "judge": row.judge,
        "seconds": None if run.together else row.seconds,
        "cpu seconds": None if run.together else row.cpu_seconds,
        **{name: reply and getattr(reply.usage, name) for name in SPENT},
        "trace": reply and reply.trace,
    }


def sources(row: Row) -> Sequence[Place]:
    """What an answer cites, or what a search found first."""
    return (row.ranking or () if row.reply is None else row.reply.citations)[:LISTED]


def successes(block: Block, recipe: str) -> dict[str, float]:
    """Question id to the primary measure's number; for what cannot be answered, to whether it was refused."""
    refusals = {
        row.question.id: float(row.reply is not None and row.reply.abstained)
        for row in block.rows[recipe]
        if not row.question.answerable and (row.reply is not None or row.ranking is None)
    }
    return {**refusals, **block.numbers(recipe, block.primary)}


# --- gains and losses -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Change:
    """A question that came out otherwise than with the baseline: the primary measure's numbers and both rows."""

    before: float
    after: float
    first: Row
    second: Row

    @property
    def gained(self) -> bool:
        """Whether the recipe is better than the baseline here."""
        return self.after > self.before


def changes(block: Block, recipe: str) -> list[Change]:
    """Every question on which a recipe and the baseline differ, in the order of the baseline's rows."""
    before, after = successes(block, block.baseline), successes(block, recipe)
    second = {row.question.id: row for row in block.rows[recipe]}
    return [
        Change(before[id], after[id], row, second[id])
        for row in block.rows[block.baseline]
        if (id := row.question.id) in before and id in after and before[id] != after[id]
    ]


def telling(block: Block, recipe: str, number: int) -> list[Change]:
    """The `number` most telling changes, losses and gains in turn.

    A loss tells more the more of the other recipes are right there, a gain the fewer are.
    """
    others = [successes(block, other) for other in block.recipes if other not in (recipe, block.baseline)]

    def against(change: Change) -> float:
        told = [one[change.first.question.id] for one in others if change.first.question.id in one]
        return sum(abs(value - change.after) for value in told)

    found = sorted(changes(block, recipe), key=against, reverse=True)
    losses, gains = ([one for one in found if one.gained is gained] for gained in (False, True))
    return [one for one in chain.from_iterable(zip_longest(losses, gains)) if one is not None][:number]


def example(run: Run, block: Block, recipe: str, change: Change) -> Example:
    """A change to read: gold answers, what each recipe said, where its row is, and the commands that explain it."""
    question = change.second.question
    facts = [("right answer", shortened("; ".join(question.answers)) if question.answerable else "a refusal")]
    for name, row, value in ((block.baseline, change.first, change.before), (recipe, change.second, change.after)):
        facts.append((name, f"{outcome(row)} ({block.primary} {value:.3g}){verdict(row)}{said(row)}"))
    traces = [row.reply.trace for row in (change.first, change.second) if row.reply is not None]
    collection = f" --collection {run.collection}" if run.collection else ""
    commands = [f"thresher explain {trace}{collection}" for trace in traces if trace]
    what = "Gained" if change.gained else "Lost"
    category = f", {question.category}" if question.category else ""
    rows = rows_path(run.directory.resolve(), recipe)
    return Example(f"{what}{category}: {question.question}", facts, rows, question.id, commands)


def verdict(row: Row) -> str:
    """What a recipe thought of its evidence."""
    return f", verdict {row.reply.verdict}" if row.reply is not None and row.reply.verdict else ""


def said(row: Row) -> str:
    """What a recipe said and cited, or found, or why it failed."""
    words = row.error or (row.reply.text if row.reply is not None else "")
    cited = "; ".join(map(place, sources(row)))
    return "".join([f": {shortened(words)}" if words else "", f" (sources: {shortened(cited)})" if cited else ""])


def shortened(text: str) -> str:
    """The beginning of a long text, on one line."""
    text = " ".join(text.split())
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def place(cited: Place) -> str:
    """Source, page and characters."""
    page = "" if cited.page is None else f", page {cited.page}"
    span = "" if cited.start is None else f", characters {cited.start}-{cited.end}"
    return f"{cited.source}{page}{span}"


def change_line(run: Run, block: Block, recipe: str, change: Change) -> Mapping[str, Any]:
    """One line of changes/RUN.jsonl."""
    sides = {block.baseline: (change.first, change.before), recipe: (change.second, change.after)}
    return {
        "id": change.first.question.id,
        "recipe": recipe,
        "baseline": block.baseline,
        "gained": change.gained,
        **{name: question_line(run, block, row, value) for name, (row, value) in sides.items()},
    }
