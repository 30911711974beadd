from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

from tests.judging.scoring import ASKED, Given, failing
from thresher.errors import BudgetSpent, ProviderError
from thresher.judging.judge import JOINED, Fixed, KeepAll, RankedJudge, ScoringJudge
from thresher.judging.llm_scorers import LLMRelevance
from thresher.testing.fakes import OverlapCrossEncoder, ScriptedModel
from thresher.types import COSINE, PROBABILITY, UNIT, Hit, Judged, Judgement, Notes, Query, Score
from thresher_methods.ordering import RerankedJudge
from thresher_methods.thresholds import FromModel, Statistical

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
    assert ScoringJudge(Given({}), KeepAll())(ASKED, []) == Judged(())


def test_without_an_order_of_its_own_the_hits_stay_as_they_came(hits: list[Hit]) -> None:
    judged = ScoringJudge(Given({"a": 0.4, "b": 0.2, "c": 0.8}), Fixed(0.3, inclusive=False), order=False)(ASKED, hits)
    assert fates(judged) == [
        ("a", True, "relevance 0.4 > 0.3"),
        ("c", True, "relevance 0.8 > 0.3"),
        ("b", False, "relevance 0.2 <= 0.3"),
    ]
    assert judged.judgements[1].hit.score == Score(0.5, COSINE)
    assert judged.judgements[1].hit.rank == 3


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


def test_what_no_judge_could_score_is_kept_and_the_thresholds_own_troubles_are_told_too(hits: list[Hit]) -> None:
    judged = ScoringJudge(LLMRelevance(failing(ProviderError("is down"))), Statistical())(ASKED, hits)
    assert fates(judged) == [(id, True, "not scored, kept") for id in "abc"]
    assert judged.notes.degraded == ("judge: is down; 3 chunks were not scored",)
    assert judged.notes.facts["unscored"] == 3
    scorer = Given({"a": 0.9, "b": 0.5, "c": 0.1}, notes=Notes(("judge: slow",), unreadable=1))
    judged = ScoringJudge(scorer, FromModel(ScriptedModel(["?", "?"]), Statistical()))(ASKED, hits)
    assert (judged.notes.unreadable, judged.notes.degraded[0]) == (3, "judge: slow")
    assert "threshold could not be read" in judged.notes.degraded[1]


# --- with the retrieval's order ---------------------------------------------------------------------------------------


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


def test_the_order_is_log_odds_less_the_weighted_logarithm_of_the_rank(make_hit: Make) -> None:
    # a: log(.5 / .5) - log 1 = 0; b: log(.75 / .25) - log 2 = .405; c: log(.75 / .25) - log 3 = 0
    hits = [make_hit(id, 1.0) for id in "abcd"]
    result = RankedJudge(giving(a=0.5, b=0.75, c=0.74, d=None), 1.0, 10)(ASKED, hits)
    assert [hit.chunk.id for hit in result.kept] == ["b", "a", "c", "d"]
    assert result.kept[0].score.value == pytest.approx(0.6)
    assert {hit.score.scale for hit in result.kept} == {JOINED}
    assert [hit.scores["rank"].value for hit in result.kept] == [2, 1, 3, 4]
    assert result.notes.facts == {"scorer": "given"}


def test_a_probability_of_0_or_1_is_bounded(make_hit: Make) -> None:
    result = RankedJudge(giving(a=1.0, b=1.0), 0.5, 10)(ASKED, [make_hit(id, 1.0) for id in "ab"])
    assert [hit.chunk.id for hit in result.kept] == ["a", "b"]
    assert all(0 < hit.score.value < 1 for hit in result.kept)


def test_a_score_of_a_hit_may_count_in_the_order(make_hit: Make) -> None:
    plain, marked = make_hit("a", 1.0), replace(make_hit("b", 0.9), scores={"introduces": Score(1.0, UNIT)})
    result = RankedJudge(giving(a=0.6, b=0.5), 0.5, 10, added=("introduces", 1.4))(ASKED, [plain, marked])
    assert [hit.chunk.id for hit in result.kept] == ["b", "a"]


def test_only_the_best_are_judged_the_others_follow_and_the_dropped_come_last(make_hit: Make) -> None:
    hits = [make_hit(id, 1 - number / 10) for number, id in enumerate("abcd")]
    result = RankedJudge(giving(a=0.0, b=0.5), 0.5, 2)(ASKED, hits)
    assert [(one.hit.chunk.id, one.hit.rank, one.keep) for one in result.judgements] == [
        ("b", 1, True),
        ("c", 2, True),
        ("d", 3, True),
        ("a", 4, False),
    ]
    assert [one.reason for one in result.judgements[1:]] == ["not judged: behind the best 2"] * 2 + ["read"]


TWO = "Who wrote it, and when was it printed?"


@pytest.mark.parametrize(
    ("best", "query", "judged"),
    [
        (0.9, Query("q", "q", 2), "a"),  # .9 is enough of one
        (0.6, Query("q", "q", 2), "ab"),  # .6 is enough of two
        (0.4, Query("q", "q", 2), "abcd"),  # .4 is not
        (0.9, Query("q", "q", 3), "abcd"),  # more results are wanted than the last stage judges
        (0.9, Query(TWO, TWO, 2), "abcd"),  # what answers one part says nothing of the other
    ],
)
def test_those_behind_are_judged_where_the_first_are_not_enough(
    make_hit: Make, best: float, query: Query, judged: str
) -> None:
    hits = [make_hit(id, 1.0) for id in "abcde"]
    result = RankedJudge(giving(a=best, b=0.3, c=0.2, d=0.99), 0.0, 4, ((1, 0.8), (2, 0.5)))(query, hits)
    assert "".join(sorted(one.hit.chunk.id for one in result.judgements if one.reason == "read")) == judged
    assert [hit.rank for hit in result.kept] == [1, 2, 3, 4, 5]
    assert result.kept[0].chunk.id == ("d" if "d" in judged else "a")
    assert result.judgements[-1].reason == f"not judged: behind the best {len(judged)}"


# --- in the order of a cross-encoder ----------------------------------------------------------------------------------

TEXTS = {"a": "nothing alike", "b": "red green", "c": "red green blue", "d": "green red", "x": "red green blue"}


@pytest.fixture
def coloured(make_hit: Make) -> list[Hit]:
    return [make_hit(id_, 0.9, rank, text=text) for rank, (id_, text) in enumerate(TEXTS.items(), start=1)]


ALL_BUT_X = giving(**dict.fromkeys("abcd", 0.5), x=0.0)
COLOURS = Query("a question", "red green blue")


def test_what_was_kept_stands_in_the_order_of_the_cross_encoder_and_ties_keep_theirs(coloured: list[Hit]) -> None:
    judged = RerankedJudge(ALL_BUT_X, OverlapCrossEncoder())(COLOURS, coloured)
    assert [(one.hit.chunk.id, one.hit.rank, one.keep) for one in judged.judgements] == [
        *(("c", 1, True), ("b", 2, True), ("d", 3, True), ("a", 4, True)),
        ("x", 5, False),
    ]
    assert judged.notes.facts == {"scorer": "given", "reranker": "word overlap"}
    assert (judged.kept[0].score.value, set(judged.kept[0].scores)) == (1.0, {"dense", "rerank"})


@pytest.mark.parametrize("error", [ProviderError("out of order", subject="r"), BudgetSpent("the budget is spent")])
def test_a_cross_encoder_that_fails_leaves_them_as_they_were_and_says_so(coloured: list[Hit], error: Exception) -> None:
    class Failing(OverlapCrossEncoder):
        def __call__(self, question: str, texts: Sequence[str]) -> list[Score]:
            raise error

    judged = RerankedJudge(ALL_BUT_X, Failing())(COLOURS, coloured)
    assert [hit.chunk.id for hit in judged.kept] == list("abcd")
    assert judged.notes.degraded == (f"judge: {error}; the order of the scores was kept",)
    assert RerankedJudge(ALL_BUT_X, Failing())(COLOURS, []).kept == ()
