"""What came of a question: right, wrong, no answer, or failed; and what that is worth."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from enum import StrEnum

from thresher.evals.measures import cites
from thresher.evals.replies import answered, right
from thresher.evals.rows import Row

WRONG_COSTS = 1.0
"""Right answers that a wrong one undoes, where no other number is given. With 0 a recipe that always answers cannot
lose; the benchmark of Yang et al. 2024 (CRAG, section 3.2) scores +1, 0 and -1 as well."""


class Outcome(StrEnum):
    """What came of one question."""

    RIGHT = "right"
    WRONG = "wrong"
    NO_ANSWER = "no answer"
    """A refusal: of a question that has no answer it is what should come, and nobody was misled either way."""
    FAILED = "failed"


def outcome(row: Row) -> Outcome:
    """An answer is right when a gold answer's words stand in it; without gold answers, when it cites a gold document.

    Where neither is known, an answer to a question that can be answered counts as right whatever it says: then only
    refusals are measured. An answer to a question that cannot be answered is wrong.
    """
    if row.reply is None:
        return Outcome.FAILED
    if not answered(row.reply):
        return Outcome.NO_ANSWER
    known = right(row)
    if known is None:
        known = not row.question.gold or cites(row, pages=False)
    return Outcome.RIGHT if known else Outcome.WRONG


def value(came: Outcome, wrong_costs: float = WRONG_COSTS) -> float:
    """Right +1, wrong `-wrong_costs`, no answer and failures 0."""
    match came:
        case Outcome.RIGHT:
            return 1.0
        case Outcome.WRONG:
            return -wrong_costs
        case _:
            return 0.0


def outcomes(rows: Sequence[Row]) -> dict[str, Outcome]:
    """Question id to what came of it."""
    return {row.question.id: outcome(row) for row in rows}


def counts(came: Mapping[str, Outcome]) -> dict[str, int]:
    """How many questions there are of each outcome."""
    counted = Counter(came.values())
    return {str(one): counted[one] for one in Outcome}
