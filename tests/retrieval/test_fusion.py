from __future__ import annotations

from collections.abc import Callable

import pytest

from thresher.retrieval.search import FusedRetriever, reciprocal_rank_fusion, weighted_fusion
from thresher.types import BM25, RECIPROCAL_RANK, WEIGHTED_FUSION, Hit, Judged, Judgement, Notes, Query

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
