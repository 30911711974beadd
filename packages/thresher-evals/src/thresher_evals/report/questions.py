"""Question by question: outcomes, changes against the baseline, and the most informative changes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, zip_longest
from typing import Any

from thresher_evals.metrics.answers import outcome
from thresher_evals.report.blocks import Cell, Example, Table
from thresher_evals.report.data import Block, Change, Run, changes, successes, worth
from thresher_evals.rows import Place, Row, rows_path

LISTED = 5
"""Citations, or entries of a ranking, that are shown: as many as an answer uses."""

LONGEST = 240
"""Characters of an answer on a page, about two sentences; the file and the trace have all."""


def question_lines(run: Run) -> Iterator[dict[str, Any]]:
    """A line of questions.csv for every question and recipe."""
    for block in run.blocks:
        for recipe, rows in block.rows.items():
            values = successes(block, recipe)
            for row in rows:
                yield question_line(run, block, row, values.get(row.question.id))


def question_line(run: Run, block: Block, row: Row, value: float | None) -> dict[str, Any]:
    """A line of questions.csv; without times if the recipes were asked in turn."""
    question, reply = row.question, row.reply
    spent = ("llm_calls", "prompt_tokens", "completion_tokens", "cost", "web_requests")
    return {
        "run": run.name,
        "dataset": block.dataset,
        "recipe": row.recipe,
        "id": question.id,
        "category": question.category,
        "question": question.question,
        "right_answers": " | ".join(question.answers) if question.answerable else "(a refusal)",
        "outcome": str(outcome(row)),
        "measure": block.primary,
        "value": value,
        "verdict": reply and reply.verdict,
        "confidence": reply and reply.confidence,
        "text": reply and reply.text,
        "sources": " | ".join(place.source for place in sources(row)),
        "error": row.error,
        "timed_out": int(row.timed_out),
        "unreadable": row.unreadable,
        "degraded": " | ".join(row.degraded),
        "generator": row.generator,
        "judge": row.judge,
        "seconds": None if run.together else row.seconds,
        "cpu_seconds": None if run.together else row.cpu_seconds,
        **{name: reply and getattr(reply.usage, name) for name in spent},
        "trace": reply and reply.trace,
    }


def sources(row: Row) -> Sequence[Place]:
    """The citations of an answer, or the first hits of a search."""
    return (row.ranking or () if row.reply is None else row.reply.citations)[:LISTED]


MOST_ANSWERS = 3000
"""Answers on a page: 300 questions with ten recipes. Larger runs have them in questions.csv only."""


def answer_table(block: Block) -> Iterator[Table]:
    """Every question with each recipe's answer; no table for too many, or for rankings alone."""
    if block.task == "search" or block.n * len(block.recipes) > MOST_ANSWERS:
        return
    by_id = {recipe: {row.question.id: row for row in rows} for recipe, rows in block.rows.items()}
    asked = {row.question.id: row.question for rows in block.rows.values() for row in rows}
    lines: list[list[Cell]] = [
        [
            question.question,
            "; ".join(question.answers) if question.answerable else "a refusal",
            *(said(by_id[recipe].get(id)) for recipe in block.recipes),
        ]
        for id, question in asked.items()
    ]
    note = "What came of each question, and the words. Where they came from is in questions.csv."
    yield Table("Every question and every answer", ["question", "right answer", *block.recipes], lines, note)


def said(row: Row | None) -> str | None:
    """Outcome and shortened text of a row; None without a row."""
    if row is None:
        return None
    text = row.error or (row.reply.text if row.reply is not None else "")
    return f"{outcome(row)}: {shortened(text)}" if text else str(outcome(row))


# --- gains and losses -------------------------------------------------------------------------------------------------


def telling(block: Block, recipe: str, number: int) -> list[Change]:
    """The `number` most informative changes, losses (where others are right) and gains (where not) in turn."""
    others = [worth(block, other) for other in block.recipes if other not in (recipe, block.baseline)]

    def contrast(change: Change) -> float:
        id = change.first.question.id
        return sum(abs(values[id] - change.after) for values in others if id in values)

    ordered = sorted(changes(block, recipe), key=contrast, reverse=True)
    losses, gains = ([one for one in ordered if one.gained is gained] for gained in (False, True))
    return [one for one in chain.from_iterable(zip_longest(losses, gains)) if one is not None][:number]


def examples(run: Run, block: Block, number: int) -> list[Example]:
    """The most informative changes of the report's recipe."""
    others = [recipe for recipe in block.recipes if recipe != block.baseline]
    recipe = block.subject if block.subject != block.baseline else next(iter(others), None)
    return [] if recipe is None else [example(run, block, recipe, one) for one in telling(block, recipe, number)]


def example(run: Run, block: Block, recipe: str, change: Change) -> Example:
    """A change with gold answers, each outcome, the file of its row, and commands that explain it."""
    question = change.second.question
    facts = [("right answer", shortened("; ".join(question.answers)) if question.answerable else "a refusal")]
    for name, row in ((block.baseline, change.first), (recipe, change.second)):
        value = successes(block, name).get(question.id)
        measured = "" if value is None else f" ({block.primary} {value:.3g})"
        facts.append((name, f"{outcome(row)}{measured}{in_words(row)}"))
    traces = [row.reply.trace for row in (change.first, change.second) if row.reply is not None]
    collection = f" --collection {run.collection}" if run.collection else ""
    commands = [f"thresher explain {trace}{collection}" for trace in traces if trace]
    category = f", {question.category}" if question.category else ""
    title = f"{'Gained' if change.gained else 'Lost'}{category}: {question.question}"
    return Example(title, facts, rows_path(run.directory.resolve(), recipe), question.id, commands)


def in_words(row: Row) -> str:
    """Verdict, text and sources of an answer or search, or its error."""
    verdict = f", verdict {row.reply.verdict}" if row.reply is not None and row.reply.verdict else ""
    text = row.error or (row.reply.text if row.reply is not None else "")
    cited = "; ".join(map(place_in_words, sources(row)))
    return verdict + (f": {shortened(text)}" if text else "") + (f" (sources: {shortened(cited)})" if cited else "")


def shortened(text: str) -> str:
    """The beginning of a long text, on one line."""
    text = " ".join(text.split())
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def place_in_words(place: Place) -> str:
    """Source, page and character range."""
    page = "" if place.page is None else f", page {place.page}"
    span = "" if place.start is None else f", characters {place.start}-{place.end}"
    return f"{place.source}{page}{span}"
