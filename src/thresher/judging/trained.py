"""Our judge: the trained cross-encoder, the encoder and the question's words together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from thresher.judging.local import LocalScorer
from thresher.protocols import PairReader
from thresher.types import LOGIT, UNIT, Hit, Query, Scale, Score, Scored, logistic

LOGIT_WEIGHT, SENTENCE_WEIGHT, TERMS_WEIGHT, INTERCEPT = 0.32, 6.54, 1.77, -5.83
"""A logistic regression on questions the cross-encoder was not trained on (the tune fifths of PopQA, NQ, TriviaQA and
SQuAD, each weighing the same), asked with and without what answers them (`benchmarks/judge.py`). Fitted on three of the
sets it is better than the local judge on the fourth, each time: the three parts err in different places."""


@dataclass(frozen=True, slots=True)
class TrainedScorer:
    """Relevance of each hit to the question a person asked, 0 to 1.

    logistic(0.32 logit of the cross-encoder + 6.54 cosine of the best sentence + 1.77 share of the question's terms -
    5.83). It is the probability that the hit suffices where half of the questions can be answered; calibration says
    what it is in a collection.
    """

    local: LocalScorer
    reader: PairReader
    name: str = "trained"
    scale: ClassVar[Scale] = UNIT

    def __call__(self, query: Query, hits: Sequence[Hit]) -> Scored:
        """One score per hit; `others` says what it is made of."""
        if not hits:
            return Scored(())
        readings = self.reader.read(query.question, [hit.chunk.text for hit in hits], [hit.chunk.title for hit in hits])
        parts = self.local.judged(query, hits)
        values = [
            LOGIT_WEIGHT * reading.relevance + SENTENCE_WEIGHT * part.sentence + TERMS_WEIGHT * part.terms + INTERCEPT
            for reading, part in zip(readings, parts, strict=True)
        ]
        return Scored(
            tuple(Score(logistic(value), UNIT) for value in values),
            {"model": self.reader.name},
            tuple(
                {"answers": Score(reading.relevance, LOGIT)}
                | {name: Score(value, UNIT) for name, value in part.to_dict().items()}
                for reading, part in zip(readings, parts, strict=True)
            ),
        )
