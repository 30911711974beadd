"""Chunks that share words with the query, by BM25."""

from __future__ import annotations

from dataclasses import dataclass

from thresher.protocols import ChunkTable
from thresher.retrieval.found import depth_for, found
from thresher.types import BM25, Query, Sifted


@dataclass(frozen=True, slots=True)
class LexicalRetriever:
    """The chunks with the highest BM25 (k1 1.2, b 0.75; Robertson and Zaragoza 2009), `depth` of them."""

    table: ChunkTable
    depth: int
    literal: bool = False

    def __call__(self, query: Query) -> Sifted:
        """Candidates by BM25, best first; chunks that share no term are none."""
        limit = depth_for(self.depth, query.limit, literal=self.literal)
        return found("lexical", BM25, self.table.matching(query.search, limit=limit, where=query.where))
