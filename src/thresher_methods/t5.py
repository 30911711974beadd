"""What stands in for the CRAG paper's fine-tuned evaluator, which cannot be had."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from thresher.parts.judging import WrappedScorer
from thresher.protocols import about
from thresher.types import T5, Hit, Notes, Query, Scale, Score, Scores


@dataclass(frozen=True, slots=True)
class StandInForT5(WrappedScorer):
    """Twice a score from 0 to 1 minus one, in place of the CRAG paper's fine-tuned evaluator.

    Thresholds fitted to the evaluator mean something else for it, so every answer says that it stood in.
    """

    @property
    def scale(self) -> Scale:
        """The evaluator's, -1 to 1."""
        return T5

    @property
    def about(self) -> str:
        """For people, in a few words."""
        return f"{about(self.scorer)}, on the scale of the T5 evaluator"

    def __call__(self, query: Query, hits: Sequence[Hit]) -> Scores:
        """The scorer's scores, stretched; what they were made of stays as it was."""
        scored = self.scorer(query, hits)
        scores = tuple(None if score is None else Score(2 * score.value - 1, T5) for score in scored.scores)
        lack = f"judge: the fine-tuned T5 evaluator is not there; twice the {self.name} minus one stands in for it"
        return replace(scored, scores=scores, notes=scored.notes + Notes((lack,)))
