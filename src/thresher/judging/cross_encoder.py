"""A cross-encoder as a judge: it reads the query and a chunk together and gives one number."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from thresher.errors import BudgetSpent, ProviderError, UsageError
from thresher.judging.calls import QueryText, words_of
from thresher.protocols import CrossEncoder, Scorer
from thresher.types import LOGIT, T5, UNIT, Hit, Query, Scale, Score, Scored, logistic


@dataclass(frozen=True, slots=True)
class CrossEncoderScorer:
    """Logits through a logistic function to 0..1, or, with `to_unit=False`, as they are and called `raw`.

    `raw=T5` is for the CRAG paper's evaluator, whose one logit was trained to be -1 or 1; a value beyond is clipped.
    Endpoints that answer with 0..1 already are left as they are on 0..1 and stretched to -1..1 for `raw=T5`.
    """

    cross_encoder: CrossEncoder
    to_unit: bool = True
    raw: Scale = LOGIT
    query_text: QueryText = "search"

    @property
    def name(self) -> str:
        """What its scores are called in the trace."""
        return "relevance"

    @property
    def scale(self) -> Scale:
        """0 to 1, or that of the logits."""
        return UNIT if self.to_unit else self.raw

    def __call__(self, query: Query, hits: Sequence[Hit]) -> Scored:
        """One score per hit; None for all of them when the cross-encoder failed."""
        detail = {"model": self.cross_encoder.name}
        texts = [hit.chunk.titled for hit in hits]
        try:
            scores = self.cross_encoder(words_of(query, self.query_text), texts)
        except (ProviderError, BudgetSpent) as error:
            lack = f"judge: {error}; {len(hits)} chunks were not scored"
            return Scored((None,) * len(hits), {**detail, "failed": list(range(len(hits))), "degraded": [lack]})
        return Scored(tuple(Score(self._value(score), self.scale) for score in scores), detail)

    def _value(self, score: Score) -> float:
        """A score on our scale."""
        bounded = score.scale != LOGIT
        if self.to_unit:
            return score.value if bounded else logistic(score.value)
        if bounded and self.raw == T5:
            return 2 * score.value - 1
        return min(self.raw.high, max(self.raw.low, score.value))


@dataclass(frozen=True, slots=True)
class StandInForT5:
    """A scorer from 0 to 1 in the place of the CRAG paper's fine-tuned evaluator: twice its score minus one.

    Thresholds fitted to the evaluator mean something else for it, so every answer says that it stood in.
    """

    scorer: Scorer

    def __post_init__(self) -> None:
        if (self.scorer.scale.low, self.scorer.scale.high) != (UNIT.low, UNIT.high):
            raise UsageError(
                f"is on the scale {self.scorer.scale}",
                subject=f"judge {self.scorer.name}",
                next_step="only a judge from 0 to 1 can stand in for the T5 evaluator",
            )

    @property
    def name(self) -> str:
        """Of the scorer."""
        return self.scorer.name

    @property
    def scale(self) -> Scale:
        """The evaluator's, -1 to 1."""
        return T5

    def __call__(self, query: Query, hits: Sequence[Hit]) -> Scored:
        """The scorer's scores, stretched; what they were made of stays as it was."""
        scored = self.scorer(query, hits)
        scores = tuple(None if score is None else Score(2 * score.value - 1, T5) for score in scored.scores)
        lack = f"judge: the fine-tuned T5 evaluator is not there; twice the {self.name} minus one stands in for it"
        return replace(
            scored, scores=scores, detail={**scored.detail, "degraded": [*scored.detail.get("degraded", ()), lack]}
        )
