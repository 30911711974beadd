"""A stored answer asked again: from what was stored with it, without a network."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import thresher
from tests.conftest import Run
from tests.recipes.scripting import Judge, using
from thresher.answer import Answer
from thresher.collection import Collection
from thresher.errors import NotRecorded, UsageError
from thresher_testing.llm_server import Reply, ScriptedServer

Serve = Callable[..., ScriptedServer]
QUESTION = "When was the Kõpu lighthouse built?"
OUTSIDE = "Which country won the football world cup in 1998?"
UNSURE = {"lower": 0.01, "upper": 0.999}
"""The chat model is asked about every chunk, and the question is rewritten."""

RECIPES: dict[str, dict[str, Any]] = {
    "corrective": UNSURE,
    "crag": {},
    "crag-code": {},
    "ecrag": {"summary": "extractive"},
    "chunkrag": {"batch": 1},
    "chunkrag-v1": {},
    "rag": {},
    "no-retrieval": {},
}


def asked_and_stopped(home: Path, recipe: str, settings: dict[str, Any], question: str = QUESTION) -> Answer:
    """An answer of a scripted model whose server is gone when this returns."""
    with ScriptedServer(Judge()) as server, thresher.open(home) as collection:
        answer = collection.ask(question, recipe=recipe, settings={**using(server), **settings})
        assert server.requests
    return answer


def same(one: Answer, other: Answer) -> None:
    """The same answer from the same chunks at the same cost; scores may differ by their rounding."""
    assert (one.text, one.reason, one.verdict, one.degraded) == (
        other.text,
        other.reason,
        other.verdict,
        other.degraded,
    )
    assert one.usage == other.usage
    places = [
        [
            (citation.source, citation.start, citation.end, citation.quote, citation.fetched)
            for citation in answer.citations
        ]
        for answer in (one, other)
    ]
    assert places[0] == places[1]
    fates = [
        [(fate.hit.chunk.id, fate.kept, fate.dropped_by, fate.reason) for fate in answer.chunks]
        for answer in (one, other)
    ]
    assert fates[0] == fates[1]
    for left, right in zip(one.chunks, other.chunks, strict=True):
        values = [{name: score.value for name, score in fate.hit.scores.items()} for fate in (left, right)]
        assert values[0] == pytest.approx(values[1], abs=1e-5)


def replayed(home: Path, answer: Answer) -> None:
    """Asked again, the answer is the same, and its trace stays as it was."""
    with thresher.open(home) as collection:
        file = collection.folder / "traces" / f"{answer.trace}.json"
        before = file.read_bytes()
        again, differences = collection.replay(answer.trace)
        assert file.read_bytes() == before
    assert differences == []
    same(answer, again)


@pytest.mark.parametrize("recipe", RECIPES)
def test_the_same_answer_is_reached_when_the_model_is_gone(
    home: Path, recipe: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = asked_and_stopped(home, recipe, {"llm.api_key": "s3cret", **RECIPES[recipe]})
    assert answer.usage.llm_calls > 0
    monkeypatch.setenv("THRESHER_LLM__MODEL", "another")  # the settings around it count no more
    replayed(home, answer)
    stored = (home / "collections" / "default" / "traces" / f"{answer.trace}.json").read_text(encoding="utf-8")
    assert not any(text in stored for text in ("s3cret", "You judge how relevant"))


def test_a_correction_from_another_collection_is_played_back(home: Path) -> None:
    (home / "football.txt").write_text("The football world cup in 1998 was won by France.")
    with ScriptedServer(Judge(words="football 1998")) as server, thresher.open(home) as collection:
        with thresher.open(home, "archive") as archive:
            archive.add(home / "football.txt", recipe="crag")
        answer = collection.ask(OUTSIDE, recipe="crag", outside="collection:archive", settings=using(server))
    assert answer.citations[0].source.endswith("football.txt")
    replayed(home, answer)
    (home / "collections" / "archive").rename(home / "moved")
    with thresher.open(home) as collection, pytest.raises(UsageError, match="holds no documents"):
        collection.replay()


@pytest.mark.parametrize(
    ("recipe", "replies", "more"),
    [
        ("crag", [Reply(status=401)], {}),  # a failing model fails again in the same words
        ("crag", Judge(), {"budget_calls": 1}),  # a budget ends the question again
        ("crag", Judge(), {"budget_tokens": 1}),
        ("chunkrag", None, {}),  # of a reranker
        ("corrective", None, {}),  # nothing was asked
    ],
)
def test_whatever_became_of_a_question_becomes_of_it_again(
    home: Path, recipe: str, replies: Any, more: dict[str, int]
) -> None:
    with ScriptedServer(replies) if replies else ScriptedServer() as server, thresher.open(home) as collection:
        settings = using(server) if replies else {"rerank": server.rerank_url} if recipe == "chunkrag" else {}
        answer = collection.ask(QUESTION, recipe=recipe, settings=settings, **more)  # type: ignore[arg-type]
    replayed(home, answer)


@pytest.mark.parametrize("working", [True, False])
def test_the_web_is_played_back_also_where_it_failed(home: Path, *, working: bool) -> None:
    rows = [{"url": "http://127.0.0.1:9/x", "title": "Cup", "content": "The world cup in 1998 was won by France."}]
    reply = Reply(json.dumps({"results": rows})) if working else Reply(status=503)
    with ScriptedServer(pages={"/search": reply}) as web, thresher.open(home) as collection:
        settings = {"web.provider": "searxng", "web.base_url": web.address}
        answer = collection.ask(OUTSIDE, recipe="crag", outside="web", settings=settings)
        sent = len(web.requests)
        again, differences = collection.replay(answer.trace)
        assert len(web.requests) == sent
    assert differences == []
    same(answer, again)
    assert again.usage.web_requests == answer.usage.web_requests >= 1


def changed(home: Path) -> Collection:
    """The collection with another document, which is found for the question."""
    (home / "new.txt").write_text("The Kõpu lighthouse was built by the Hanseatic League, as everybody knows.")
    collection = thresher.open(home)
    collection.add(home / "new.txt", recipe=["crag", "rag"])
    return collection


def test_a_changed_collection_shows_what_differs_or_what_was_not_recorded(home: Path, run: Run) -> None:
    answer = asked_and_stopped(home, "crag", {})
    ran = run("explain", "--replay", "--home", home, "--json")
    assert (ran.code, ran.json["text"], ran.err) == (0, answer.text, "the replay reached the stored answer\n")
    with thresher.open(home) as collection:
        collection.ask(QUESTION, recipe="rag")
    with changed(home) as collection:
        assert "chunks" in collection.replay()[1]
        with pytest.raises(NotRecorded, match="the documents, the settings or Thresher itself"):
            collection.replay(answer.trace)
    ran = run("explain", "--replay", "--home", home)
    assert (ran.code, "the replay differs from the stored answer in: " in ran.err) == (1, True)
    ran = run("explain", answer.trace, "--replay", "--home", home)
    assert (ran.code, "ask the question anew" in ran.error) == (1, True)
