"""Candidates put in the order of a cross-encoder, which reads question and chunk together."""

from __future__ import annotations

from dataclasses import dataclass, replace

from thresher.errors import BudgetSpent, ProviderError
from thresher.protocols import CrossEncoder, Retriever
from thresher.types import Hit, Judgement, Query, Sifted


@dataclass(frozen=True, slots=True)
class RerankedRetriever:
    """What another retriever found, reordered; a reranker that fails leaves the order as it was, and says so."""

    retriever: Retriever
    cross_encoder: CrossEncoder

    def __call__(self, query: Query) -> Sifted:
        """The same candidates by the cross-encoder's score, best first; ties keep their order."""
        found = self.retriever(query)
        hits = found.kept
        try:
            scores = self.cross_encoder(query.search, [hit.chunk.titled for hit in hits])
        except (ProviderError, BudgetSpent) as error:
            lacks = [*found.detail.get("degraded", ()), f"rerank: {error}; the order before it was kept"]
            return replace(found, detail={**found.detail, "degraded": lacks})
        scored = [
            replace(hit, score=score, scores={**hit.scores, "rerank": score})
            for hit, score in zip(hits, scores, strict=True)
        ]
        order = sorted(scored, key=lambda hit: -hit.score.value)
        kept = tuple(_ranked(rank, hit) for rank, hit in enumerate(order, start=1))
        dropped = tuple(judgement for judgement in found.judgements if not judgement.keep)
        return Sifted((*kept, *dropped), {**found.detail, "reranker": self.cross_encoder.name})


def _ranked(rank: int, hit: Hit) -> Judgement:
    return Judgement(replace(hit, rank=rank), keep=True, reason=f"rerank rank {rank}")
