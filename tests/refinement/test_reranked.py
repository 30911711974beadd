from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pytest

from thresher.errors import BudgetSpent, ProviderError
from thresher.models.fake import OverlapCrossEncoder
from thresher.refinement.reranked import RerankedPassages
from thresher.types import Hit, Query, Refined, Score

ASKED = Query("a question", "red green blue")
TEXTS = {"a": "nothing alike", "b": "red green", "c": "red green blue", "d": "green red"}


@dataclass
class Failing:
    error: Exception
    name: str = "failing"

    def __call__(self, question: str, texts: Sequence[str]) -> Sequence[Score]:
        raise self.error


@pytest.fixture
def hits(make_hit: Callable[..., Hit]) -> list[Hit]:
    return [make_hit(id_, 0.9, rank, text=text) for rank, (id_, text) in enumerate(TEXTS.items(), start=1)]


def ids(refined: Refined) -> list[str]:
    return [piece.hit.chunk.id for piece in refined.evidence]


def test_chunks_stand_whole_in_the_order_of_the_cross_encoder_and_ties_keep_theirs(hits: list[Hit]) -> None:
    refined = RerankedPassages(OverlapCrossEncoder())(ASKED, hits)
    assert ids(refined) == ["c", "b", "d", "a"]
    assert [piece.text for piece in refined.evidence] == [TEXTS[id_] for id_ in "cbda"]
    assert all(judgement.keep for judgement in refined.judgements)
    assert refined.detail == {"reranker": "word overlap"}


def test_the_searched_words_are_what_it_reads_and_its_score_stands_beside_the_others(hits: list[Hit]) -> None:
    best = RerankedPassages(OverlapCrossEncoder())(ASKED, hits).evidence[0].hit
    assert (best.score.value, set(best.scores)) == (1.0, {"dense", "rerank"})


def test_the_best_can_stand_at_both_ends(hits: list[Hit]) -> None:
    assert ids(RerankedPassages(OverlapCrossEncoder(), edge_order=True)(ASKED, hits)) == ["c", "d", "a", "b"]
    assert ids(RerankedPassages(None, edge_order=True)(ASKED, hits)) == ["a", "c", "d", "b"]


def test_without_a_cross_encoder_they_stay_as_they_came(hits: list[Hit]) -> None:
    refined = RerankedPassages(None)(ASKED, hits)
    assert (ids(refined), refined.detail) == (["a", "b", "c", "d"], {})


@pytest.mark.parametrize("error", [ProviderError("out of order", subject="r"), BudgetSpent("the budget is spent")])
def test_one_that_fails_leaves_them_as_they_came_and_says_so(hits: list[Hit], error: Exception) -> None:
    refined = RerankedPassages(Failing(error))(ASKED, hits)
    assert ids(refined) == ["a", "b", "c", "d"]
    assert refined.detail == {"degraded": [f"refine: {error}; the order of the scores was kept"]}


def test_nothing_to_order_asks_nobody() -> None:
    assert RerankedPassages(Failing(AssertionError("asked")))(ASKED, []).evidence == ()
