"""The lists: how deep they are, what is asked of the table, how they are fused and cut."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from thresher.retrieval.search import (
    CutRetriever,
    DenseRetriever,
    ExactRetriever,
    FusedRetriever,
    LexicalRetriever,
    depth_for,
    reciprocal_rank_fusion,
    weighted_fusion,
)
from thresher.testing.fakes import HashEncoder
from thresher.types import (
    BM25,
    COSINE,
    RECIPROCAL_RANK,
    WEIGHTED_FUSION,
    Chunk,
    Hit,
    Judged,
    Judgement,
    Notes,
    Query,
    Score,
)


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


@pytest.mark.parametrize(
    ("published", "literal", "told"), [(8, False, "10 (at least 8)"), (8, True, "8"), (20, False, "20")]
)
def test_a_list_is_as_deep_for_five_results_as_it_says(
    make_chunk: Callable[..., Chunk], published: int, literal: bool, told: str
) -> None:
    table: Any = Table(make_chunk())
    dense = DenseRetriever(table, HashEncoder(16), published, literal=literal)
    for one in (dense, LexicalRetriever(table, published, literal=literal)):
        one(Query("q", "q"))
        assert one.about.endswith(f" {told}")
        assert table.asked[-1]["limit"] == int(told.split()[0])


# --- fused ------------------------------------------------------------------------------------------------------------

Make = Callable[..., Hit]


@pytest.fixture
def dense(make_hit: Make) -> list[Hit]:
    return [make_hit("a", 0.9, 1), make_hit("b", 0.7, 2), make_hit("c", 0.5, 3)]


@pytest.fixture
def lexical(make_hit: Make) -> list[Hit]:
    return [make_hit(id, value, rank, name="lexical", scale=BM25) for id, value, rank in (("a", 12, 1), ("d", 2, 2))]


def test_equal_points_keep_the_order_of_the_first_list(dense: list[Hit], lexical: list[Hit]) -> None:
    fused = reciprocal_rank_fusion([dense, lexical])
    assert [(hit.chunk.id, hit.rank) for hit in fused] == [("a", 1), ("b", 2), ("d", 3), ("c", 4)]
    assert fused[1].score == fused[2].score
    assert (fused[0].score.scale, fused[0].scores["lexical"].value) == (RECIPROCAL_RANK, 12)


def test_a_chunk_counts_once_for_a_list_that_repeats_it(make_hit: Make) -> None:
    (only,) = reciprocal_rank_fusion([[make_hit("a", 0.9, 1), make_hit("a", 0.8, 2)]])
    assert only.score.value == pytest.approx(1 / 61)


@pytest.mark.parametrize("weights", [(0.4, 0.6), (1.0, 0.0), (7.0, 3.0), (0.0, 0.0)])
def test_a_weighted_sum_stays_in_its_scale_whatever_the_weights(
    dense: list[Hit], lexical: list[Hit], weights: tuple[float, float]
) -> None:
    fused = weighted_fusion([dense, lexical], weights=weights)
    assert all(0 <= hit.score.value <= 1 and hit.score.scale == WEIGHTED_FUSION for hit in fused)


def test_the_only_candidate_of_a_list_is_its_best_and_nothing_fused_is_nothing(make_hit: Make) -> None:
    (only,) = weighted_fusion([[make_hit("a", 0.2, 1)], []], weights=[1, 1])
    assert only.score.value == pytest.approx(0.5)
    assert reciprocal_rank_fusion([[], []]) == weighted_fusion([[], []], weights=[1, 1]) == []


def test_what_a_fused_retriever_dropped_is_still_there_with_its_reason(dense: list[Hit], lexical: list[Hit]) -> None:
    first = Judged(
        (Judgement(dense[0], keep=True), Judgement(dense[1], keep=False, reason="too long")), Notes(("slow",))
    )
    second = Judged(tuple(Judgement(hit, keep=True) for hit in lexical), Notes(("slow",)))
    fused = FusedRetriever((lambda query: first, lambda query: second), reciprocal_rank_fusion)(Query("q", "q"))
    assert [(j.hit.chunk.id, j.keep) for j in fused.judgements] == [("a", True), ("d", True), ("b", False)]
    assert fused.judgements[-1].reason == "too long"
    assert fused.notes == Notes(("slow",), facts={"lists": [1, 2]})


def test_a_chunk_of_two_lists_is_kept_once_and_stands_for_all_that_say_the_same(dense: list[Hit]) -> None:
    keeping = Judged((Judgement(dense[0], keep=True, stood_for=("x", "y")),))
    for other, stood_for in (
        (keeping, ("x", "y")),
        (Judged((Judgement(dense[0], keep=False, stood_for=("z",)),)), None),
    ):
        fused = FusedRetriever((lambda query, other=other: other, lambda query: keeping), reciprocal_rank_fusion)  # type: ignore[misc]
        (one,) = fused(Query("q", "q")).judgements
        assert (one.hit.chunk.id, one.keep, one.stood_for) == ("a", True, stood_for or ("z", "x", "y"))


# --- cut --------------------------------------------------------------------------------------------------------------

Cut = Callable[..., Judged]


@pytest.fixture
def cut(make_hit: Callable[..., Hit], retrieving: Callable[..., object]) -> Cut:
    """Candidates in the order of a name, each letter with its dense score where it has one."""

    def run(order: str, dense: dict[str, float], *, limit: int = 3, **settings: object) -> Judged:
        hits = []
        for rank, id in enumerate(order, start=1):
            hit = make_hit(id, dense.get(id, 0.0), rank, name="dense" if id in dense else "lexical")
            hits.append(replace(hit, score=Score(1 / rank, RECIPROCAL_RANK)))
        return CutRetriever(retrieving(hits), **settings)(Query("q", "q", limit))  # type: ignore[arg-type]

    return run


def kept(judged: Judged) -> str:
    return "".join(hit.chunk.id for hit in judged.kept)


DENSE = {"a": 0.1, "b": 0.2, "c": 0.3, "d": 0.8, "e": 0.9}


@pytest.mark.parametrize(
    ("order", "settings", "expected"),
    [
        ("abcde", {}, "abc"),  # the best, in order
        ("abcde", {"protect": 1}, "abe"),  # in place of the lowest unprotected one
        ("abcde", {"protect": 2}, "ade"),  # where the order put them
        ("abcde", {"protect": 3}, "cde"),
        ("abcde", {"protect": 9}, "cde"),  # no more than there is room
        ("edcba", {"protect": 2}, "edc"),  # among the best anyway
        ("abdce", {"protect": 2, "position": "front"}, "dea"),  # first, in the order of the ranking
        ("abxye", {"protect": 2}, "abe"),  # x and y have no dense score
        ("abcde", {"protect": 2, "limit": 4, "least": 5}, "abcde"),
    ],
)
def test_the_best_dense_hits_are_protected(cut: Cut, order: str, settings: dict[str, Any], expected: str) -> None:
    assert kept(cut(order, DENSE, **settings)) == expected


@pytest.mark.parametrize("position", ["keep", "front"])
def test_no_chunk_stands_twice_and_ranks_count_from_one(cut: Cut, position: str) -> None:
    judged = cut("abcde", DENSE, protect=2, position=position)
    ids = [judgement.hit.chunk.id for judgement in judged.judgements]
    assert sorted(ids) == list("abcde")
    assert [hit.rank for hit in judged.kept] == [1, 2, 3]


def test_everything_that_was_cut_off_is_still_there_and_says_why(cut: Cut) -> None:
    dropped = [judgement for judgement in cut("abcde", DENSE, protect=1).judgements if not judgement.keep]
    assert [judgement.hit.chunk.id for judgement in dropped] == ["c", "d"]
    assert [judgement.reason for judgement in dropped] == [f"rank {n}, below the best 3" for n in (3, 4)]


def test_a_hit_that_only_protection_kept_says_so(cut: Cut) -> None:
    reasons = {j.hit.chunk.id: j.reason for j in cut("abcde", DENSE, protect=2).judgements if j.keep}
    assert reasons["a"] == "rank 1"
    assert reasons["e"] == "rank 5, kept as one of the best dense hits"


def test_what_was_dropped_before_keeps_its_own_reason(make_hit: Callable[..., Hit]) -> None:
    before = Judged((Judgement(make_hit("a"), keep=True), Judgement(make_hit("b"), keep=False, reason="a copy of a")))
    after = CutRetriever(lambda query: before)(Query("q", "q"))
    assert [(j.hit.chunk.id, j.keep, j.reason) for j in after.judgements][1] == ("b", False, "a copy of a")


def test_a_printed_number_of_results_holds_whatever_is_asked_for(
    make_hit: Callable[..., Hit], retrieving: Callable[..., object]
) -> None:
    hits = [make_hit(id, 0.5, rank) for rank, id in enumerate("abcde", start=1)]
    assert kept(CutRetriever(retrieving(hits), limit=2)(Query("q", "q", 4))) == "ab"  # type: ignore[arg-type]
