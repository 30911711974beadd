from __future__ import annotations

from collections.abc import Callable, Sequence

from thresher.pipeline import as_is
from thresher.refinement.refine import BestHits
from thresher.types import PROBABILITY, Hit, Judgement, Notes, Origin, Query, Refined

QUERY = Query("Why?", "Why?", 2)


def whole(query: Query, hits: Sequence[Hit]) -> Refined:
    return Refined(
        as_is(query, hits).evidence, tuple(Judgement(hit, keep=True) for hit in hits), notes=Notes(facts={"read": True})
    )


def test_the_best_of_each_side_are_refined_and_the_others_are_dropped(make_hit: Callable[..., Hit]) -> None:
    inside = [make_hit(id) for id in "abc"]
    outside = [make_hit(id, origin=Origin.OUTSIDE) for id in "xyz"]
    refined = BestHits(whole, 2)(QUERY, [*inside, *outside])
    assert [piece.hit.chunk.id for piece in refined.evidence] == ["a", "b", "x", "y"]
    dropped = {one.hit.chunk.id: one.reason for one in refined.judgements if not one.keep}
    assert dropped == {"c": "below the best 2", "z": "below the best 2"}
    assert refined.notes.facts == {"read": True}


def test_few_hits_are_all_refined(make_hit: Callable[..., Hit]) -> None:
    assert len(BestHits(whole, 5)(QUERY, [make_hit("a")]).evidence) == 1
    assert BestHits(whole, 5)(QUERY, []).evidence == ()


def test_the_best_are_those_the_judge_thinks_best_where_the_order_mixes_in_something_else(
    make_hit: Callable[..., Hit],
) -> None:
    probabilities = {"a": 0.2, "b": 0.9, "c": 0.5}
    hits = [make_hit(id, value, name="judge", scale=PROBABILITY) for id, value in probabilities.items()]
    refined = BestHits(whole, 2, by="judge")(QUERY, [*hits, make_hit("d")])
    assert [piece.hit.chunk.id for piece in refined.evidence] == ["b", "c"]
