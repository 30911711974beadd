"""A judge that also reorders: what retrieval ranked and what the judge thinks, together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from thresher.protocols import Judge
from thresher.types import Hit, Judgement, Query, Scale, Score, Sifted

BLEND = Scale("retrieval and judge", 0.0, 1.0)


@dataclass(frozen=True, slots=True)
class BlendedJudge:
    """Orders what `judge` keeps by (1 - weight) * retrieval + weight * judgement. Not published.

    `judge` scores from 0 to 1 and leaves the order alone; the retrieval's scores are brought to 0..1 by their minimum
    and maximum. Only the best `most` are judged: a judge reads sentences, and nobody reads the fiftieth result. The
    others follow behind them, kept and not judged.
    """

    judge: Judge
    weight: float
    most: int

    def __call__(self, query: Query, hits: Sequence[Hit]) -> Sifted:
        """Kept hits by both scores, best first, then those that were not judged, then the dropped ones."""
        first, rest = hits[: self.most], hits[self.most :]
        judged = self.judge(query, first)
        near = _spread(first)
        kept = [self._blended(one, near) for one in judged.judgements if one.keep]
        kept.sort(key=lambda one: -one.hit.score.value)
        follow = [Judgement(hit, keep=True, reason=f"not judged: behind the best {self.most}") for hit in rest]
        dropped = [one for one in judged.judgements if not one.keep]
        ranked = [
            replace(one, hit=replace(one.hit, rank=rank))
            for rank, one in enumerate((*kept, *follow, *dropped), start=1)
        ]
        return Sifted(tuple(ranked), judged.detail)

    def _blended(self, judgement: Judgement, near: dict[str, float]) -> Judgement:
        """With the blend as the score it is ranked by; a hit without a judgement has that of retrieval alone."""
        retrieval = near[judgement.hit.chunk.id]
        value = retrieval if judgement.score is None else judgement.score.value
        score = Score((1 - self.weight) * retrieval + self.weight * value, BLEND)
        return replace(judgement, hit=replace(judgement.hit, score=score))


def _spread(hits: Sequence[Hit]) -> dict[str, float]:
    """The hits' scores from 0 to 1, by chunk; 1 where all are equal."""
    values = [hit.score.value for hit in hits]
    low, high = min(values, default=0.0), max(values, default=0.0)
    return {hit.chunk.id: (hit.score.value - low) / (high - low) if high > low else 1.0 for hit in hits}
