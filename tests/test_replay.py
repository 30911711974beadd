"""A stored answer asked again: from what was stored with it, without a network."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import thresher
from tests.recipes.scripting import Judge, using
from thresher.answer import Answer
from thresher.cli.app import main
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


@pytest.mark.parametrize("recipe", RECIPES)
def test_the_same_answer_is_reached_when_the_model_is_gone(home: Path, recipe: str) -> None:
    answer = asked_and_stopped(home, recipe, RECIPES[recipe])
    with thresher.open(home) as collection:
        again, differences = collection.replay(answer.trace)
    assert differences == []
    same(answer, again)
    assert again.usage == answer.usage
    assert again.usage.llm_calls > 0


def test_a_correction_from_another_collection_is_played_back(home: Path) -> None:
    (home / "football.txt").write_text("The football world cup in 1998 was won by France.")
    with ScriptedServer(Judge(words="football 1998")) as server, thresher.open(home) as collection:
        with thresher.open(home, "archive") as archive:
            archive.add(home / "football.txt", recipe="crag")
        settings = using(server)
        answer = collection.ask(OUTSIDE, recipe="crag", outside="collection:archive", settings=settings)
    assert answer.citations[0].source.endswith("football.txt")
    with thresher.open(home) as collection:
        again, differences = collection.replay()
    assert differences == []
    same(answer, again)


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


def test_a_reranker_is_played_back(home: Path) -> None:
    with ScriptedServer() as server, thresher.open(home) as collection:
        settings = {"rerank": server.rerank_url}
        answer = collection.ask(QUESTION, recipe="chunkrag", settings=settings)
    with thresher.open(home) as collection:
        again, differences = collection.replay()
    assert differences == []
    same(answer, again)


def test_an_encoder_behind_an_endpoint_is_played_back(notes: Path, tmp_path: Path) -> None:
    with ScriptedServer() as server, thresher.open(tmp_path / "home") as collection:
        settings = {"encoder": "endpoint:hash", "embeddings.base_url": server.base_url}
        collection.add(notes, recipe="crag", settings=settings)
        answer = collection.ask(QUESTION, recipe="crag", settings=settings)
    with thresher.open(tmp_path / "home") as collection:
        again, differences = collection.replay()
    assert differences == []
    same(answer, again)


def test_a_failing_model_fails_again_in_the_same_words(home: Path) -> None:
    with ScriptedServer([Reply(status=401)]) as server, thresher.open(home) as collection:
        answer = collection.ask(QUESTION, recipe="crag", settings=using(server))
    assert any("401" in lack for lack in answer.degraded)
    with thresher.open(home) as collection:
        again, differences = collection.replay()
    assert differences == []
    same(answer, again)


@pytest.mark.parametrize("budget", [{"budget_calls": 1}, {"budget_tokens": 1}])
def test_a_budget_that_ended_a_question_ends_it_again(home: Path, budget: dict[str, int]) -> None:
    with ScriptedServer(Judge()) as server, thresher.open(home) as collection:
        answer = collection.ask(QUESTION, recipe="crag", settings=using(server), **budget)
    with thresher.open(home) as collection:
        again, differences = collection.replay()
    assert differences == []
    same(answer, again)


def test_without_a_model_there_is_nothing_to_play_back_and_the_answer_is_the_same(home: Path) -> None:
    with thresher.open(home) as collection:
        answer = collection.ask(QUESTION)
        again, differences = collection.replay()
    assert differences == []
    same(answer, again)


def test_the_settings_around_it_do_not_count_any_more(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answer = asked_and_stopped(home, "crag", {})
    monkeypatch.setenv("THRESHER_LLM__MODEL", "another")
    (home / "thresher.toml").write_text("upper = 0.99\n")
    with thresher.open(home) as collection:
        again, differences = collection.replay(answer.trace)
    assert differences == []
    same(answer, again)


def test_a_trace_of_a_warm_collection_is_played_back_in_a_cold_one(home: Path) -> None:
    """From the second question on the table is in memory, where cosines are rounded otherwise."""
    with thresher.open(home) as collection:
        for _ in range(3):
            answer = collection.ask(QUESTION)
    with thresher.open(home) as collection:
        again, differences = collection.replay()
    assert differences == []
    same(answer, again)


def test_a_replay_leaves_the_stored_trace_as_it_is(home: Path) -> None:
    answer = asked_and_stopped(home, "crag", {})
    with thresher.open(home) as collection:
        file = collection.folder / "traces" / f"{answer.trace}.json"
        before = file.read_bytes()
        again, _ = collection.replay(answer.trace)
        assert file.read_bytes() == before
    assert again.trace == answer.trace


def changed(home: Path) -> Collection:
    """The collection with another document, which is found for the question."""
    (home / "new.txt").write_text("The Kõpu lighthouse was built by the Hanseatic League, as everybody knows.")
    collection = thresher.open(home)
    collection.add(home / "new.txt", recipe=["crag", "rag"])
    return collection


def test_a_changed_collection_asks_what_was_not_recorded_and_says_so(home: Path) -> None:
    asked_and_stopped(home, "crag", {})
    with (
        changed(home) as collection,
        pytest.raises(NotRecorded, match="the documents, the settings or Thresher itself"),
    ):
        collection.replay()


def test_a_changed_collection_that_asks_nothing_shows_what_differs(home: Path) -> None:
    with thresher.open(home) as collection:
        collection.ask(QUESTION, recipe="rag")
    with changed(home) as collection:
        _, differences = collection.replay()
    assert "chunks" in differences


def test_a_trace_of_an_older_version_is_refused_in_words(home: Path) -> None:
    answer = asked_and_stopped(home, "crag", {})
    with thresher.open(home) as collection:
        file = collection.folder / "traces" / f"{answer.trace}.json"
        stored = json.loads(file.read_text(encoding="utf-8"))
        del stored["asking"]
        file.write_text(json.dumps(stored), encoding="utf-8")
        assert collection.traces.load(answer.trace)["text"] == answer.text
        with pytest.raises(UsageError, match=r"a version that kept no replies; ask the question again"):
            collection.replay(answer.trace)


def test_an_outside_collection_that_is_gone_is_an_error_in_words(home: Path) -> None:
    with thresher.open(home) as collection, thresher.open(home, "archive") as archive:
        (home / "x.txt").write_text("Tennis is played on grass.")
        archive.add(home / "x.txt", recipe="corrective")
        collection.ask(OUTSIDE, outside="collection:archive")
        (home / "collections" / "archive").rename(home / "moved")
    with thresher.open(home) as collection, pytest.raises(UsageError, match="holds no documents"):
        collection.replay()


def test_no_prompt_and_no_key_stands_in_the_record(home: Path) -> None:
    answer = asked_and_stopped(home, "chunkrag", {"llm.api_key": "s3cret"})
    stored = (home / "collections" / "default" / "traces" / f"{answer.trace}.json").read_text(encoding="utf-8")
    assert "s3cret" not in stored
    assert "You judge how relevant" not in stored


# --- the command ------------------------------------------------------------------------------------------------------


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as ended:
        main([str(argument) for argument in arguments])
    written = capsys.readouterr()
    return int(ended.value.code or 0), written.out, written.err


def test_explain_replays_and_says_that_the_answer_is_the_same(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    answer = asked_and_stopped(home, "chunkrag", {})
    code, out, err = run(capsys, "explain", "--replay", "--home", home, "--json")
    assert (code, err) == (0, "the replay reached the stored answer\n")
    told = json.loads(out)
    assert (told["text"], told["trace"], len(told["chunks"])) == (answer.text, answer.trace, len(answer.chunks))
    code, out, _ = run(capsys, "explain", answer.trace, "--replay", "--home", home)
    assert (code, QUESTION in out) == (0, True)


def test_explain_says_what_a_changed_collection_changed(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with thresher.open(home) as collection:
        collection.ask(QUESTION, recipe="rag")
    changed(home).close()
    code, _, err = run(capsys, "explain", "last", "--replay", "--home", home)
    assert code == 1
    assert err.startswith("thresher: the replay differs from the stored answer in: ")


def test_explain_says_what_cannot_be_played_back(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked_and_stopped(home, "crag", {})
    changed(home).close()
    code, out, err = run(capsys, "explain", "--replay", "--home", home)
    assert (code, out, err.count("\n")) == (1, "", 1)
    assert "ask the question anew" in err
