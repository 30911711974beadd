from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from tests.judging.scoring import ASKED, Given, failing, scores, scoring, shown, values
from thresher.errors import ProviderError, UsageError
from thresher.judging.llm_scorers import Critic, LLMRelevance, MultiStageScorer, Reflection
from thresher.testing.fakes import ScriptedModel
from thresher.types import COSINE, Hit, Notes

Make = Callable[..., Hit]


@pytest.fixture
def hits(make_hit: Make) -> list[Hit]:
    return [make_hit("a", text="alpha"), make_hit("b", text="beta")]


def without(text: str) -> ScriptedModel:
    """Gives 0.3, and nothing readable where a text is shown."""
    return ScriptedModel(
        lambda system, user: "?" if text in shown(user) else json.dumps({"scores": [0.3] * len(shown(user))})
    )


def test_the_score_is_the_mean_of_the_three_stages(hits: list[Hit]) -> None:
    base, reflection, critic = (scoring(lambda text, value=value: value) for value in (0.9, 0.6, 0.3))
    scored = MultiStageScorer(LLMRelevance(base), Reflection(reflection), Critic(critic))(ASKED, hits)
    assert values(scored.scores) == [0.6, 0.6]
    assert [{name: score.value for name, score in others.items()} for others in scored.others] == [
        {"base": 0.9, "reflection": 0.6, "critic": 0.3}
    ] * 2
    assert scored.notes.unreadable == 0
    assert set(scored.notes.facts["stages"]) == {"base", "reflection", "critic"}


def test_three_times_the_same_score_is_that_score(hits: list[Hit]) -> None:
    model = scoring(lambda text: 0.7)
    scored = MultiStageScorer(LLMRelevance(model), Reflection(model), Critic(model))(ASKED, hits)
    assert values(scored.scores) == [0.7, 0.7]


def test_weights_count_by_their_ratios(hits: list[Hit]) -> None:
    base, critic = scoring(lambda text: 1.0), scoring(lambda text: 0.0)
    scorer = MultiStageScorer(LLMRelevance(base), None, Critic(critic), weights=(3, 5, 1))
    assert values(scorer(ASKED, hits).scores) == [0.75, 0.75]


@pytest.mark.parametrize(("batch", "calls"), [(1, 20), (20, 1)])
def test_each_stage_takes_its_own_calls(make_hit: Make, batch: int, calls: int) -> None:
    twenty = [make_hit(f"c{n}", text=f"number {n}") for n in range(20)]
    models = [scoring() for _ in range(3)]
    MultiStageScorer(
        LLMRelevance(models[0], batch=batch), Reflection(models[1], batch=batch), Critic(models[2], batch=batch)
    )(ASKED, twenty)
    assert [len(model.seen) for model in models] == [calls] * 3


def test_a_stage_that_could_not_be_read_is_left_out_of_that_chunks_mean(hits: list[Hit]) -> None:
    scorer = MultiStageScorer(LLMRelevance(scoring(lambda text: 0.9)), Reflection(without("alpha")), None)
    scored = scorer(ASKED, hits)
    assert values(scored.scores) == [0.9, 0.6]
    assert set(scored.others[0]) == {"base"}
    assert scored.notes.unreadable == 4  # both chunks together, then the one alone, twice each


def test_a_base_score_that_could_not_be_read_leaves_the_critics(hits: list[Hit]) -> None:
    scorer = MultiStageScorer(LLMRelevance(without("alpha")), Reflection(scoring()), Critic(scoring(lambda text: 0.8)))
    assert values(scorer(ASKED, hits).scores) == [0.8, round((0.3 + 0.5 + 0.8) / 3, 12)]


def test_a_chunk_that_no_stage_could_score_has_none(hits: list[Hit]) -> None:
    model = without("alpha")
    scored = MultiStageScorer(LLMRelevance(model), Reflection(model), Critic(model))(ASKED, hits)
    assert values(scored.scores) == [None, 0.3]
    assert scored.others[0] == {}


def test_a_chunk_whose_base_call_failed_is_not_asked_about_again(hits: list[Hit]) -> None:
    later = scoring()
    scored = MultiStageScorer(LLMRelevance(failing(ProviderError("is down"))), Reflection(later), Critic(later))(
        ASKED, hits
    )
    assert later.seen == []
    assert scored.scores == (None, None)
    assert scored.failed == (0, 1)
    assert scored.notes.degraded == ("judge: is down; 2 chunks were not scored",)


def test_a_later_stage_that_fails_leaves_the_mean_of_the_others(hits: list[Hit]) -> None:
    scorer = MultiStageScorer(LLMRelevance(scoring()), None, Critic(failing(ProviderError("is down"))))
    scored = scorer(ASKED, hits)
    assert values(scored.scores) == [0.5, 0.5]
    assert scored.notes.degraded == ("judge: is down; 2 chunks were not seen by the critic",)
    assert scored.failed == ()


def test_scores_stay_with_their_chunks_when_some_were_not_asked_about(make_hit: Make) -> None:
    hits = [make_hit(id, text=id) for id in "abc"]
    base = Given({"a": 0.1, "b": None, "c": 0.9}, notes=Notes(("judge: x",)), failed=(1,))
    seen: list[list[float]] = []

    def stage(query, hits, earlier):  # type: ignore[no-untyped-def]
        seen.append(values(earlier["base"]))
        return Given({"a": 0.3, "c": 0.7})(query, hits)

    scored = MultiStageScorer(base, stage, None)(ASKED, hits)
    assert seen == [[0.1, 0.9]]
    assert scored.scores == scores(0.2, None, 0.8)


@pytest.mark.parametrize("weights", [(0, 0, 0), (1, -1, 1)])
def test_weights_must_weigh_something(weights: tuple[float, float, float]) -> None:
    with pytest.raises(UsageError, match="negative"):
        MultiStageScorer(LLMRelevance(scoring()), None, None, weights=weights)


def test_stages_of_different_scales_are_refused() -> None:
    with pytest.raises(UsageError, match="cosine"):
        MultiStageScorer(Given({}, scale=COSINE), None, None)
