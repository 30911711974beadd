"""BM25 of retrieved hits for the confidence: by the whole table's statistics, or by the handful's (X11)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from thresher.judging.bm25 import K1, B, Rarity, Statistics, bm25, ceiling, retrieved_statistics
from thresher.protocols import ChunkTable
from thresher.types import Hit, Query

Terms = Callable[[str], Sequence[str]]


@dataclass(frozen=True, slots=True)
class LexicalConfidence:
    """BM25 of each hit's text with its title, and the most that a query can reach.

    `fit=corpus` counts how rare a term is, and how long a chunk is on average, in the whole table; `fit=retrieved` in
    the hits that are scored (ECRAG, Fig. 6). The ceiling is always the table's: routing compares queries.
    """

    table: ChunkTable
    terms: Terms
    query_terms: Terms
    fit: Literal["corpus", "retrieved"] = "corpus"
    kind: Rarity = "robertson"
    k1: float = K1
    b: float = B

    def __call__(self, query: Query, hits: Sequence[Hit]) -> list[float]:
        """One number per hit; with `okapi` it may be below 0."""
        texts = [self.terms(f"{hit.chunk.title} {hit.chunk.text}") for hit in hits]
        known = self._statistics(query.search) if self.fit == "corpus" else retrieved_statistics(texts)
        return [
            bm25(
                self.query_terms(query.search),
                text,
                frequencies=known.frequencies,
                total=known.total,
                average_length=known.average_length,
                k1=self.k1,
                b=self.b,
                kind=self.kind,
            )
            for text in texts
        ]

    def ceiling(self, search: str) -> float:
        """The highest BM25 any text can have for a query."""
        return ceiling(
            self.query_terms(search),
            frequencies=self.table.document_frequencies(search),
            total=self.table.count(),
            k1=self.k1,
        )

    def _statistics(self, search: str) -> Statistics:
        table = self.table
        return Statistics(table.document_frequencies(search), table.count(), table.average_terms())
