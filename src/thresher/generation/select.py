"""Selects one of the candidates for an answer by how certain each is to be right, or abstains.

One table says how certain: a row for each answerer, fitted on answers that were read (`CERTAINTY`). The answer does not
depend on the order in which answerers are asked.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import sqrt
from pathlib import Path
from typing import Any

from thresher.errors import UsageError
from thresher.generation.candidates import Candidate, Signs
from thresher.generation.citations import NO_EVIDENCE, abstention, in_turn
from thresher.types import HERE, PERHAPS, Generation, Notes, logistic

CERTAINTY = Path(__file__).parents[1] / "models" / "weights" / "certainty.json"
"""The table that comes with Thresher, written by `research/answer_certainty.py`."""

ENOUGH = 100
"""Observations from which a row counts as it was fitted; of fewer the lower bound of its interval counts at most."""

Z95 = 1.959964
"""Of a 95 % interval."""

NEARLY = 0.6
"""Share of the best passage's certainty from which the next one is shown too, where neither is certain. Of 87 questions
to real text (benchmarks/real_text, dev) the best passage answers 45, one of the best two 55."""

DISPUTED_FROM = 0.2
"""Certainty from which an answer that another document contradicts is shown with that: a passage would show one side.
Chosen on the half of benchmarks/planted_conflicts.py that is for choosing."""

PERHAPS_HERE, OR_HERE = "Perhaps here:", "Or here:"
"""Before a passage that is not certain, and the next one."""

REPORTED = 12
"""Candidates that the trace tells."""


@dataclass(frozen=True, slots=True)
class Row:
    """How certain the candidates of one answerer are: a logistic regression over their signs."""

    intercept: float
    n: int
    """Candidates that were read to fit it."""
    right: int
    """Of them, those that were right."""
    weights: Mapping[str, float] = field(default_factory=dict)
    """By the name of the sign; a sign that does not apply counts 0."""

    def probability(self, signs: Signs) -> float:
        """That a candidate is right, 0 to 1."""
        values = ((weight, getattr(signs, name)) for name, weight in self.weights.items())
        fitted = logistic(self.intercept + sum(weight * value for weight, value in values if value is not None))
        return fitted if self.n >= ENOUGH else min(fitted, self.lower_bound)

    @property
    def lower_bound(self) -> float:
        """Of Wilson's 95 % interval for the share that is right (Wilson 1927)."""
        if not self.n:
            return 0.0
        share, z = self.right / self.n, Z95
        middle = share + z * z / (2 * self.n)
        spread = z * sqrt(share * (1 - share) / self.n + z * z / (4 * self.n * self.n))
        return max(0.0, (middle - spread) / (1 + z * z / self.n))


@dataclass(frozen=True, slots=True)
class AnswerThresholds:
    """What becomes of a candidate that is not certain."""

    abstain_below: float
    """Probability of the best candidate below which there is no answer."""
    hedge_below: float
    """Probability below which an answer says "Perhaps:", and a passage to read is preferred to it."""


@dataclass(frozen=True, slots=True)
class Selector:
    """Takes the most certain answer; where none is certain enough, the most certain passage; else it abstains."""

    table: Mapping[str, Row]
    thresholds: AnswerThresholds

    @classmethod
    def load(cls, thresholds: AnswerThresholds, path: Path = CERTAINTY) -> Selector:
        """With the fitted table of a file."""
        rows = json.loads(path.read_text(encoding="utf-8"))["answerers"]
        names = ("intercept", "n", "right", "weights")
        return cls({name: Row(**{key: row[key] for key in names}) for name, row in rows.items()}, thresholds)

    def probability(self, candidate: Candidate) -> float:
        """That a candidate is right, 0 to 1, by what is known of it alone."""
        return self.row(candidate.by).probability(candidate.signs)

    def row(self, name: str) -> Row:
        """The row of an answerer; UsageError for one that has none."""
        if name not in self.table:
            raise UsageError(
                "has no row in the table of certainties",
                subject=f"answerer {name}",
                next_step="give it an attribute `certainty`, a thresher.generation.select.Row",
            )
        return self.table[name]

    def __call__(self, candidates: Sequence[Candidate], nothing: str = "") -> Generation:
        """The answer with its certainty; `nothing` is why there may be no candidate."""
        weighed = sorted(((self.probability(one), one) for one in candidates), key=_order)
        notes = Notes(facts={"candidates": [_reported(certainty, one) for certainty, one in weighed[:REPORTED]]})
        free = _each_once([(certainty, one) for certainty, one in weighed if not one.objection])
        certain = [found for found in free if not found[1].is_passage and found[0] >= self.thresholds.hedge_below]
        readable = [found for found in free if found[0] >= self.thresholds.abstain_below]
        passages = [found for found in readable if found[1].is_passage]
        disputed = [found for found in free if found[1].signs.rival is not None and found[0] >= DISPUTED_FROM]
        certain = certain or disputed  # that documents contradict each other is shown, however doubtful either is
        if not certain and len(passages) > 1 and passages[0][0] < self.thresholds.hedge_below:
            return self._either(passages, notes)
        for found in (certain, passages, readable):
            if found:
                return self._given(*found[0], notes)
        return self._none(weighed, nothing, notes)

    def _given(self, certainty: float, chosen: Candidate, notes: Notes) -> Generation:
        """The answer of a candidate, with the words before it that say what it is."""
        answer = chosen.answer
        if chosen.signs.rival is not None:
            certainty = _where_not_both(certainty, chosen.signs.rival)
        hedge = PERHAPS if certainty < self.thresholds.hedge_below else ""
        if chosen.is_passage:
            hedge = f"{PERHAPS_HERE} " if hedge else HERE
        facts = {"reader": chosen.by, "certainty": certainty}
        notes = answer.notes + Notes(facts=facts) + notes
        return replace(answer, text=f"{hedge}{answer.text}", certainty=certainty, notes=notes)

    def _either(self, passages: Sequence[tuple[float, Candidate]], notes: Notes) -> Generation:
        """The best passage and the next one, where neither is certain and they are nearly alike in that."""
        (certainty, first), (other, second) = passages[:2]
        if other < NEARLY * certainty:
            return self._given(certainty, first, notes)
        either = 1 - (1 - certainty) * (1 - other)
        here = PERHAPS_HERE if either < self.thresholds.hedge_below else HERE.strip()
        both = in_turn([(here, first.answer), (OR_HERE, second.answer)])
        facts = {"reader": first.by, "certainty": either}
        return replace(both, certainty=either, notes=Notes(facts=facts) + notes)

    def _none(self, weighed: Sequence[tuple[float, Candidate]], nothing: str, notes: Notes) -> Generation:
        """No answer: what is nearest, where there is something, and why it is none."""
        if not weighed:
            return abstention(nothing or NO_EVIDENCE, notes)
        passages = [found for found in weighed if found[1].answer.citations]
        certainty, nearest = (passages or weighed)[0]
        facts = {"reader": nearest.by, "certainty": certainty}
        why = nearest.objection or (
            f"It is right with a probability of {certainty:.2f}, and {self.thresholds.abstain_below:.2f} is asked for."
        )
        if not nearest.answer.citations:
            return abstention(why, Notes(facts=facts) + notes)
        cited = nearest.answer.citations[0]
        shown = " ".join(cited.quote.split())
        return abstention(f"Perhaps here ({cited.title or cited.source}): “{shown}”. {why}", Notes(facts=facts) + notes)


def _each_once(weighed: Sequence[tuple[float, Candidate]]) -> list[tuple[float, Candidate]]:
    """Without passages that a more certain one shows already."""
    kept: list[tuple[float, Candidate]] = []
    shown: set[tuple[str, int, str]] = set()
    for certainty, one in weighed:
        places = {(cited.document_id, cited.start, cited.quote) for cited in one.answer.citations}
        if not one.is_passage or not places <= shown:
            kept.append((certainty, one))
        if one.is_passage:
            shown |= places
    return kept


def _where_not_both(certainty: float, rival: float) -> float:
    """The probability of an answer where it and its rival are not both right: theirs was told one by one."""
    not_both = 1 - certainty * rival
    return certainty * (1 - rival) / not_both if not_both else 0.5


def _order(weighed: tuple[float, Candidate]) -> tuple[float, str, str]:
    certainty, candidate = weighed
    return -certainty, candidate.by, candidate.answer.text


def _reported(certainty: float, candidate: Candidate) -> dict[str, Any]:
    """A candidate for the trace."""
    told: dict[str, Any] = {"by": candidate.by, "text": candidate.answer.text, "certainty": round(certainty, 3)}
    told |= candidate.signs.to_dict()
    return told | ({"objection": candidate.objection} if candidate.objection else {})
