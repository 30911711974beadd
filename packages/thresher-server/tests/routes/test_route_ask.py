"""Questions over HTTP, plain and as events."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.servers.own import Running, copied, running
from tests.servers.own_api import DEFAULT, QUESTION, events, with_key
from thresher_server.security.keys import Scope
from thresher_testing.llm_server import Reply, ScriptedServer


def asked(one: Running, **more: Any) -> httpx.Response:
    return one.client.post(f"{DEFAULT}/ask", json={**QUESTION, **more})


def model(server: ScriptedServer) -> dict[str, Any]:
    return {"llm.base_url": server.base_url, "llm.model": "scripted"}


def streamed(one: Running, **more: Any) -> list[tuple[str, Any]]:
    with one.client.stream("POST", f"{DEFAULT}/ask", json={**QUESTION, "stream": True, **more}) as reply:
        assert reply.status_code == 200
        assert reply.headers["content-type"].startswith("text/event-stream")
        return list(events(reply))


def steps_of(told: list[tuple[str, Any]]) -> dict[str, Any]:
    return {data["name"]: data for name, data in told if name == "step"}


def test_an_answer_comes_whole_or_as_events_in_order(served: Running) -> None:
    whole = asked(served).json()
    assert (whole["abstained"], whole["verdict"]) == (False, "correct")
    (cited,) = whole["citations"]
    assert cited["quote"] == "The lighthouse of Fernby was built in 1849. Its lamp was rebuilt in 1902 by Ada Holm."
    assert cited["url"].startswith(f"{served.url}/d/default/")
    assert "chunks" not in whole
    told = streamed(served)
    assert [name for name, _ in told] == ["step"] * 8 + ["sentence", "answer"]
    slots = ["rewrite", "retrieve", "judge", "decide", "correct", "refine", "generate", "verify"]
    assert list(steps_of(told)) == [step["name"] for step in whole["steps"]] == slots
    assert told[-1][1]["text"] == told[-2][1]["text"] == whole["text"]
    assert "**The lighthouse of Fernby was built in 1849.**" in whole["text"]
    assert told[-1][1]["trace"] == whole["trace"]


@pytest.mark.parametrize(
    ("question", "told"), [("Summarise rail.md", "An outline of “The railway”"), ("Thanks!", "You are welcome.")]
)
def test_what_is_told_without_a_search_is_explained_and_replayed(served: Running, question: str, told: str) -> None:
    *steps, (_, sentence), (_, answer) = streamed(served, question=question)
    assert (len(steps), sentence["text"]) == (8, answer["text"])
    assert answer["text"].startswith(told)
    trace = f"{DEFAULT}/traces/{answer['trace']}"
    assert served.client.get(trace).json()["question"] == question
    assert served.client.post(f"{trace}/replay").json()["differences"] == []


def test_steps_tell_the_fate_of_each_chunk(served: Running) -> None:
    with served.client.stream(
        "POST", f"{DEFAULT}/ask", json=QUESTION, headers={"Accept": "text/event-stream"}
    ) as reply:
        steps = steps_of(list(events(reply)))
    judged = steps["judge"]["chunks"]
    assert len(judged) == 4
    best = max(judged, key=lambda chunk: chunk["score"])
    assert (best["title"], best["kept"], best["scale"]) == ("The lighthouse", True, "probability [0, 1]")
    assert best["probability"] == best["score"]
    thresholds = steps["decide"]["thresholds"]
    assert 0 < thresholds["lower"] < thresholds["upper"] < best["score"]
    assert not all(chunk["kept"] for chunk in judged)
    assert [chunk["id"] for chunk in steps["refine"]["chunks"]] == [chunk["id"] for chunk in judged]
    assert "chunks" not in steps["generate"]


def test_a_verdict_throws_away_what_the_judge_kept(served: Running) -> None:
    told = streamed(served, question="Who painted the ceiling of the chapel in Rome?")
    decided = steps_of(told)["decide"]
    assert decided["detail"]["verdict"] == "incorrect"
    assert not any(chunk["kept"] for chunk in decided["chunks"])
    assert told[-1][1]["abstained"] is True


def test_what_is_refused_at_once_has_its_status_streamed_or_not(served: Running) -> None:
    for stream in (True, False):
        assert asked(served, stream=stream, recipe="nothing").status_code == 422
        assert asked(served, stream=stream, outside="collection:nothing").status_code == 422
        assert asked(served, stream=stream, where="titel = 'x'").status_code == 422
        assert asked(served, stream=stream, conversation="0" * 16).status_code == 404


def test_an_error_in_the_middle_is_an_event(served: Running) -> None:
    with ScriptedServer([Reply(status=500)] * 40) as chat:
        told = streamed(served, strict=True, settings=model(chat))
    assert told[0][0] == "step"
    name, last = told[-1]
    assert (name, last["error"]["status"]) == ("error", 409)
    assert "answer" not in {name for name, _ in told}


def test_settings_that_a_person_may_change_are_heeded_and_others_refused(keyed: Running) -> None:
    key = with_key(keyed.service.home, "asker", Scope.ASK)
    keyed.client.headers.update(key)
    assert asked(keyed, settings={"lower": 0.99, "upper": 0.995}).json()["state"] == "doubtful"
    assert "1849" in asked(keyed, settings={"answer": {"min_confidence": 0.1}}).json()["text"]
    for key_, value in (
        ("llm.base_url", "http://evil.example/v1"),
        ("llm.model", "x"),
        ("encoder", "endpoint:x"),
        ("rerank", "http://evil.example"),
        ("web.base_url", "http://evil.example"),
        ("public_url", "http://evil.example"),
        ("chunk.size", 50),
        ("critic.model", "x"),
        ("reading.seconds", 1),
        ("store", "x"),
        ("judge_model", "/tmp"),
    ):
        told = asked(keyed, settings={key_: value})
        assert told.status_code == 403, (key_, told.text)
        assert key_ in told.json()["error"]["message"]


def test_another_collection_is_looked_in_only_with_a_key_for_it(indexed_home: Path, tmp_path: Path) -> None:
    home = copied(indexed_home, tmp_path)
    key = with_key(home, "asker", Scope.ASK, Scope.READ, collections=["default"])
    with running(home, server__require_key=True, server__admin_key="a" * 32) as one:
        admin = {"X-API-Key": "a" * 32}
        one.client.post("/api/collections", json={"name": "secret"}, headers=admin)
        mine = one.client.post(f"{DEFAULT}/ask", json={**QUESTION, "outside": "collection:secret"}, headers=key)
        theirs = one.client.post(f"{DEFAULT}/ask", json={**QUESTION, "outside": "collection:secret"}, headers=admin)
    assert (mine.status_code, theirs.status_code) == (404, 200)


@pytest.mark.parametrize("stream", [True, False])
def test_a_client_that_goes_ends_its_question(indexed_home: Path, tmp_path: Path, stream: bool) -> None:
    home = copied(indexed_home, tmp_path)
    slow = [Reply("It was built in 1849 [1].", seconds=60.0)] * 4
    with ScriptedServer(slow) as chat, running(home, server__concurrency=1, server__queue=0) as one:
        body = {**QUESTION, "settings": model(chat), "stream": stream}
        with httpx.Client(base_url=one.url, timeout=httpx.Timeout(60, read=None if stream else 1.5)) as other:
            if stream:
                with other.stream("POST", f"{DEFAULT}/ask", json=body):
                    assert chat.wait_for(1)
            else:
                with pytest.raises(httpx.ReadTimeout):
                    other.post(f"{DEFAULT}/ask", json=body)
        while (told := asked(one)).status_code == 429:  # until its place is free, long before the model answers
            pass
        assert told.status_code == 200
        traces = one.client.get(f"{DEFAULT}/traces").json()["traces"]
    assert [trace["trace"] for trace in traces] == [told.json()["trace"]]


def test_a_question_that_takes_too_long_is_ended(indexed_home: Path, tmp_path: Path) -> None:
    home = copied(indexed_home, tmp_path)
    slow = [Reply("It was built in 1849 [1].", seconds=60.0)] * 4
    with ScriptedServer(slow) as chat, running(home, server__timeout_seconds=4.0) as one:
        told = asked(one, settings=model(chat))
    assert told.status_code in (200, 504)  # answered without the model in what is kept back for it, or given up
    assert told.elapsed.total_seconds() < 20
