from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as some

from thresher.errors import UsageError
from thresher.judging.kdm import KDM, KDM_SUM, AbsoluteConfidence, ConfidenceJudge, bm25, ceiling, retrieved_statistics
from thresher.judging.verdicts import Bounds, Routing
from thresher.types import BM25, COSINE, Chunk, Hit, Judged, Query, Score, Verdict

Make = Callable[..., Hit]
ASKED = Query("question", "question", limit=1)
CEILING = 10.0


def judging(lexical: Sequence[float], **more: Any) -> ConfidenceJudge:
    """A judge over hits whose BM25 is given, of 10 at most."""

    def given_(query: Query, hits: Sequence[Hit]) -> Sequence[float]:
        return [lexical[int(hit.chunk.id)] for hit in hits]

    return ConfidenceJudge(given_, AbsoluteConfidence(given_, lambda query: CEILING), **more)


def hits_of(cosines: Sequence[float]) -> list[Hit]:
    return [
        Hit(Chunk(str(n), "d", "d.txt", "", 0, 1, "x"), Score(c, COSINE), n + 1, scores={"dense": Score(c, COSINE)})
        for n, c in enumerate(cosines)
    ]


def judged(cosines: Sequence[float], lexical: Sequence[float], **more: Any) -> Judged:
    return judging(lexical, **more)(ASKED, hits_of(cosines))


def confidences(result: Judged) -> dict[str, float]:
    return {one.hit.chunk.id: one.score.value for one in result.judgements if one.score}


def kept(result: Judged) -> list[str]:
    return [hit.chunk.id for hit in result.kept]


# --- choosing ---------------------------------------------------------------------------------------------------------


def test_both_parts_are_spread_over_the_candidates_and_weighted() -> None:
    result = judged([0.9, 0.5, 0.1], [2.0, 4.0, 1.0])
    assert confidences(result) == {"0": 0.8, "1": 0.65, "2": 0.0}
    assert kept(result) == ["0", "1"]
    best = result.judgements[0]
    assert best.score == Score(0.8, KDM)
    assert best.reason == "confidence 0.8 >= 0.5 (cosine 1, BM25 0.333)"
    assert result.judgements[2].reason == "confidence 0 < 0.5 (cosine 0, BM25 0)"


def test_the_kept_ones_come_first_and_are_ranked_by_their_confidence() -> None:
    result = judged([0.1, 0.6, 0.9], [1.0, 1.0, 3.0])
    assert [(one.hit.chunk.id, one.hit.rank, one.hit.score) for one in result.judgements] == [
        ("2", 1, Score(1.0, KDM)),
        ("1", 2, Score(0.4375, KDM)),
        ("0", 3, Score(0.0, KDM)),
    ]


def test_a_single_good_candidate_survives() -> None:
    result = judged([0.8], [5.0])
    assert confidences(result) == {"0": 0.71}
    assert kept(result) == ["0"]


def test_a_single_bad_candidate_does_not() -> None:
    assert kept(judged([0.2], [0.5])) == []


def test_candidates_that_are_all_equal_are_judged_by_what_they_are() -> None:
    assert kept(judged([0.8] * 3, [5.0] * 3)) == ["0", "1", "2"]
    assert kept(judged([0.2] * 3, [5.0] * 3)) == []


def test_a_list_of_equal_values_is_absolute_beside_one_that_is_spread() -> None:
    assert confidences(judged([0.9, 0.5], [5.0, 5.0])) == {"0": 0.85, "1": 0.15}


def test_no_candidates_are_nothing() -> None:
    assert judged([], []) == Judged(())


def test_the_figures_sum_is_a_quarter_cut_on_equal_weights() -> None:
    cosines, lexical = [0.9, 0.5, 0.4, 0.1], [1.0, 2.0, 5.0, 3.0]
    result = judged(cosines, lexical, combine="sum", nonzero_rule="off")
    halves = judged(cosines, lexical, weights=(0.5, 0.5), cut=0.25, nonzero_rule="off")
    assert kept(result) == kept(halves)
    assert {id: 2 * value for id, value in confidences(halves).items()} == pytest.approx(confidences(result))
    assert result.judgements[0].score is not None
    assert result.judgements[0].score.scale == KDM_SUM


Rule = Literal["raw", "off", "normalized"]


@pytest.mark.parametrize(
    ("rule", "ids"),
    [
        ("raw", ["0"]),  # 1 shares no term
        ("off", ["0", "1"]),
        ("normalized", ["0"]),  # 1 is the lowest in BM25
    ],
)
def test_a_near_chunk_without_a_shared_term_under_each_rule(rule: Rule, ids: list[str]) -> None:
    assert kept(judged([0.9, 0.8, 0.1], [4.0, 0.0, 2.0], nonzero_rule=rule)) == ids


def test_the_printed_rule_drops_the_worst_of_each_list_and_any_single_candidate() -> None:
    worst = judged([0.9, 0.8, 0.5], [1.0, 4.0, 3.0], combine="sum", nonzero_rule="normalized")
    assert kept(worst) == ["1"]
    assert {one.hit.chunk.id: one.reason for one in worst.judgements if not one.keep} == {
        "0": "the lowest BM25 of the candidates",
        "2": "the lowest cosine of the candidates",
    }
    assert kept(judged([0.9], [9.0], combine="sum", nonzero_rule="normalized")) == []
    assert kept(judged([0.9, 0.9], [9.0, 9.0], combine="sum", nonzero_rule="normalized")) == []


def test_without_any_lexical_overlap_only_the_rule_off_keeps_something() -> None:
    assert kept(judged([0.9, 0.2], [0.0, 0.0])) == []
    assert kept(judged([0.9, 0.2], [0.0, 0.0], nonzero_rule="off")) == ["0"]
    assert "shares no term" in judged([0.9], [0.0]).judgements[0].reason


def test_a_cosine_below_zero_is_dropped_by_the_raw_rule() -> None:
    assert "cosine -0.1 is not above 0" in judged([-0.1, -0.2], [5.0, 5.0]).judgements[0].reason


def test_a_confidence_of_exactly_the_cut_is_kept() -> None:
    assert kept(judged([1.0, 0.0], [1.0, 9.0], cut=0.7, nonzero_rule="off")) == ["0"]


@given(some.lists(some.tuples(some.floats(-1, 1), some.floats(0, 10)), min_size=1, max_size=8))
def test_a_confidence_stays_on_its_scale_and_no_hit_is_lost(pairs: list[tuple[float, float]]) -> None:
    for combine, scale in (("weighted", KDM), ("sum", KDM_SUM)):
        result = judged([c for c, _ in pairs], [b for _, b in pairs], combine=combine)
        assert sorted(confidences(result)) == sorted(str(n) for n in range(len(pairs)))
        assert all(0 <= value <= scale.high for value in confidences(result).values())


def test_no_more_are_kept_than_asked_for() -> None:
    result = judged([0.9, 0.8, 0.7, 0.1], [4.0, 4.0, 4.0, 1.0], keep=2)
    assert kept(result) == ["0", "1"]
    third, fourth = result.judgements[2:]
    assert third.reason == "confidence 0.825 >= 0.5 (cosine 0.75, BM25 1), below the best 2"
    assert fourth.reason == "confidence 0 < 0.5 (cosine 0, BM25 0)"
    more = judging([4.0, 4.0, 4.0, 1.0], keep=2)(Query("q", "q", limit=3), hits_of([0.9, 0.8, 0.7, 0.1]))
    assert kept(more) == ["0", "1", "2"]


def test_a_hit_without_a_cosine_is_a_mistake_in_the_recipe(make_hit: Make) -> None:
    with pytest.raises(UsageError, match="dense retriever"):
        judging([1.0])(ASKED, [make_hit("0", name="lexical", scale=BM25)])


@pytest.mark.parametrize("more", [{"weights": (0.7, 0.7)}, {"weights": (1.5, -0.5)}, {"cut": 1.5}])
def test_weights_and_cuts_off_the_scale_are_refused(more: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        judging([], **more)
    assert judging([], combine="sum", cut=1.5).cut == 1.5


# --- routing ----------------------------------------------------------------------------------------------------------

CORPUS = [
    ["decision", "trees", "split", "a", "node", "by", "information", "gain"],
    ["a", "random", "forest", "is", "many", "decision", "trees"],
    ["pruning", "a", "tree", "makes", "it", "smaller"],
]


def library(question: str, cosines: Sequence[float]) -> tuple[ConfidenceJudge, list[Hit], Query]:
    """A library about decision trees that is asked a question; BM25 is computed, the cosines are given."""
    counted = retrieved_statistics(CORPUS)

    def lexical(query: Query, hits: Sequence[Hit]) -> Sequence[float]:
        return [
            bm25(
                query.search.split(),
                CORPUS[int(hit.chunk.id)],
                frequencies=counted.frequencies,
                total=counted.total,
                average_length=counted.average_length,
            )
            for hit in hits
        ]

    def highest(query: str) -> float:
        return ceiling(query.split(), frequencies=counted.frequencies, total=counted.total)

    judge = ConfidenceJudge(lexical, AbsoluteConfidence(lexical, highest))
    return judge, hits_of(cosines), Query(question, question)


@pytest.mark.parametrize(
    ("question", "cosines", "verdict"),
    [
        ("decision trees", [0.7, 0.65, 0.4], Verdict.CORRECT),
        ("transformers attention heads", [0.3, 0.25, 0.2], Verdict.INCORRECT),
        ("forest fires", [0.4, 0.45, 0.2], Verdict.AMBIGUOUS),
    ],
)
def test_a_question_outside_the_library_is_routed_outside(
    question: str, cosines: list[float], verdict: Verdict
) -> None:
    judge, hits, query = library(question, cosines)
    result = judge(query, hits)
    decision = Routing(Bounds(0.3, 0.5, "code", KDM), AbsoluteConfidence.name)(result.judgements)
    assert decision.verdict == verdict
    assert "best absolute confidence" in decision.reason


def test_the_best_of_a_bad_lot_looks_good_relative_to_the_others_and_bad_absolutely() -> None:
    result = judged([0.2, 0.1], [1.0, 0.5])
    best = result.judgements[0].hit
    assert best.scores["confidence"].value == 1.0
    assert best.scores["absolute confidence"] == Score(0.17, KDM)


def test_the_absolute_confidence_is_clipped_to_its_scale() -> None:
    scored = AbsoluteConfidence(lambda query, hits: [20.0, -3.0], lambda query: 10.0)(ASKED, hits_of([1.0, -0.5]))
    assert [score.value for score in scored.scores if score] == [1.0, 0.0]


def test_a_question_without_terms_has_only_its_cosine() -> None:
    scored = AbsoluteConfidence(lambda query, hits: [0.0], lambda query: 0.0)(ASKED, hits_of([0.5]))
    assert scored.scores == (Score(0.35, KDM),)
