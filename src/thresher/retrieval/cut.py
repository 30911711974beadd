"""The last step of retrieval: as many results as were asked for, some places protected."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from thresher.protocols import Retriever
from thresher.types import Hit, Judgement, Query, Sifted

Position = Literal["keep", "front"]


@dataclass(frozen=True, slots=True)
class CutRetriever:
    """The best `query.limit` of what another retriever found.

    `protect` guarantees the membership of that many best dense hits (hybrid report, "safety mechanism"; W4 in
    docs/methods.md): a protected hit may replace only the lowest-ranked unprotected one. It stays where the order put
    it (`keep`) or goes to the front (`front`). This guarantees membership, not quality.
    """

    retriever: Retriever
    protect: int = 0
    position: Position = "keep"
    limit: int | None = None
    """A published number that holds whatever is asked for."""
    least: int = 0
    """At least this many, where what follows chooses among them."""

    def __call__(self, query: Query) -> Sifted:
        """Kept hits first, then everything that was cut off, with the reason."""
        found = self.retriever(query)
        limit = max(self.least, query.limit) if self.limit is None else self.limit
        hits = found.kept
        protected = _best_dense(hits, min(self.protect, limit))
        room = limit - len(protected)
        others = [hit for hit in hits if hit.chunk.id not in protected][:room]
        chosen = protected | {hit.chunk.id for hit in others}
        kept = [hit for hit in hits if hit.chunk.id in chosen]
        if self.position == "front":
            kept.sort(key=lambda hit: hit.chunk.id not in protected)
        reasons = {judgement.hit.chunk.id: judgement.reason for judgement in found.judgements}
        stays = [
            Judgement(replace(hit, rank=rank), keep=True, reason=_why(hit, reasons, protected, limit))
            for rank, hit in enumerate(kept, start=1)
        ]
        cut = [
            replace(judgement, keep=False, reason=f"{judgement.reason}, below the best {limit}")
            if judgement.keep
            else judgement
            for judgement in found.judgements
            if judgement.hit.chunk.id not in chosen
        ]
        detail = {**found.detail, "protected": sorted(protected)} if self.protect else found.detail
        return Sifted((*stays, *cut), detail)


def _best_dense(hits: tuple[Hit, ...], number: int) -> set[str]:
    """Ids of the hits with the highest dense score."""
    dense = [hit for hit in hits if "dense" in hit.scores]
    dense.sort(key=lambda hit: -hit.scores["dense"].value)
    return {hit.chunk.id for hit in dense[:number]}


def _why(hit: Hit, reasons: dict[str, str], protected: set[str], limit: int) -> str:
    reason = reasons[hit.chunk.id]
    if hit.chunk.id in protected and hit.rank > limit:
        return f"{reason}, kept as one of the best dense hits"
    return reason
