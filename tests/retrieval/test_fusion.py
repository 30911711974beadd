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


def ids(hits: list[Hit]) -> list[str]:
    return [hit.chunk.id for hit in hits]


def test_a_chunk_that_is_first_in_both_lists_gets_two_sixty_firsts(dense: list[Hit], lexical: list[Hit]) -> None:
    best = reciprocal_rank_fusion([dense, lexical])[0]
    assert (best.chunk.id, best.score.scale) == ("a", RECIPROCAL_RANK)
    assert best.score.value == pytest.approx(2 / 61)


def test_the_same_id_from_both_lists_is_one_hit_with_the_scores_of_both(dense: list[Hit], lexical: list[Hit]) -> None:
    fused = reciprocal_rank_fusion([dense, lexical])
    assert sorted(ids(fused)) == ["a", "b", "c", "d"]
    assert set(fused[0].scores) == {"dense", "lexical", "fused"}
    assert fused[0].scores["lexical"].value == 12


def test_equal_points_keep_the_order_of_the_first_list(dense: list[Hit], lexical: list[Hit]) -> None:
    fused = reciprocal_rank_fusion([dense, lexical])
    assert fused[1].score == fused[2].score
    assert ids(fused) == ["a", "b", "d", "c"]
    assert [hit.rank for hit in fused] == [1, 2, 3, 4]


def test_a_weight_counts_as_often_as_it_says(dense: list[Hit], lexical: list[Hit]) -> None:
    fused = reciprocal_rank_fusion([dense, lexical], weights=[1, 3])
    assert [(hit.chunk.id, hit.score.value) for hit in fused] == [
        ("a", pytest.approx(4 / 61)),
        ("d", pytest.approx(3 / 62)),
        ("b", pytest.approx(1 / 62)),
        ("c", pytest.approx(1 / 63)),
    ]


def test_a_chunk_counts_once_for_a_list_that_repeats_it(make_hit: Make) -> None:
    (only,) = reciprocal_rank_fusion([[make_hit("a", 0.9, 1), make_hit("a", 0.8, 2)]])
    assert only.score.value == pytest.approx(1 / 61)


def test_a_weighted_sum_spreads_each_list_over_zero_to_one(dense: list[Hit], lexical: list[Hit]) -> None:
    fused = weighted_fusion([dense, lexical], weights=[0.4, 0.6])
    values = {hit.chunk.id: hit.score.value for hit in fused}
    assert values == {"a": pytest.approx(1.0), "b": pytest.approx(0.2), "c": 0.0, "d": 0.0}
    assert all(0 <= hit.score.value <= 1 and hit.score.scale == WEIGHTED_FUSION for hit in fused)


@pytest.mark.parametrize("weights", [(1.0, 0.0), (0.0, 1.0), (7.0, 3.0), (0.0, 0.0)])
def test_a_weighted_sum_stays_in_its_scale_whatever_the_weights(
    dense: list[Hit], lexical: list[Hit], weights: tuple[float, float]
) -> None:
    assert all(0 <= hit.score.value <= 1 for hit in weighted_fusion([dense, lexical], weights=weights))


def test_the_only_candidate_of_a_list_is_its_best(make_hit: Make) -> None:
    (only,) = weighted_fusion([[make_hit("a", 0.2, 1)], []], weights=[1, 1])
    assert only.score.value == pytest.approx(0.5)


def test_nothing_fused_is_nothing() -> None:
    assert reciprocal_rank_fusion([[], []]) == []
    assert weighted_fusion([[], []], weights=[1, 1]) == []


def test_what_a_fused_retriever_dropped_is_still_there_with_its_reason(dense: list[Hit], lexical: list[Hit]) -> None:
    first = Judged(
        (Judgement(dense[0], keep=True), Judgement(dense[1], keep=False, reason="too long")), Notes(("slow",))
    )
    second = Judged(tuple(Judgement(hit, keep=True) for hit in lexical), Notes(("slow",)))
    fused = FusedRetriever((lambda query: first, lambda query: second), reciprocal_rank_fusion)(Query("q", "q"))
    assert [(j.hit.chunk.id, j.keep) for j in fused.judgements] == [("a", True), ("d", True), ("b", False)]
    assert fused.judgements[-1].reason == "too long"
    assert fused.notes == Notes(("slow",), facts={"lists": [1, 2]})


def test_a_fused_chunk_still_stands_for_those_that_say_the_same(dense: list[Hit]) -> None:
    first = Judged((Judgement(dense[0], keep=True, stood_for=("x", "y")),))
    second = Judged((Judgement(dense[0], keep=True, stood_for=("y", "z")),))
    fused = FusedRetriever((lambda query: first, lambda query: second), reciprocal_rank_fusion)(Query("q", "q"))
    assert [j.stood_for for j in fused.judgements] == [("x", "y", "z")]


def test_a_chunk_that_one_list_dropped_and_another_kept_is_kept_once(dense: list[Hit]) -> None:
    dropping = Judged((Judgement(dense[0], keep=False, reason="no"),))
    keeping = Judged((Judgement(dense[0], keep=True),))
    fused = FusedRetriever((lambda query: dropping, lambda query: keeping), reciprocal_rank_fusion)(Query("q", "q"))
    assert [(j.hit.chunk.id, j.keep) for j in fused.judgements] == [("a", True)]
