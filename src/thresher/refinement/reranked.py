"""Whole chunks in the order of a cross-encoder, the best ones at both ends where that is wanted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from thresher.errors import BudgetSpent, ProviderError
from thresher.protocols import CrossEncoder
from thresher.refinement.order import edge_order
from thresher.types import Evidence, Hit, Judgement, Query, Refined


@dataclass(frozen=True, slots=True)
class RerankedPassages:
    """Chunks as they are, ordered (ChunkRAG, Algorithm 1, line 24; Y16: a reranker only sorts, edges are an option).

    Without a cross-encoder, and with one that fails, the order they come in stays.
    """

    cross_encoder: CrossEncoder | None
    edge_order: bool = False

    def __call__(self, query: Query, hits: Sequence[Hit]) -> Refined:
        """Every hit as a piece of evidence."""
        ordered, detail = self._ordered(query, hits)
        evidence = [Evidence(hit, hit.chunk.start, hit.chunk.end, hit.chunk.text, hit.chunk.page) for hit in ordered]
        placed = edge_order(evidence) if self.edge_order else evidence
        return Refined(tuple(placed), tuple(Judgement(hit, keep=True) for hit in ordered), detail=detail)

    def _ordered(self, query: Query, hits: Sequence[Hit]) -> tuple[list[Hit], dict[str, object]]:
        if self.cross_encoder is None or not hits:
            return list(hits), {}
        try:
            scores = self.cross_encoder(query.search, [hit.chunk.text for hit in hits])
        except (ProviderError, BudgetSpent) as error:
            return list(hits), {"degraded": [f"refine: {error}; the order of the scores was kept"]}
        scored = [
            replace(hit, score=score, scores={**hit.scores, "rerank": score})
            for hit, score in zip(hits, scores, strict=True)
        ]
        return sorted(scored, key=lambda hit: -hit.score.value), {"reranker": self.cross_encoder.name}
