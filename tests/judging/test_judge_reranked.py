from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pytest

from thresher.errors import BudgetSpent, ProviderError
from thresher.judging.judge import RerankedJudge
from thresher.testing.fakes import OverlapCrossEncoder
from thresher.types import Hit, Judged, Judgement, Notes, Query, Score

ASKED = Query("a question", "red green blue")
TEXTS = {"a": "nothing alike", "b": "red green", "c": "red green blue", "d": "green red", "x": "red green blue"}


@dataclass
class Failing:
    error: Exception
    name: str = "failing"

    def __call__(self, question: str, texts: Sequence[str]) -> Sequence[Score]:
        raise self.error


def all_but_x(query: Query, hits: Sequence[Hit]) -> Judged:
    return Judged(
        tuple(Judgement(hit, keep=hit.chunk.id != "x", reason="read") for hit in hits),
        Notes(facts={"scorer": "double"}),
    )


@pytest.fixture
def hits(make_hit: Callable[..., Hit]) -> list[Hit]:
    return [make_hit(id_, 0.9, rank, text=text) for rank, (id_, text) in enumerate(TEXTS.items(), start=1)]


def ids(judged: Judged) -> list[str]:
    return [hit.chunk.id for hit in judged.kept]


def test_what_was_kept_stands_in_the_order_of_the_cross_encoder_and_ties_keep_theirs(hits: list[Hit]) -> None:
    judged = RerankedJudge(all_but_x, OverlapCrossEncoder())(ASKED, hits)
    assert ids(judged) == ["c", "b", "d", "a"]
    assert [hit.rank for hit in judged.kept] == [1, 2, 3, 4]
    assert judged.notes.facts == {"scorer": "double", "reranker": "word overlap"}


def test_what_was_dropped_stays_dropped_however_well_it_reads(hits: list[Hit]) -> None:
    judged = RerankedJudge(all_but_x, OverlapCrossEncoder())(ASKED, hits)
    assert (judged.judgements[-1].hit.chunk.id, judged.judgements[-1].keep) == ("x", False)


def test_the_searched_words_are_what_it_reads_and_its_score_stands_beside_the_others(hits: list[Hit]) -> None:
    best = RerankedJudge(all_but_x, OverlapCrossEncoder())(ASKED, hits).kept[0]
    assert (best.score.value, set(best.scores)) == (1.0, {"dense", "rerank"})


@pytest.mark.parametrize("error", [ProviderError("out of order", subject="r"), BudgetSpent("the budget is spent")])
def test_one_that_fails_leaves_them_as_they_were_and_says_so(hits: list[Hit], error: Exception) -> None:
    judged = RerankedJudge(all_but_x, Failing(error))(ASKED, hits)
    assert ids(judged) == ["a", "b", "c", "d"]
    assert judged.notes.degraded == (f"judge: {error}; the order of the scores was kept",)


def test_nothing_to_order_asks_nobody() -> None:
    assert RerankedJudge(all_but_x, Failing(AssertionError("asked")))(ASKED, []).kept == ()
