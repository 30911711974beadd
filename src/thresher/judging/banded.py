"""The local judge first, a chat model only for the chunks it cannot tell: most questions need no call, some one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from thresher.judging.failures import failed
from thresher.protocols import Scorer
from thresher.types import PROBABILITY, Hit, Query, Scale, Score, Scored


@dataclass(frozen=True, slots=True)
class BandedScorer:
    """Scores of `local`; those from `lower` to below `upper` are replaced by what `second` says. Not published.

    `local` gives probabilities, `second` a relevance from 0 to 1, which is read as one. A chunk that `second` failed on
    keeps its local score; one whose reply could not be read does so with `keep_local`, and has none otherwise.
    """

    local: Scorer
    second: Scorer
    lower: float
    upper: float
    keep_local: bool = True
    name: ClassVar[str] = "judge"
    scale: ClassVar[Scale] = PROBABILITY

    def __call__(self, query: Query, hits: Sequence[Hit]) -> Scored:
        """One probability per hit; `others` has the local one and, where it was asked, the second one."""
        first = self.local(query, hits)
        unsure = [
            at for at, score in enumerate(first.scores) if score is not None and self.lower <= score.value < self.upper
        ]
        scores = list(first.scores)
        others = [dict(first.others[at]) if first.others else {} for at in range(len(hits))]
        for at, score in enumerate(first.scores):
            if score is not None:
                others[at][self.local.name] = score
        detail = {**first.detail, "unsure": len(unsure)}
        if unsure:
            second = self.second(query, [hits[at] for at in unsure])
            without = failed(second)
            for position, (at, score) in enumerate(zip(unsure, second.scores, strict=True)):
                if score is not None:
                    others[at][self.second.name] = score
                    scores[at] = Score(score.value, PROBABILITY)
                elif not self.keep_local and position not in without:
                    scores[at] = None
            lacks = [*first.detail.get("degraded", ()), *second.detail.get("degraded", ())]
            detail |= {fact: value for fact, value in second.detail.items() if fact != "failed"}
            if lacks:
                detail["degraded"] = [f"{lack}; their local score stands" for lack in lacks]
        return Scored(tuple(scores), detail, tuple(others))
