"""ECRAG's search: the chunks whose summaries lie nearest, then their subchunks."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from math import sqrt
from typing import Literal

from thresher.parts.retrieval import children_of, depth_about, depth_for, lexical_scores
from thresher.protocols import ChunkTable, Encoder
from thresher.types import BM25, COSINE, L2, Chunk, Hit, Judged, Judgement, Notes, Query, Score

Metric = Literal["l2", "ip"]


@dataclass(frozen=True, slots=True)
class CoarseToFineRetriever:
    """Subchunks of the chunks whose summaries lie nearest to the query.

    Each carries `dense` (its cosine), `l2`, `lexical` (its BM25, 0 without a shared term) and, unless `flat`, `summary`
    (the cosine of its chunk's summary). The fact `chunks` lists every chunk that was looked into, with its distance
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

    @property
    def about(self) -> str:
        """For people, in a few words."""
        fine = f"subchunks {depth_about(self.fine, literal=self.literal)}"
        return fine if self.flat else f"summaries {self.coarse} -> {fine}"

    def __call__(self, query: Query) -> Judged:
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
        lexical = lexical_scores(self.subchunks, query, [chunk.id for chunk, _ in found])
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
        return Judged(tuple(judgements), Notes(facts={"chunks": looked_into}))


def distance(cosine: float) -> float:
    """The L2 distance of two unit vectors: |a - b|^2 = 2 - 2 cos; 0 where rounding puts the cosine above 1."""
    return min(2.0, sqrt(max(0.0, 2.0 - 2.0 * cosine)))
