"""Nearest chunks by the cosine of their vectors."""

from __future__ import annotations

from dataclasses import dataclass

from thresher.protocols import ChunkTable, Encoder
from thresher.retrieval.found import depth_for, found
from thresher.types import COSINE, Query, Sifted


@dataclass(frozen=True, slots=True)
class DenseRetriever:
    """The chunks whose vectors lie nearest to the query's; `depth` of them, see `depth_for`."""

    table: ChunkTable
    encoder: Encoder
    depth: int
    literal: bool = False

    def __call__(self, query: Query) -> Sifted:
        """Candidates by cosine, best first."""
        limit = depth_for(self.depth, query.limit, literal=self.literal)
        vector = self.encoder.encode_query(query.search)
        return found("dense", COSINE, self.table.nearest(vector, limit=limit, where=query.where))
