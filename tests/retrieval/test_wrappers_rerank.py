from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pytest

from thresher.errors import BudgetSpent, ProviderError
from thresher.retrieval.wrappers import RerankedRetriever
from thresher.testing.fakes import OverlapCrossEncoder
from thresher.types import UNIT, Hit, Judged, Judgement, Notes, Query, Score


@dataclass
class Failing:
    error: Exception
    name: str = "failing"

    def __call__(self, question: str, texts: Sequence[str]) -> Sequence[Score]:
        raise self.error


@pytest.fixture
def found(make_hit: Callable[..., Hit]) -> Judged:
    texts = {"a": "nothing alike", "b": "red green", "c": "red green blue", "d": "green red"}
    hits = [make_hit(id, 0.9 - rank / 10, rank, text=text) for rank, (id, text) in enumerate(texts.items(), start=1)]
    dropped = Judgement(make_hit("x"), keep=False, reason="a copy of a")
    notes = Notes(("half of the index is missing",), facts={"lists": [4]})
    return Judged((*(Judgement(hit, keep=True, reason="before") for hit in hits), dropped), notes)


def test_candidates_stand_in_the_order_of_the_cross_encoder_and_ties_keep_theirs(found: Judged) -> None:
    judged = RerankedRetriever(lambda query: found, OverlapCrossEncoder())(Query("?", "red green blue"))
    assert [hit.chunk.id for hit in judged.kept] == ["c", "b", "d", "a"]
    assert [hit.rank for hit in judged.kept] == [1, 2, 3, 4]
    first = judged.judgements[0]
    assert (first.reason, first.hit.score) == ("rerank rank 1", Score(1.0, UNIT))
    assert (first.hit.scores["rerank"], first.hit.scores["dense"].value) == (first.hit.score, pytest.approx(0.6))
    last = judged.judgements[-1]
    assert (last.hit.chunk.id, last.keep, last.reason, "rerank" in last.hit.scores) == (
        "x",
        False,
        "a copy of a",
        False,
    )


def test_with_a_weight_the_order_before_counts_too_each_brought_to_zero_to_one(found: Judged) -> None:
    # Retrieval .8 .7 .6 .5 is 1, 2/3, 1/3, 0; shared words 0, 2/3, 1, 2/3 of three stay as they are.
    best = RerankedRetriever(lambda query: found, OverlapCrossEncoder(), 0.25)(Query("?", "red green blue")).kept
    blended = {"a": 3 / 4, "b": (3 * 2 / 3 + 2 / 3) / 4, "c": (3 * 1 / 3 + 1) / 4, "d": (2 / 3) / 4}
    assert [hit.chunk.id for hit in best] == ["a", "b", "c", "d"]
    assert {hit.chunk.id: hit.score.value for hit in best} == pytest.approx(blended)
    assert best[1].scores["rerank"].value == pytest.approx(2 / 3)


def test_scores_that_are_all_alike_leave_the_order_to_the_other(found: Judged) -> None:
    judged = RerankedRetriever(lambda query: found, OverlapCrossEncoder(), 0.5)(Query("?", "purple"))
    assert [hit.chunk.id for hit in judged.kept] == ["a", "b", "c", "d"]


@pytest.mark.parametrize("error", [ProviderError("cannot be reached", subject="it"), BudgetSpent("no time left")])
def test_a_failure_leaves_the_order_and_says_so_beside_what_was_said_before(found: Judged, error: Exception) -> None:
    judged = RerankedRetriever(lambda query: found, Failing(error))(Query("?", "red green blue"))
    assert judged.judgements == found.judgements
    first, second = judged.notes.degraded
    assert first == "half of the index is missing"
    assert second == f"rerank: {error}; the order before it was kept"


def test_a_bug_in_a_cross_encoder_is_not_hidden(found: Judged) -> None:
    with pytest.raises(ZeroDivisionError):
        RerankedRetriever(lambda query: found, Failing(ZeroDivisionError()))(Query("?", "red"))
