"""The two lists: how deep they are, and what is asked of the table."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from thresher.retrieval.search import DenseRetriever, ExactRetriever, LexicalRetriever, depth_for
from thresher.testing.fakes import HashEncoder
from thresher.types import BM25, COSINE, Chunk, Query


class Table:
    """Remembers what it was asked."""

    def __init__(self, chunk: Chunk) -> None:
        self.asked: list[dict[str, Any]] = []
        self._chunk = chunk

    def nearest(self, vector: Any, *, limit: int, where: str | None = None) -> list[tuple[Chunk, float]]:
        self.asked.append({"shape": vector.shape, "limit": limit, "where": where})
        return [(self._chunk, 0.5)]

    def matching(self, query: str, *, limit: int, where: str | None = None) -> list[tuple[Chunk, float]]:
        self.asked.append({"query": query, "limit": limit, "where": where})
        return [(self._chunk, 7.0)]


@pytest.mark.parametrize(
    ("published", "limit", "depth"), [(8, 1, 8), (8, 4, 8), (8, 5, 10), (4, 5, 10), (5, 100, 200), (10, 5, 10)]
)
def test_a_list_is_twice_as_deep_as_the_wanted_results_and_never_less_than_published(
    published: int, limit: int, depth: int
) -> None:
    assert depth_for(published, limit) == depth
    assert depth_for(published, limit, literal=True) == published


def test_dense_asks_with_the_vector_of_the_search_words_and_the_filter(make_chunk: Callable[..., Chunk]) -> None:
    table = Table(make_chunk())
    judged = DenseRetriever(table, HashEncoder(16), 8)(Query("q", "words", 6, "page = 1"))  # type: ignore[arg-type]
    assert table.asked == [{"shape": (16,), "limit": 12, "where": "page = 1"}]
    (hit,) = judged.kept
    assert (hit.rank, judged.judgements[0].reason) == (1, "dense rank 1")
    assert (hit.score.value, hit.score.scale, hit.scores["dense"].value) == (0.5, COSINE, 0.5)


def test_lexical_asks_with_the_search_words_and_the_filter(make_chunk: Callable[..., Chunk]) -> None:
    table = Table(make_chunk())
    judged = LexicalRetriever(table, 4, literal=True)(Query("q", "words", 6, "page = 1"))  # type: ignore[arg-type]
    assert table.asked == [{"query": "words", "limit": 4, "where": "page = 1"}]
    assert judged.kept[0].score.scale == BM25


def test_the_chunk_with_the_very_identifier_comes_first(make_chunk: Callable[..., Chunk]) -> None:
    near, exact = make_chunk("c1", "A17 costs 18.90"), make_chunk("c2", "A71 costs 24.50")

    class Both(Table):
        def matching(self, query: str, *, limit: int, where: str | None = None) -> list[tuple[Chunk, float]]:
            self.asked.append({"query": query})
            return [(near, 9.0), (exact, 2.0)]

    table = Both(near)
    retriever = ExactRetriever(DenseRetriever(table, HashEncoder(16), 8), table)  # type: ignore[arg-type]
    assert [hit.chunk.text for hit in retriever(Query("What is A-71?", "What is A-71?")).kept] == [
        exact.text,
        near.text,
    ]
    assert table.asked[-1] == {"query": "A-71 A71 A 71"}
    assert [hit.chunk.text for hit in retriever(Query("What is it?", "What is it?")).kept] == [near.text]
