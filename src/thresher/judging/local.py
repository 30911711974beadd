"""The judge that is always there: relevance from the bundled encoder and word statistics, without a chat model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from thresher.models.relevance import LocalRelevance, Parts
from thresher.types import UNIT, Hit, Query, Scale, Score, Scored


@dataclass(frozen=True, slots=True)
class LocalScorer:
    """Relevance of each hit to the question a person asked, 0 to 1; strips are scored as chunks are.

    The score is spread so that fixed thresholds mean something: on the training questions 0.5 is where a best chunk
    suffices as often as not. It is a probability only after calibration (`thresher.judging.calibration`).
    """

    relevance: LocalRelevance
    name: str = "local"
    scale: ClassVar[Scale] = UNIT

    def __call__(self, query: Query, hits: Sequence[Hit]) -> Scored:
        """One score per hit; `others` says what it is made of. A `dense` score of the hit is not computed again."""
        judged = self.judged(query, hits)
        return Scored(
            scores=tuple(Score(self.relevance.relevance(parts), UNIT) for parts in judged),
            others=tuple({name: Score(value, UNIT) for name, value in parts.to_dict().items()} for parts in judged),
        )

    def judged(self, query: Query, hits: Sequence[Hit]) -> list[Parts]:
        """What the relevance of each hit is made of."""
        return self.relevance.judged(
            query.question,
            [hit.chunk.text for hit in hits],
            [hit.chunk.title for hit in hits],
            cosines=[hit.scores["dense"].value if "dense" in hit.scores else None for hit in hits],
        )
