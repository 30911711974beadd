"""Only the best hits are refined: cutting and scoring every sentence of ten chunks takes longer than it helps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from thresher.protocols import Refiner
from thresher.types import Hit, Judgement, Origin, Query, Refined


@dataclass(frozen=True, slots=True)
class BestHits:
    """The first `most` hits from inside, and from outside, to another refiner; the others are dropped."""

    refiner: Refiner
    most: int

    def __call__(self, query: Query, hits: Sequence[Hit]) -> Refined:
        """What the refiner makes of them; every hit that came in has a judgement."""
        chosen = [hit for origin in Origin for hit in [hit for hit in hits if hit.origin is origin][: self.most]]
        ids = {hit.chunk.id for hit in chosen}
        refined = self.refiner(query, [hit for hit in hits if hit.chunk.id in ids])
        left = tuple(
            Judgement(hit, keep=False, reason=f"below the best {self.most}") for hit in hits if hit.chunk.id not in ids
        )
        return replace(refined, judgements=(*refined.judgements, *left))
