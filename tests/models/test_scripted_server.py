from __future__ import annotations

from collections.abc import Callable

import httpx
import pytest

from thresher.models.scripted_server import Reply, ScriptedServer

Serve = Callable[..., ScriptedServer]
ASKED = {"model": "m", "messages": [{"role": "user", "content": "one two"}]}


def said(reply: httpx.Response) -> str:
    return str(reply.json()["choices"][0]["message"]["content"])


def test_replies_come_in_order_and_the_last_one_stays(serve: Serve) -> None:
    server = serve("a", "b")
    url = f"{server.base_url}/chat/completions"
    assert [said(httpx.post(url, json=ASKED)) for _ in range(3)] == ["a", "b", "b"]
    assert [request.body for request in server.asked()] == [ASKED] * 3


def test_a_status_and_a_body_are_sent_as_they_are(serve: Serve) -> None:
    server = serve(Reply(status=429, headers={"Retry-After": "7"}), Reply(body="<html>"))
    url = f"{server.base_url}/chat/completions"
    first, second = httpx.post(url, json=ASKED), httpx.post(url, json=ASKED)
    assert (first.status_code, first.headers["retry-after"]) == (429, "7")
    assert (second.status_code, second.text) == (200, "<html>")


def test_a_dropped_connection_is_dropped(serve: Serve) -> None:
    server = serve(Reply(dropped=True))
    with pytest.raises(httpx.RemoteProtocolError):
        httpx.post(f"{server.base_url}/chat/completions", json=ASKED)


def test_embeddings_are_one_for_each_text(serve: Serve) -> None:
    reply = httpx.post(f"{serve().base_url}/embeddings", json={"model": "m", "input": ["a", "b"]})
    assert [row["index"] for row in reply.json()["data"]] == [0, 1]


def test_rankings_are_best_first(serve: Serve) -> None:
    reply = httpx.post(serve().rerank_url, json={"query": "red", "documents": ["blue", "red"], "top_n": 1})
    assert reply.json()["results"] == [{"index": 1, "relevance_score": 1.0}]


def test_another_path_is_not_there(serve: Serve) -> None:
    assert httpx.post(f"{serve().address}/elsewhere", json={}).status_code == 404


def test_waiting_ends_when_the_requests_have_come(serve: Serve) -> None:
    server = serve("a")
    assert not server.wait_for(1, seconds=0.01)
    httpx.post(f"{server.base_url}/chat/completions", json=ASKED)
    assert server.wait_for(1, seconds=5)


def test_a_waiting_reply_does_not_hold_up_the_end() -> None:
    with ScriptedServer([Reply(seconds=3600)]) as server, pytest.raises(httpx.ReadTimeout):
        httpx.post(f"{server.base_url}/chat/completions", json=ASKED, timeout=0.1)
    assert len(server.requests) == 1
