"""Several looks at a chunk, one score: the mean of base, reflection and critic (ChunkRAG, Algorithm 1, lines 13 to 16).

How the three are combined is their mean in the first version and undefined in the second (Y11 in docs/methods.md).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from thresher.errors import UsageError
from thresher.judging.critique import Stage
from thresher.judging.failures import failed
from thresher.judging.thresholds import DIGITS
from thresher.protocols import Scorer
from thresher.types import UNIT, Hit, Query, Scale, Score, Scored

_OWN = ("unreadable", "degraded", "failed")
"""Facts that are told once for all stages."""


@dataclass(frozen=True, slots=True)
class MultiStageScorer:
    """Weighted mean of the stages that gave a score; a stage that is None is left out (an ablation).

    A chunk whose base call failed is not asked about again: the same model is likely to fail again.
    """

    base: Scorer
    reflect: Stage | None
    critic: Stage | None
    weights: tuple[float, float, float] = (1 / 3, 1 / 3, 1 / 3)
    """Of base, reflection and critic; only their ratios count."""

    name: ClassVar[str] = "relevance"
    scale: ClassVar[Scale] = UNIT

    def __post_init__(self) -> None:
        if (self.base.scale.low, self.base.scale.high) != (UNIT.low, UNIT.high):
            raise UsageError(
                f"is on the scale {self.base.scale} and the other stages are on {UNIT}",
                subject=f"judge {self.base.name}",
                next_step="use a base scorer from 0 to 1",
            )
        if min(self.weights) < 0 or not sum(self.weights):
            raise UsageError(
                "must not be negative, and one must be above 0",
                subject=f"weights of the stages {self.weights}",
                next_step="e.g. 1, 1, 1",
            )

    def __call__(self, query: Query, hits: Sequence[Hit]) -> Scored:
        """One mean per hit, None where no stage gave a score; `others` holds what each stage gave."""
        base = self.base(query, hits)
        stages = {"base": base}
        without = failed(base)
        asked = [at for at in range(len(hits)) if at not in without]
        for name, stage in (("reflection", self.reflect), ("critic", self.critic)):
            if stage is None or not asked:
                continue
            earlier = {before: [scored.scores[at] for at in asked] for before, scored in stages.items()}
            stages[name] = _spread(stage(query, [hits[at] for at in asked], earlier), asked, len(hits))
        given = [
            {name: score for name, scored in stages.items() if (score := scored.scores[at]) is not None}
            for at in range(len(hits))
        ]
        return Scored(tuple(self._mean(scores) for scores in given), _detail(stages, without), tuple(given))

    def _mean(self, scores: Mapping[str, Score]) -> Score | None:
        weights = dict(zip(("base", "reflection", "critic"), self.weights, strict=True))
        total = sum(weights[name] for name in scores)
        if not total:
            return None
        mean = sum(weights[name] * score.value for name, score in scores.items()) / total
        return Score(round(mean, DIGITS), UNIT)


def _spread(scored: Scored, positions: Sequence[int], number: int) -> Scored:
    """The scores of some hits put where those hits stand among all."""
    scores: list[Score | None] = [None] * number
    for at, score in zip(positions, scored.scores, strict=True):
        scores[at] = score
    return replace(scored, scores=tuple(scores))


def _detail(stages: Mapping[str, Scored], without: Sequence[int]) -> dict[str, Any]:
    """The facts of all stages; what failed is `without` a base score: where a later stage failed, the mean is of the
    others.
    """
    detail: dict[str, Any] = {
        "unreadable": sum(scored.detail.get("unreadable", 0) for scored in stages.values()),
        "stages": {
            name: {fact: value for fact, value in scored.detail.items() if fact not in _OWN}
            for name, scored in stages.items()
        },
    }
    lacks = [lack for scored in stages.values() for lack in scored.detail.get("degraded", ())]
    if lacks:
        detail |= {"degraded": list(dict.fromkeys(lacks)), "failed": list(without)}
    return detail
