"""First the chunks whose summaries lie nearest, then the best subchunks of those chunks alone (ECRAG, section 4.2).

Follows: k1 chunks by the vectors of their summaries, then k2 among all subchunks of those chunks. The paper's
IndexFlatL2 "based on cosine" is read as the L2 distance of unit vectors, sqrt(2 - 2 cos), which ranks as the cosine
does (X7 in docs/methods.md). Departs: no index is built for each query, the table of subchunks is searched within the
chunks found; BM25 comes from the whole table rather than from the handful retrieved (X11).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Literal

from thresher.protocols import ChunkTable, Encoder
from thresher.retrieval.found import depth_for
from thresher.retrieval.within import children_of, within
from thresher.types import BM25, COSINE, L2, Chunk, Hit, Judgement, Query, Score, Sifted

Metric = Literal["l2", "ip"]


@dataclass(frozen=True, slots=True)
class CoarseToFineRetriever:
    """Subchunks of the chunks whose summaries lie nearest to the query.

    Each carries `dense` (its cosine), `l2`, `lexical` (its BM25, 0 without a shared term) and, unless `flat`, `summary`
    (the cosine of its chunk's summary). `detail["chunks"]` lists every chunk that was looked into, with its distance
    and how many of its subchunks were found: what the paper draws as Figure 7.
    """

    summaries: ChunkTable
    """Chunks whose vectors are those of their summaries."""
    subchunks: ChunkTable
    encoder: Encoder
    coarse: int = 5
    """Chunks looked into; the paper gives no k1. As many as results are wanted if those are more, unless `literal`."""
    fine: int = 10
    """Subchunks found; the paper gives no k2. See `depth_for`."""
    literal: bool = False
    flat: bool = False
    """Look among all subchunks at once, without the summaries: an ablation."""
    metric: Metric = "l2"
    """The score that hits are ranked by: the L2 distance, the smallest first, or the inner product. One order."""

    def __call__(self, query: Query) -> Sifted:
        """Subchunks, best first; ties by id."""
        vector = self.encoder.encode_query(query.search)
        coarse = self.coarse if self.literal else max(self.coarse, query.limit)
        limit = depth_for(self.fine, query.limit, literal=self.literal)
        chunks = [] if self.flat else self.summaries.nearest(vector, limit=coarse, where=query.where)
        cosines = {chunk.id: cosine for chunk, cosine in chunks}
        found: list[tuple[Chunk, float]] = []
        if chunks or self.flat:
            among = query.where if self.flat else children_of([chunk for chunk, _ in chunks], query.where)
            found = self.subchunks.nearest(vector, limit=limit, where=among)
        lexical = self._lexical(query, [chunk.id for chunk, _ in found])
        judgements = []
        children: Counter[str] = Counter()
        for rank, (subchunk, cosine) in enumerate(found, start=1):
            parent = subchunk.parent_id or ""
            children[parent] += 1
            scores = {
                "dense": Score(cosine, COSINE),
                "l2": Score(distance(cosine), L2),
                "lexical": Score(lexical.get(subchunk.id, 0.0), BM25),
            }
            if parent in cosines:
                scores["summary"] = Score(cosines[parent], COSINE)
            hit = Hit(subchunk, scores["l2" if self.metric == "l2" else "dense"], rank, scores=scores)
            judgements.append(Judgement(hit, keep=True, reason=f"subchunk rank {rank}"))
        looked_into = [
            {"id": chunk.id, "label": chunk.label, "distance": distance(cosine), "subchunks": children[chunk.id]}
            for chunk, cosine in chunks
        ]
        return Sifted(tuple(judgements), {"chunks": looked_into})

    def _lexical(self, query: Query, ids: Sequence[str]) -> dict[str, float]:
        """BM25 of those subchunks that share a term with the query."""
        if not ids:
            return {}
        matching = self.subchunks.matching(query.search, limit=len(ids), where=within("id", ids))
        return {chunk.id: score for chunk, score in matching}


def distance(cosine: float) -> float:
    """The L2 distance of two unit vectors: |a - b|^2 = 2 - 2 cos; 0 where rounding puts the cosine above 1."""
    return min(2.0, sqrt(max(0.0, 2.0 - 2.0 * cosine)))
