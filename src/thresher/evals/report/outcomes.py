"""What became of every question: nothing that was refused, failed, late or unreadable disappears from a table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from enum import StrEnum

from thresher.evals.measures import parse
from thresher.evals.replies import right
from thresher.evals.report.measured import Block
from thresher.evals.report.section import Cell, Section, Table
from thresher.evals.rows import Row


class Outcome(StrEnum):
    """One for each question; they add up to all questions."""

    RIGHT = "answered right"
    WRONG = "answered wrong"
    UNCHECKED = "answered, not checked"
    RIGHTLY_REFUSED = "refused rightly"
    REFUSED = "refused, answerable"
    RANKED = "ranked"
    FAILED = "failed"


def outcome(row: Row) -> Outcome:
    """What became of one question; right and wrong as the measure `wrong` has them."""
    if row.reply is None:
        return Outcome.FAILED if row.error is not None else Outcome.RANKED
    if row.reply.abstained:
        return Outcome.REFUSED if row.question.answerable else Outcome.RIGHTLY_REFUSED
    match right(row):
        case None:
            return Outcome.UNCHECKED
        case True:
            return Outcome.RIGHT
        case False:
            return Outcome.WRONG


def successes(rows: Sequence[Row], measure: str) -> list[float | None]:
    """0..1 for each question: the measure's number; for what cannot be answered, whether it was refused.

    None where neither says anything of the question.
    """
    told: list[float | None] = []
    for row, value in zip(rows, parse(measure).values(rows), strict=True):
        if isinstance(value, float):
            told.append(value)
        elif row.question.answerable or (row.ranking is not None and row.reply is None):
            told.append(None)
        else:
            told.append(float(row.reply is not None and row.reply.abstained))
    return told


LACKS = "refused / failed / timed out / unreadable"
"""Heading of the column that says them in short."""


def lacks(rows: Sequence[Row]) -> str:
    """Questions refused, failed, timed out, and with replies of models that could not be read."""
    refused = sum(row.reply is not None and row.reply.abstained for row in rows)
    failed = sum(row.error is not None for row in rows)
    late = sum(row.timed_out for row in rows)
    unreadable = sum(row.unreadable > 0 for row in rows)
    return f"{refused} / {failed} / {late} / {unreadable}"


def outcome_section(block: Block) -> Section:
    """A table of counts."""
    counted = {recipe: Counter(map(outcome, rows)) for recipe, rows in block.rows.items()}
    shown = [kind for kind in Outcome if any(counts[kind] for counts in counted.values())]
    table: list[list[Cell]] = [
        [
            recipe,
            len(rows),
            *(counted[recipe][kind] for kind in shown),
            sum(row.timed_out for row in rows),
            sum(row.unreadable > 0 for row in rows),
            sum(bool(row.degraded) for row in rows),
        ]
        for recipe, rows in block.rows.items()
    ]
    columns = ["recipe", "n", *shown, "timed out", "unreadable", "degraded"]
    note = (
        "Counts of questions. Right and wrong are by the words of a gold answer (match_norm), or by the label where "
        "one is asked for; an answer to a question that cannot be answered is wrong. Timed out, unreadable (a reply "
        "of a model could not be parsed) and degraded (something was done without) are counted beside the outcome."
    )
    return Section("What became of the questions", tables=[Table("Outcomes", columns, table, note)])
