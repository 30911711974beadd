from __future__ import annotations

from collections.abc import Callable, Sequence

from thresher.judging.judge import BLEND, BlendedJudge
from thresher.types import UNIT, Hit, Judged, Judgement, Notes, Query, Score

QUERY = Query("Why?", "Why?", 2)


def giving(**values: float | None) -> Callable[[Query, Sequence[Hit]], Judged]:
    """A judge that gives chunks these scores and drops those below 0.1."""

    def judge(query: Query, hits: Sequence[Hit]) -> Judged:
        judged = []
        for hit in hits:
            value = values[hit.chunk.id]
            score = None if value is None else Score(value, UNIT)
            judged.append(Judgement(hit, keep=value is None or value >= 0.1, reason="read", score=score))
        return Judged(tuple(judged), Notes(facts={"scorer": "given"}))

    return judge


def test_the_order_is_the_weighted_sum_of_retrieval_and_judge(make_hit: Callable[..., Hit]) -> None:
    hits = [make_hit("a", 0.9), make_hit("b", 0.6), make_hit("c", 0.4)]
    result = BlendedJudge(giving(a=0.2, b=0.9, c=1.0), 0.5, 10)(QUERY, hits)
    # a: .5 * 1 + .5 * .2 = .6; b: .5 * .4 + .5 * .9 = .65; c: .5 * 0 + .5 * 1 = .5
    assert [hit.chunk.id for hit in result.kept] == ["b", "a", "c"]
    assert [round(hit.score.value, 3) for hit in result.kept] == [0.65, 0.6, 0.5]
    assert {hit.score.scale for hit in result.kept} == {BLEND}
    assert [judgement.hit.rank for judgement in result.judgements] == [1, 2, 3]
    assert result.notes.facts == {"scorer": "given"}


def test_what_the_judge_drops_comes_last_and_keeps_its_reason(make_hit: Callable[..., Hit]) -> None:
    result = BlendedJudge(giving(a=0.0, b=0.9), 0.3, 10)(QUERY, [make_hit("a", 0.9), make_hit("b", 0.6)])
    assert [(one.hit.chunk.id, one.keep, one.reason) for one in result.judgements] == [
        ("b", True, "read"),
        ("a", False, "read"),
    ]


def test_only_the_best_are_judged_and_the_others_follow_them(make_hit: Callable[..., Hit]) -> None:
    hits = [make_hit(id, 1 - number / 10) for number, id in enumerate("abcd")]
    result = BlendedJudge(giving(a=0.0, b=0.5), 0.5, 2)(QUERY, hits)
    assert [hit.chunk.id for hit in result.kept] == ["b", "c", "d"]
    assert all("not judged" in one.reason for one in result.judgements[1:3])
    assert result.judgements[-1].hit.chunk.id == "a"


def test_a_hit_without_a_judgement_has_the_score_of_retrieval(make_hit: Callable[..., Hit]) -> None:
    result = BlendedJudge(giving(a=None, b=0.2), 0.5, 9)(QUERY, [make_hit("a", 0.9), make_hit("b", 0.6)])
    assert [(hit.chunk.id, hit.score.value) for hit in result.kept] == [("a", 1.0), ("b", 0.1)]


def test_hits_that_retrieval_could_not_tell_apart_are_ordered_by_the_judge(make_hit: Callable[..., Hit]) -> None:
    result = BlendedJudge(giving(a=0.2, b=0.9), 0.5, 9)(QUERY, [make_hit("a", 0.5), make_hit("b", 0.5)])
    assert [hit.chunk.id for hit in result.kept] == ["b", "a"]
