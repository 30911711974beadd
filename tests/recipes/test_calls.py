"""What a question costs: calls to the chat model, how many of them at once, and what a budget leaves of a recipe."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from tests.recipes.scripting import Judge, blocks, holding, stage, stages, user_of, using
from thresher.answer import Answer
from thresher.collection import Collection
from thresher_testing.llm_server import Reply, ScriptedServer

Serve = Callable[..., ScriptedServer]
QUESTION = "Which harbour town has a lighthouse with a green lamp?"
SUBJECTS = """
bees cheese trains violins glass salt wool copper bread clocks
ships kites paper silk tea ink rope candles tin maps
""".split()  # noqa: SIM905 - reads better without forty quotes


@pytest.fixture(scope="module")
def twenty(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Twenty chunks about the same harbour town, no two of which say the same."""
    line = "The harbour town of {0} has a lighthouse with a lamp, and {0} are made there."
    texts = {subject: line.format(subject) for subject in SUBJECTS}
    with holding(tmp_path_factory.mktemp("twenty"), texts, ["rag", "chunkrag", "corrective"]) as collection:
        yield collection


ALL = {"dense.depth": 20, "lexical.depth": 20, "dedup.threshold": 1}
"""All twenty are candidates."""


def ask(collection: Collection, server: ScriptedServer, recipe: str = "chunkrag", **more: Any) -> Answer:
    return collection.ask(QUESTION, recipe=recipe, settings={**ALL, **using(server, **more)})


@pytest.mark.parametrize(
    ("settings", "calls"),
    [
        ({"batch": 1}, 62),
        ({}, 5),
        ({"batch": 1, "threshold": "llm"}, 63),
        ({"threshold": "llm"}, 6),
        ({"batch": 1, "rewrite": False, "combine__critic": 0}, 41),
    ],
    ids=str,
)
def test_calls_of_chunkrag_over_twenty_chunks(
    twenty: Collection, serve: Serve, settings: dict[str, Any], calls: int
) -> None:
    server = serve(Judge(score=lambda question, text: 0.9 if "bees" in text else 0.1))
    answer = ask(twenty, server, **settings)
    assert len(server.requests) == answer.usage.llm_calls == calls
    judge = next(step for step in answer.steps if step.name == "judge")
    assert (judge.considered, judge.kept) == (20, 1)


@pytest.mark.parametrize("concurrency", [1, 4])
def test_calls_for_each_chunk_go_out_together_and_no_more_than_allowed(
    twenty: Collection, serve: Serve, concurrency: int
) -> None:
    judge = Judge(seconds=0.05)
    server = serve(judge)
    ask(twenty, server, batch=1, llm__concurrency=concurrency)
    assert min(2, concurrency) <= judge.together <= concurrency


def test_calls_of_crag_are_one_for_chunks_one_for_strips_and_the_answer(twenty: Collection, serve: Serve) -> None:
    server = serve(Judge())
    settings = using(server, **{"dense.depth": 20})
    twenty.ask(QUESTION, recipe="crag", settings=settings)
    assert Counter(stages(server)) == {"relevance": 2, "answer": 1}


def test_a_chat_model_is_given_three_chunks_where_one_of_them_answers_and_eight_where_all_do(
    twenty: Collection, serve: Serve
) -> None:
    given = []
    for question in ("What does the harbour town of bees have?", "Which harbour towns have a lighthouse?"):
        server = serve(Judge())
        twenty.ask(question, recipe="corrective", settings={**ALL, **using(server)})
        (asked,) = (user_of(request.body) for request in server.asked() if stage(request.body) == "answer")
        given.append(len(blocks("evidence", asked)))
    assert given == [3, 8]


# --- budgets ----------------------------------------------------------------------------------------------------------

RECIPES = ["crag", "crag-paper", "ecrag", "chunkrag", "chunkrag-v1", "corrective"]


def spent(collection: Collection, server: ScriptedServer, recipe: str, **budget: Any) -> Answer:
    settings = using(server) | ({"lower": 0.01, "upper": 0.999} if recipe == "corrective" else {})
    settings |= {"summary": "extractive", "refine.of": "all"} if recipe == "ecrag" else {}
    return collection.ask("Which town has a lighthouse and makes violins?", recipe=recipe, settings=settings, **budget)


@pytest.mark.parametrize("recipe", RECIPES)
@pytest.mark.parametrize("calls", [0, 2])
def test_a_budget_of_calls_ends_a_recipe_with_what_it_has(
    twenty: Collection, serve: Serve, recipe: str, calls: int
) -> None:
    free, counted = serve(Judge()), serve(Judge())
    spent(twenty, free, recipe)  # learns what the server does not take
    full = spent(twenty, free, recipe).usage.llm_calls
    answer = spent(twenty, counted, recipe, budget_calls=calls)
    assert len(counted.requests) == answer.usage.llm_calls == min(calls, full)
    told = [lack for lack in answer.degraded if f"the budget of {calls} model calls is spent" in lack]
    assert bool(told) == (calls < full)
    assert "violins" in answer.text or answer.abstained
    if calls == 0:  # no reason to answer otherwise than by quoting
        for citation in answer.citations:
            assert citation.quote in twenty.document(citation.document_id).text
            assert f"“{citation.quote}”" in answer.text


@pytest.mark.parametrize("recipe", ["crag", "chunkrag", "corrective"])
def test_a_budget_of_tokens_ends_a_recipe_after_the_call_that_used_them_up(
    twenty: Collection, serve: Serve, recipe: str
) -> None:
    server = serve(Judge())
    answer = spent(twenty, server, recipe, budget_tokens=1)
    assert (len(server.requests), answer.usage.llm_calls) == (1, 1)
    assert any("the budget of 1 tokens is spent" in lack for lack in answer.degraded)


@pytest.mark.parametrize("recipe", ["crag", "chunkrag", "corrective"])
def test_a_budget_of_no_seconds_asks_nobody_and_still_ends(twenty: Collection, serve: Serve, recipe: str) -> None:
    server = serve(Judge())
    answer = spent(twenty, server, recipe, budget_seconds=0)
    assert server.requests == []
    assert any("the budget of 0 seconds is spent" in lack for lack in answer.degraded)
    assert answer.steps[-1].name == "verify"


def test_a_slow_model_is_waited_for_no_longer_than_the_seconds_last(twenty: Collection, serve: Serve) -> None:
    server = serve(Reply("late", seconds=60))
    answer = twenty.ask(QUESTION, recipe="crag", settings=using(server), budget_seconds=0.5)
    assert 0 < len(server.requests) <= 2
    assert answer.degraded
    assert sum(step.seconds for step in answer.steps) < 20
