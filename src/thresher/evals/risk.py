"""What it would cost to answer less: the share of wrong answers against the share of questions answered."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import NamedTuple

from thresher.evals.replies import right
from thresher.evals.rows import Row
from thresher.evals.statistics import Forecast


class Point(NamedTuple):
    """Answering only at this confidence and above."""

    coverage: float
    """Share of the questions that would be answered, 0..1."""
    risk: float
    """Share of those answers that are wrong, 0..1."""
    threshold: float


def wager(row: Row) -> Forecast | None:
    """The confidence of an answer and whether it is wrong; None without a confidence or where that is not known."""
    confidence = None if row.reply is None else row.reply.answer.get("confidence")
    is_right = right(row)
    return None if confidence is None or is_right is None else Forecast(confidence, float(not is_right))


def risk_coverage(rows: Sequence[Row]) -> list[Point]:
    """The risk-coverage curve (Geifman and El-Yaniv 2017), a point for each distinct confidence, the highest first.

    Refusals and failures are questions not answered, at any threshold; questions without a known right answer are left
    out. Empty where no answer has a confidence.
    """
    asked = sum(not row.question.answerable or bool(row.question.answers) for row in rows)
    wagers = sorted((one for row in rows if (one := wager(row)) is not None), reverse=True)
    points: list[Point] = []
    answered = wrong = 0
    for confidence, alike in groupby(wagers, key=lambda one: one.probability):
        outcomes = [one.outcome for one in alike]
        answered, wrong = answered + len(outcomes), wrong + round(sum(outcomes))
        points.append(Point(answered / asked, wrong / answered, confidence))
    return points
