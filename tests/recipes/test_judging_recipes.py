"""The recipes that judge, end to end: with nothing but what is installed, and with a chat model over HTTP."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.recipes.scripting import Judge, holding, stages, using
from thresher import recipes
from thresher.answer import Answer
from thresher.collection import Collection
from thresher.errors import Degraded
from thresher.types import Verdict
from thresher_methods.ecrag import EXTRACTED, NOT_SUMMARISED
from thresher_testing.llm_server import ScriptedServer

Serve = Callable[..., ScriptedServer]
QUESTION = "When was the Kõpu lighthouse built?"
RIGHT = "The Kõpu lighthouse was built in 1531."
JUDGING = [name for name in recipes.names() if name.startswith(("crag", "ecrag", "chunkrag", "corrective"))]

NO_MODEL = "no chat model is configured (llm.base_url, llm.model)"
LOCAL = f"judge: {NO_MODEL}; the local judge scored"
STAND_IN = "judge: the fine-tuned T5 evaluator is not there; twice the {} minus one stands in for it"
QUOTED = f"generate: {NO_MODEL}; answered by quoting"
AS_ASKED = f"rewrite: {NO_MODEL}; the question was searched as asked"
STAGES = f"judge: {NO_MODEL}; reflection and critic were left out"
COMPUTED = f"judge: {NO_MODEL}; the threshold is from the mean of the scores"

OFFLINE: dict[str, list[str]] = {
    "corrective": [QUOTED],
    "crag": [LOCAL, QUOTED],
    "crag-paper": [LOCAL, QUOTED, STAND_IN.format("local")],
    "crag-code": [LOCAL, QUOTED, STAND_IN.format("local")],
    "ecrag": [EXTRACTED, QUOTED],
    "ecrag-literal": [EXTRACTED, QUOTED],
    "chunkrag": [AS_ASKED, LOCAL, STAGES, QUOTED],
    "chunkrag-v1": [AS_ASKED, LOCAL, STAGES, COMPUTED, QUOTED],
}
"""What each recipe does without when nothing is configured."""

ONLINE: dict[str, list[str]] = {
    "crag-paper": [STAND_IN.format("relevance")],
    "crag-code": [STAND_IN.format("relevance")],
    "ecrag": [NOT_SUMMARISED],
    "ecrag-literal": [NOT_SUMMARISED],
}
"""What it does without when there is a chat model and nothing else."""

ASKED: dict[str, list[str]] = {
    "corrective": ["answer"],
    "crag": ["relevance", "relevance", "answer"],
    "crag-paper": ["relevance", "relevance", "answer"],
    "crag-code": ["relevance", "relevance", "answer"],
    "ecrag": ["answer"],
    "ecrag-literal": ["answer"],
    "chunkrag": ["rewrite", "relevance", "reflection", "critic", "answer"],
    "chunkrag-v1": ["rewrite", "relevance", "reflection", "critic", "threshold", "answer"],
}
"""What the chat model is asked for, in order: chunks, then strips; the local judge is sure of its question here."""

CERTAIN: dict[str, dict[str, Any]] = {"corrective": {"lower": 0.5, "upper": 0.5}}


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The lighthouse in a text that is long enough for subchunks as they were printed, among others."""
    towers = [
        "Pharos of Alexandria fell in an earthquake",
        "Tower of Hercules was a gift of Trajan",
        "light of Genoa had Antonio Colombo as its keeper",
    ]
    ships = (
        "pass it in the morning on their way to the old harbour, which lies in the east of the bay behind the island"
    )
    more = " ".join(f"Ships of the line number {at} {ships}." for at in range(3))
    texts = {"kopu": f"{RIGHT} It stands on the island of Hiiumaa. {more}"}
    texts |= {str(at): f"The {tower}. {more.replace('harbour', f'port {at}')}" for at, tower in enumerate(towers)}
    with holding(tmp_path_factory.mktemp("filled"), texts, "rag") as collection:
        yield collection


def ask(collection: Collection, recipe: str, settings: dict[str, Any] | None = None, **more: Any) -> Answer:
    return collection.ask(QUESTION, recipe=recipe, settings={**CERTAIN.get(recipe, {}), **(settings or {})}, **more)


@pytest.mark.parametrize("recipe", JUDGING)
def test_a_recipe_answers_with_nothing_configured_and_says_what_it_did_without(filled: Collection, recipe: str) -> None:
    answer = ask(filled, recipe)
    assert not answer.abstained
    assert "1531" in answer.text
    assert answer.citations[0].quote.startswith(RIGHT)
    assert list(answer.degraded) == OFFLINE[recipe]
    assert answer.verdict == (None if recipe.startswith("chunkrag") else Verdict.CORRECT)
    assert (answer.usage.llm_calls, answer.usage.hosts) == (0, ())
    dropped = [fate for fate in answer.chunks if not fate.kept]
    assert all(fate.dropped_by and fate.reason and fate.hit.scores for fate in dropped)
    again = ask(filled, recipe)
    assert (again.text, again.chunks, again.trace) == (answer.text, answer.chunks, answer.trace)
    with pytest.raises(Degraded, match=r"no chat model is configured") as caught:
        ask(filled, recipe, strict=True)
    assert all(lack in str(caught.value) for lack in OFFLINE[recipe] if "T5" not in lack)


@pytest.mark.parametrize("recipe", JUDGING)
def test_a_recipe_answers_with_a_chat_model(filled: Collection, serve: Serve, recipe: str) -> None:
    server = serve(Judge(answer=lambda question, pieces: f"{RIGHT[:-1]} [{_holding('1531', pieces)}]."))
    answer = ask(filled, recipe, using(server))
    assert answer.text == f"{RIGHT} [1]"
    assert answer.citations[0].quote == RIGHT
    assert list(answer.degraded) == ONLINE.get(recipe, [])
    assert stages(server) == ASKED[recipe]
    assert answer.usage.llm_calls == len(stages(server))
    assert answer.usage.hosts == (server.host,)
    before = len(server.requests)
    found = filled.search(QUESTION, recipe=recipe, settings={**CERTAIN.get(recipe, {}), **using(server)})
    assert RIGHT in found.hits[0].chunk.text
    assert [hit.rank for hit in found.hits] == list(range(1, len(found.hits) + 1))
    assert {"answer", "check", "words"}.isdisjoint(stages(server)[before:])


@pytest.mark.parametrize("recipe", JUDGING)
def test_strict_is_content_with_all_that_a_recipe_names(filled: Collection, serve: Serve, recipe: str) -> None:
    server = serve(Judge())
    more: dict[str, Any] = {"rerank": server.rerank_url} if recipe.startswith("chunkrag") else {}
    if recipe.startswith("ecrag"):
        more = {"summary": "extractive"}  # the model's are made by `index`
    if recipe in ("crag-paper", "crag-code"):
        with pytest.raises(Degraded, match="T5"):
            ask(filled, recipe, using(server), strict=True)
        more = {"judge": server.rerank_url}
    assert ask(filled, recipe, {**using(server), **more}, strict=True).degraded == ()


@pytest.mark.parametrize("recipe", ["crag", "ecrag", "corrective", "chunkrag"])
def test_an_empty_retrieval_is_incorrect_and_abstains(collection: Collection, recipe: str) -> None:
    answer = collection.ask(QUESTION, recipe=recipe, where="page = 7")
    verdict = None if recipe == "chunkrag" else Verdict.INCORRECT
    assert (answer.verdict, answer.abstained, answer.chunks) == (verdict, True, ())


def test_a_search_gives_as_many_as_are_wanted(tmp_path: Path) -> None:
    texts = {str(at): f"The lighthouse of harbour {at} was built in {1500 + at}." for at in range(12)}
    with holding(tmp_path, texts, "rag") as collection:
        for recipe in ("ecrag", "crag", "chunkrag", "corrective"):
            settings = {"ecrag": {"kdm.cut": 0}, "crag": {"lower": 0}, "chunkrag": {"threshold": "none"}}.get(
                recipe, {"lower": 0, "dedup.threshold": 1}
            )
            settings |= {"dedup.threshold": 1} if recipe == "chunkrag" else {}
            hits = collection.search("lighthouse harbour", recipe=recipe, limit=11, settings=settings).hits
            assert len(hits) == 11, recipe


def _holding(word: str, pieces: list[str]) -> int:
    return next(at for at, piece in enumerate(pieces, start=1) if word in piece)
