from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.judging.scoring import ASKED, Given, failing
from thresher.errors import ProviderError, UsageError
from thresher.judging.judge import ScoringJudge
from thresher.judging.llm_scorers import Critic, LLMRelevance, MultiStageScorer
from thresher.judging.thresholds import Fixed, FromModel, KeepAll, Statistical
from thresher.testing.fakes import ScriptedModel
from thresher.types import COSINE, PROBABILITY, UNIT, Hit, Judged, Notes, Score

Make = Callable[..., Hit]


@pytest.fixture
def hits(make_hit: Make) -> list[Hit]:
    return [make_hit(id, 0.5, rank) for rank, id in enumerate("abc", start=1)]


def fates(result: Judged) -> list[tuple[str, bool, str]]:
    return [(one.hit.chunk.id, one.keep, one.reason) for one in result.judgements]


def test_every_hit_comes_back_with_its_score_and_the_reason_best_first(hits: list[Hit]) -> None:
    judged = ScoringJudge(Given({"a": 0.61, "b": 0.2, "c": 0.82}), Fixed(0.61))(ASKED, hits)
    assert fates(judged) == [
        ("c", True, "relevance 0.82 >= 0.61"),
        ("a", True, "relevance 0.61 >= 0.61"),
        ("b", False, "relevance 0.2 < 0.61"),
    ]
    best = judged.judgements[0]
    assert best.score == best.hit.score == best.hit.scores["relevance"] == Score(0.82, UNIT)
    assert [one.hit.rank for one in judged.judgements] == [1, 2, 3]
    assert best.hit.scores["dense"] == Score(0.5, COSINE)
    assert judged.notes.facts["threshold"] == 0.61
    assert judged.notes.facts["unscored"] == 0


def test_without_an_order_of_its_own_the_hits_stay_as_they_came(hits: list[Hit]) -> None:
    judged = ScoringJudge(Given({"a": 0.4, "b": 0.2, "c": 0.8}), Fixed(0.3, inclusive=False), order=False)(ASKED, hits)
    assert fates(judged) == [
        ("a", True, "relevance 0.4 > 0.3"),
        ("c", True, "relevance 0.8 > 0.3"),
        ("b", False, "relevance 0.2 <= 0.3"),
    ]
    assert judged.judgements[1].hit.score == Score(0.5, COSINE)
    assert judged.judgements[1].hit.rank == 3


def test_ties_stay_as_they_came(hits: list[Hit]) -> None:
    judged = ScoringJudge(Given(dict.fromkeys("abc", 0.5)), KeepAll())(ASKED, hits)
    assert fates(judged) == [(id, True, "relevance 0.5") for id in "abc"]


def test_a_hit_whose_score_cannot_be_read_is_kept_and_counted(hits: list[Hit]) -> None:
    scorer = Given({"a": None, "b": 0.9, "c": 0.1}, notes=Notes(unreadable=2))
    judged = ScoringJudge(scorer, Fixed(0.5))(ASKED, hits)
    (unreadable,) = [one for one in judged.judgements if one.score is None]
    assert (unreadable.hit.chunk.id, unreadable.keep, unreadable.reason) == ("a", True, "unreadable, kept")
    assert unreadable.hit.score == Score(0.5, COSINE)
    assert (judged.notes.unreadable, judged.notes.facts["unscored"]) == (2, 1)
    assert judged.judgements[0].hit.chunk.id == "b"


def test_a_judge_that_failed_is_replaced_for_the_hits_it_left(hits: list[Hit]) -> None:
    first = Given({"a": None, "b": 0.9, "c": None}, notes=Notes(("judge: is down",)), failed=(0,))
    second = Given({"a": 0.7, "c": 0.7}, name="local", scale=PROBABILITY)
    judged = ScoringJudge(first, Fixed(0.5), otherwise=second)(ASKED, hits)
    assert second.asked == ["a"]  # c was unreadable: its judge was there
    assert fates(judged) == [
        ("b", True, "relevance 0.9 >= 0.5"),
        ("a", True, "local 0.7 >= 0.5"),
        ("c", True, "unreadable, kept"),
    ]
    replaced = judged.judgements[1]
    assert replaced.score == replaced.hit.scores["local"] == Score(0.7, PROBABILITY)
    assert "relevance" not in replaced.hit.scores
    assert judged.notes.degraded == ("judge: is down", "judge: local scored 1 of these chunks instead")


def test_a_judge_that_only_says_it_is_degraded_failed_wherever_it_gave_nothing(hits: list[Hit]) -> None:
    first = Given({"a": None, "b": 0.9, "c": None}, notes=Notes(("judge: is down",)))
    second = Given({"a": 0.7, "c": 0.3}, name="local")
    ScoringJudge(first, Fixed(0.5), otherwise=second)(ASKED, hits)
    assert second.asked == ["a", "c"]


def test_what_no_judge_could_score_is_kept(hits: list[Hit]) -> None:
    scorer = LLMRelevance(failing(ProviderError("is down")))
    judged = ScoringJudge(scorer, Statistical())(ASKED, hits)
    assert fates(judged) == [(id, True, "not scored, kept") for id in "abc"]
    assert judged.notes.degraded == ("judge: is down; 3 chunks were not scored",)
    assert judged.notes.facts["unscored"] == 3


def test_the_scores_on_the_way_stand_beside_the_final_one(hits: list[Hit]) -> None:
    scorer = MultiStageScorer(
        Given({"a": 0.9, "b": 0.5, "c": 0.1}), None, Critic(ScriptedModel(['{"scores": [0.7, 0.5, 0.3]}']))
    )
    judged = ScoringJudge(scorer, Statistical())(ASKED, hits)
    shown = {name: round(score.value, 3) for name, score in judged.judgements[0].hit.scores.items()}
    assert shown == {"dense": 0.5, "base": 0.9, "critic": 0.7, "relevance": 0.8}
    assert [hit.chunk.id for hit in judged.kept] == ["a", "b"]


def test_nothing_to_judge_asks_nobody() -> None:
    scorer = Given({})
    assert ScoringJudge(scorer, KeepAll())(ASKED, []) == Judged(())


def test_the_thresholds_own_troubles_are_told_with_the_scorers(hits: list[Hit]) -> None:
    scorer = Given({"a": 0.9, "b": 0.5, "c": 0.1}, notes=Notes(("judge: slow",), unreadable=1))
    judged = ScoringJudge(scorer, FromModel(ScriptedModel(["?", "?"])))(ASKED, hits)
    assert judged.notes.unreadable == 3
    assert judged.notes.degraded[0] == "judge: slow"
    assert "threshold could not be read" in judged.notes.degraded[1]


def test_scales_that_do_not_fit_are_refused_when_the_judge_is_built() -> None:
    with pytest.raises(UsageError, match=r"threshold 1\.5"):
        ScoringJudge(Given({}), Fixed(1.5))
    with pytest.raises(UsageError, match="cosine"):
        ScoringJudge(Given({}), KeepAll(), otherwise=Given({}, scale=COSINE))
