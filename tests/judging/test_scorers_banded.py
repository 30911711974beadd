from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from tests.judging.scoring import ASKED, Given, failing, scoring, values
from thresher.errors import ProviderError
from thresher.judging.judge import ScoringJudge
from thresher.judging.llm_scorers import LLMRelevance
from thresher.judging.model_weight import ModelWeight
from thresher.judging.scorers import BandedScorer
from thresher.judging.thresholds import Fixed
from thresher.testing.fakes import ScriptedModel
from thresher.types import PROBABILITY, Chunk, Hit, Score, Scores

Make = Callable[..., Hit]
LOCAL = {"a": 0.95, "b": 0.6, "c": 0.3, "d": 0.29}


def hits(ids: Sequence[str]) -> list[Hit]:
    return [Hit(Chunk(id_, "d", "d.txt", "", 0, 1, id_), Score(0.5, PROBABILITY), 1) for id_ in ids]


def banded(second: Any, *, local: dict[str, float | None] = LOCAL, **more: Any) -> tuple[BandedScorer, Given]:  # type: ignore[assignment]
    first = Given(local, name="local", scale=PROBABILITY)
    return BandedScorer(first, second, **{"lower": 0.3, "upper": 0.9, **more}), first


def test_only_what_lies_between_the_bounds_is_asked_about() -> None:
    second = Given({"b": 0.8, "c": 0.1})
    scorer, _ = banded(second)
    scored = scorer(ASKED, hits("abcd"))
    assert second.asked == ["b", "c"]
    assert values(scored.scores) == pytest.approx([0.95, 0.7, 0.3, 0.29])
    assert scored.notes.facts["unsure"] == 2
    assert {score.scale for score in scored.scores if score} == {PROBABILITY}


def test_the_lower_bound_is_in_the_band_and_the_upper_one_is_not() -> None:
    second = Given({"low": 0.5})
    scorer, _ = banded(second, local={"low": 0.3, "high": 0.9})
    scorer(ASKED, hits(["low", "high"]))
    assert second.asked == ["low"]


def test_where_nothing_is_unsure_nobody_is_asked() -> None:
    model = scoring()
    scorer, _ = banded(LLMRelevance(model), local={"a": 0.95, "d": 0.1})
    scored = scorer(ASKED, hits("ad"))
    assert model.seen == []
    assert (values(scored.scores), scored.notes.facts["unsure"]) == ([0.95, 0.1], 0)


def test_both_opinions_stand_beside_the_score() -> None:
    scorer, _ = banded(Given({"b": 0.8, "c": 0.1}))
    told = [{name: score.value for name, score in others.items()} for others in scorer(ASKED, hits("ab")).others]
    assert told == [{"local": 0.95}, {"local": 0.6, "relevance": 0.8}]


def test_a_chunk_the_second_gives_no_score_keeps_its_own() -> None:
    scorer, _ = banded(Given({"b": None, "c": 0.1}))
    assert values(scorer(ASKED, hits("abcd")).scores) == [0.95, 0.6, 0.3, 0.29]


def test_a_chunk_without_a_local_score_is_not_asked_about() -> None:
    second = Given({})
    scorer, _ = banded(second, local={"a": None})
    assert values(scorer(ASKED, hits("a")).scores) == [None]
    assert second.asked == []


@pytest.mark.parametrize(("model", "unreadable"), [(ScriptedModel(lambda system, user: "no idea"), 2)])
def test_replies_that_cannot_be_read_are_counted(model: ScriptedModel, unreadable: int) -> None:
    scorer, _ = banded(LLMRelevance(model))
    scored = scorer(ASKED, hits("ab"))
    assert values(scored.scores) == [0.95, 0.6]
    assert scored.notes.unreadable == unreadable


def test_a_model_that_fails_is_told_and_the_local_scores_stand() -> None:
    scorer, _ = banded(LLMRelevance(failing(ProviderError("out of order", subject="m"))))
    result = ScoringJudge(scorer, Fixed(0.3))(ASKED, hits("abcd"))
    assert [hit.chunk.id for hit in result.kept] == ["a", "b", "c"]
    (lack,) = result.notes.degraded
    assert lack == "judge: m: out of order; 2 chunks were not scored; their local score stands"


@given(some.lists(some.floats(0, 1), max_size=8), some.lists(some.none() | some.floats(0, 1), min_size=8, max_size=8))
def test_what_is_sure_never_changes_and_nothing_crosses_a_bound(local: list[float], second: list[float | None]) -> None:
    names = [str(at) for at in range(len(local))]
    scorer, _ = banded(Given(dict(zip(names, second, strict=False))), local=dict(zip(names, local, strict=True)))
    scored: Scores = scorer(ASKED, hits(names))
    for before, after in zip(local, values(scored.scores), strict=True):
        assert after is not None
        if not 0.3 <= before < 0.9:
            assert after == before
        assert (after < 0.3, after >= 0.9) == (before < 0.3, before >= 0.9)


def test_a_measured_model_counts_as_measured_and_may_turn_a_verdict() -> None:
    weight = ModelWeight("oracle", 1.0, 2.0, 0.0, 100, 0.2, (0.1, 0.3))
    scorer, _ = banded(Given({"b": 0.95, "c": 0.05}), weight=weight)
    scores = values(scorer(ASKED, hits("abcd")).scores)
    assert scores == pytest.approx([0.95, weight.probability(0.6, 0.95), weight.probability(0.3, 0.05), 0.29])
    assert scores[1] > 0.9
    assert scores[2] < 0.3
