"""Question by question: what a recipe gained and lost against the baseline, and where to see why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from thresher.evals.report.heading import collection_of
from thresher.evals.report.measured import Block, Run
from thresher.evals.report.outcomes import outcome, successes
from thresher.evals.report.section import Cell, Folded, Section, Table
from thresher.evals.rows import Place, Row

SHOWN = 10
"""Questions of each side on the page, where nothing else is said."""

LONGEST = 240
"""Characters of what a recipe said that are shown: two sentences or so; the file and the trace have all."""

LISTED = 5
"""Entries of a ranking, and citations, that are shown: as many as an answer is written from."""


@dataclass(frozen=True, slots=True)
class Change:
    """A question that came out otherwise: the rows of both recipes, and the measure's number before and after."""

    recipe: str
    baseline: str
    generator: str
    measure: str
    before: float
    after: float
    first: Row
    second: Row
    outcomes: tuple[str, str]

    @property
    def gained(self) -> bool:
        """Whether the recipe is better than the baseline here."""
        return self.after > self.before

    def to_dict(self) -> dict[str, Any]:
        """JSON form: one line of changes/RUN.jsonl."""
        question = self.second.question
        return {
            "id": question.id,
            "question": question.question,
            "answers": list(question.answers),
            "category": question.category,
            "recipe": self.recipe,
            "baseline": self.baseline,
            "generator": self.generator,
            "measure": self.measure,
            "gained": self.gained,
            "before": self.before,
            "after": self.after,
            self.baseline: described(self.first, self.outcomes[0]),
            self.recipe: described(self.second, self.outcomes[1]),
        }


def described(row: Row, outcome: str) -> dict[str, Any]:
    """What one recipe said."""
    reply = row.reply
    return {
        "outcome": outcome,
        "text": None if reply is None else reply.text,
        "verdict": None if reply is None else reply.answer.get("verdict"),
        "citations": [place.source for place in ([] if reply is None else reply.citations)],
        "ranking": [place.source for place in (row.ranking or ())[:LISTED]],
        "error": row.error,
        "trace": None if reply is None else reply.answer.get("trace"),
    }


def changes(block: Block) -> Iterator[Change]:
    """Every question that changed, recipe by recipe, in the order of the baseline's rows."""
    first = judged(block, block.baseline)
    for recipe in block.others:
        second = judged(block, recipe)
        for id, (row, before, came) in first.items():
            if id not in second:
                continue
            other, after, became = second[id]
            if before is not None and after is not None and before != after:
                yield Change(
                    recipe, block.baseline, block.generator, block.primary, before, after, row, other, (came, became)
                )


def judged(block: Block, recipe: str) -> Mapping[str, tuple[Row, float | None, str]]:
    """Question id to row, number and outcome."""
    rows = block.rows[recipe]
    told = zip(rows, successes(rows, block.primary), strict=True)
    return {row.question.id: (row, value, str(outcome(row))) for row, value in told}


def change_sections(run: Run, block: Block, shown: int = SHOWN, *, file: bool = False) -> list[Section]:
    """Counts of gains and losses, and up to `shown` questions of each to open; `file`: all of them are written too.

    The questions of ablations are counted only.
    """
    if not block.others:
        return []
    found = list(changes(block))
    asked = {row.question.id for row in block.rows[block.baseline]}
    sides = {
        (recipe, gained): [change for change in found if change.recipe == recipe and change.gained is gained]
        for recipe in block.others
        for gained in (True, False)
    }
    rows: list[list[Cell]] = [
        [
            recipe,
            len(sides[recipe, True]),
            len(sides[recipe, False]),
            sum(row.question.id in asked for row in block.rows[recipe]),
        ]
        for recipe in block.others
    ]
    note = (
        f"Questions that are better and worse than with {block.baseline}, by {block.primary} (for what cannot be "
        "answered, by whether it was refused). "
        + (f"All of them are in changes/{run.name}.jsonl." if file else "`--full-changes` writes all of them.")
    )
    sections = [Section("Gains and losses", tables=[Table("Questions that changed", COLUMNS, rows, note)])]
    for (recipe, gained), side in sides.items():
        if side and shown and block.ablated is None:
            what = "gained" if gained else "lost"
            told = "all shown" if len(side) <= shown else f"the first {shown} shown"
            sections.append(
                Section(
                    f"What {recipe} {what} against {block.baseline}: {len(side)} ({told})",
                    folded=[folded(run, change) for change in side[:shown]],
                )
            )
    return sections


COLUMNS = ("recipe", "gained", "lost", "n")


def folded(run: Run, change: Change) -> Folded:
    """One question to open: gold answers, and what each recipe said."""
    question = change.second.question
    facts = [("question", question.question)]
    if question.answers:
        facts.append(("right answers", shortened("; ".join(question.answers))))
    if not question.answerable:
        facts.append(("right answer", "a refusal"))
    if question.category:
        facts.append(("category", question.category))
    sides = ((change.baseline, change.first, change.before), (change.recipe, change.second, change.after))
    for (recipe, row, value), became in zip(sides, change.outcomes, strict=True):
        facts += said(recipe, row, f"{became} ({change.measure} {value:.3g})")
    traces = [row.reply.answer.get("trace") for _, row, _ in sides if row.reply is not None]
    named = collection_of(run)
    option = f" --collection {named}" if named else ""
    commands = [f"thresher explain {trace}{option}" for trace in traces if trace]
    return Folded(f"{question.id}: {question.question}", facts, commands)


def said(recipe: str, row: Row, became: str) -> Iterator[tuple[str, str]]:
    """What a recipe said, what it cited and its verdict."""
    yield recipe, became
    if row.reply is not None:
        yield f"{recipe} said", shortened(row.reply.text)
        if row.reply.citations:
            yield f"{recipe} cited", "; ".join(map(place, row.reply.citations[:LISTED]))
        if row.reply.answer.get("verdict"):
            yield f"{recipe}'s verdict", str(row.reply.answer["verdict"])
    elif row.ranking is not None:
        yield f"{recipe} found", "; ".join(map(place, row.ranking[:LISTED])) or "nothing"
    if row.error:
        yield f"{recipe}'s error", shortened(row.error)


def shortened(text: str) -> str:
    """The beginning of a long text."""
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def place(cited: Place) -> str:
    """Source, page and characters."""
    page = "" if cited.page is None else f", page {cited.page}"
    span = "" if cited.start is None else f", characters {cited.start}-{cited.end}"
    return f"{cited.source}{page}{span}"
