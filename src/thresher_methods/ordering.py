"""ChunkRAG's orders: by similarity to the searched words before it judges, by a cross-encoder after it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from thresher.errors import BudgetSpent, ProviderError
from thresher.protocols import CrossEncoder, Judge, Retriever, about
from thresher.types import COSINE, Hit, Judged, Notes, Query, Score, ranked_judgements


@dataclass(frozen=True, slots=True)
class RerankedJudge:
    """Orders what another judge kept (ChunkRAG, Algorithm 1, line 24; Y16); if the cross-encoder fails, as it was."""

    judge: Judge
    cross_encoder: CrossEncoder
    titled: bool = True
    """Whether the cross-encoder reads a chunk with its title in front."""

    @property
    def floor(self) -> float | None:
        """The floor of the judge's threshold, if it has one."""
        return getattr(self.judge, "floor", None)

    @property
    def about(self) -> str:
        """For people, in a few words."""
        return f"{about(self.judge)}; ordered by cross-encoder {self.cross_encoder.name.partition('@')[0]}"

    def __call__(self, query: Query, hits: Sequence[Hit]) -> Judged:
        """Kept hits by the cross-encoder's score, best first, ties as they were; then the dropped ones."""
        judged = self.judge(query, hits)
        kept = [judgement for judgement in judged.judgements if judgement.keep]
        if not kept:
            return judged
        texts = [one.hit.chunk.titled if self.titled else one.hit.chunk.text for one in kept]
        try:
            scores = self.cross_encoder(query.search, texts)
        except (ProviderError, BudgetSpent) as error:
            lack = f"judge: {error}; the order of the scores was kept"
            return replace(judged, notes=judged.notes + Notes((lack,)))
        notes = Notes(facts={"reranker": self.cross_encoder.name})
        return replace(_ordered(judged, "rerank", scores), notes=judged.notes + notes)


@dataclass(frozen=True, slots=True)
class SimilarityRetriever:
    """Orders the hits of another retriever by similarity to the searched words; without similarities unchanged."""

    retriever: Retriever
    similarities: Callable[[Query, Sequence[Hit]], Sequence[float]]
    """The cosine of each hit with the searched words."""

    @property
    def about(self) -> str:
        """For people, in a few words."""
        return f"{about(self.retriever)}, by similarity"

    def __call__(self, query: Query) -> Judged:
        """Kept hits by their `similarity`, best first, then what was dropped."""
        found = self.retriever(query)
        try:
            cosines = self.similarities(query, found.kept) if found.kept else ()
        except (ProviderError, BudgetSpent) as error:
            return replace(found, notes=found.notes + Notes((f"similarity: {error}; the order before it was kept",)))
        return _ordered(found, "similarity", [Score(float(cosine), COSINE) for cosine in cosines])


def _ordered(judged: Judged, name: str, scores: Sequence[Score]) -> Judged:
    """What was kept by new scores of that name, best first, ties as they were; then what was dropped."""
    kept, dropped = ([one for one in judged.judgements if one.keep is keep] for keep in (True, False))
    scored = [
        replace(one, hit=replace(one.hit, score=score, scores={**one.hit.scores, name: score}))
        for one, score in zip(kept, scores, strict=True)
    ]
    scored.sort(key=lambda one: -one.hit.score.value)
    return Judged((*ranked_judgements(scored), *dropped), judged.notes)
