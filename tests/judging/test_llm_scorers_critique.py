from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.judging.scoring import CHUNK, failing, scores, scoring, values
from thresher.errors import ProviderError
from thresher.judging.llm_scorers import Critic, Reflection
from thresher.types import Hit, Query

ASKED = Query("Who won the cup in 2019?", "cup winner 2019")


@pytest.fixture
def hits(make_hit: Callable[..., Hit]) -> list[Hit]:
    return [make_hit("old", text="In 1987 Bern won."), make_hit("new", text="In 2019 Basel won.")]


def test_a_reflection_sees_the_score_it_gave(hits: list[Hit]) -> None:
    model = scoring()
    scored = Reflection(model)(ASKED, hits, {"base": scores(0.8, 0.25)})
    ((_, user),) = model.seen
    first, second = CHUNK.findall(user)
    assert "<your_score>0.8</your_score>" in first
    assert "<your_score>0.25</your_score>" in second
    assert values(scored.scores) == [0.5, 0.5]


def test_a_chunk_without_a_score_is_not_reflected_on(hits: list[Hit]) -> None:
    model = scoring()
    scored = Reflection(model)(ASKED, hits, {"base": scores(None, 0.25)})
    assert values(scored.scores) == [None, 0.5]
    assert len(CHUNK.findall(model.seen[0][1])) == 1


def test_a_critic_sees_the_scores_before_its_own(hits: list[Hit]) -> None:
    model = scoring()
    Critic(model)(ASKED, hits, {"base": scores(0.8, 0.25), "reflection": scores(0.6, None)})
    first, second = CHUNK.findall(model.seen[0][1])
    assert "<earlier_scores>base 0.8, reflection 0.6</earlier_scores>" in first
    assert "<earlier_scores>base 0.25</earlier_scores>" in second


def test_an_independent_critic_sees_no_score(hits: list[Hit]) -> None:
    model = scoring()
    Critic(model, sees_scores=False)(ASKED, hits, {"base": scores(0.8, 0.25), "reflection": scores(0.6, 0.6)})
    assert "0.8" not in model.seen[0][1]
    assert "earlier_scores" not in model.seen[0][1]


def test_a_critic_is_told_how_the_years_compare(hits: list[Hit]) -> None:
    model = scoring()
    Critic(model)(ASKED, hits, {"base": scores(0.8, 0.8)})
    assert "<notes>temporal: years in question: 2019; years in chunk: 1987</notes>" in model.seen[0][1]
    without = scoring()
    Critic(without, heuristics=())(ASKED, hits, {"base": scores(0.8, 0.8)})
    assert "<notes>" not in without.seen[0][1]


def test_a_critic_that_fails_says_what_it_did_not_see(hits: list[Hit]) -> None:
    scored = Critic(failing(ProviderError("is down")))(ASKED, hits, {"base": scores(0.8, 0.8)})
    assert values(scored.scores) == [None, None]
    assert scored.notes.degraded == ("judge: is down; 2 chunks were not seen by the critic",)
