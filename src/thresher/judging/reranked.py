"""What a judge keeps, in the order of a cross-encoder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from thresher.errors import BudgetSpent, ProviderError
from thresher.protocols import CrossEncoder, Judge
from thresher.types import Hit, Judgement, Query, Sifted


@dataclass(frozen=True, slots=True)
class RerankedJudge:
    """Orders what another judge kept (ChunkRAG, Algorithm 1, line 24; Y16: a reranker only sorts).

    A cross-encoder that fails leaves the order as it was, and says so.
    """

    judge: Judge
    cross_encoder: CrossEncoder

    def __call__(self, query: Query, hits: Sequence[Hit]) -> Sifted:
        """Kept hits by the cross-encoder's score, best first, ties as they were; then the dropped ones."""
        sifted = self.judge(query, hits)
        kept = [judgement for judgement in sifted.judgements if judgement.keep]
        if not kept:
            return sifted
        try:
            scores = self.cross_encoder(query.search, [judgement.hit.chunk.titled for judgement in kept])
        except (ProviderError, BudgetSpent) as error:
            lacks = [*sifted.detail.get("degraded", ()), f"judge: {error}; the order of the scores was kept"]
            return replace(sifted, detail={**sifted.detail, "degraded": lacks})
        scored = [
            replace(one, hit=replace(one.hit, score=score, scores={**one.hit.scores, "rerank": score}))
            for one, score in zip(kept, scores, strict=True)
        ]
        scored.sort(key=lambda one: -one.hit.score.value)
        ranked: list[Judgement] = [
            replace(one, hit=replace(one.hit, rank=rank)) for rank, one in enumerate(scored, start=1)
        ]
        dropped = [judgement for judgement in sifted.judgements if not judgement.keep]
        return Sifted((*ranked, *dropped), {**sifted.detail, "reranker": self.cross_encoder.name})
