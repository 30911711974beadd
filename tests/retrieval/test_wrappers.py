from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from thresher.retrieval.search import CutRetriever
from thresher.types import RECIPROCAL_RANK, Hit, Judged, Judgement, Query, Score

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
