from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from thresher_testing.llm_server import Reply, ScriptedServer

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


def test_embeddings_are_one_for_each_text(serve: Serve) -> None:
    reply = httpx.post(f"{serve().base_url}/embeddings", json={"model": "m", "input": ["a", "b"]})
    assert [row["index"] for row in reply.json()["data"]] == [0, 1]


def test_rankings_are_best_first(serve: Serve) -> None:
    reply = httpx.post(serve().rerank_url, json={"query": "red", "documents": ["blue", "red"], "top_n": 1})
    assert reply.json()["results"] == [{"index": 1, "relevance_score": 1.0}]


def test_waiting_ends_when_the_requests_have_come(serve: Serve) -> None:
    server = serve("a")
    assert not server.wait_for(1, seconds=0.01)
    httpx.post(f"{server.base_url}/chat/completions", json=ASKED)
    assert server.wait_for(1, seconds=5)


def test_a_waiting_reply_does_not_hold_up_the_end() -> None:
    with ScriptedServer([Reply(seconds=3600)]) as server, pytest.raises(httpx.ReadTimeout):
        httpx.post(f"{server.base_url}/chat/completions", json=ASKED, timeout=0.1)
    assert len(server.requests) == 1


def test_a_rule_answers_what_is_asked(serve: Serve) -> None:
    def shout(asked: dict[str, Any]) -> str:
        return str(asked["messages"][-1]["content"]).upper()

    with ScriptedServer(shout) as server:
        assert said(httpx.post(f"{server.base_url}/chat/completions", json=ASKED)) == "ONE TWO"
    in_a_list = serve("first", shout)
    url = f"{in_a_list.base_url}/chat/completions"
    assert [said(httpx.post(url, json=ASKED)) for _ in range(3)] == ["first", "ONE TWO", "ONE TWO"]


def test_pages_are_sent_as_they_are_and_what_is_not_listed_is_not_there(serve: Serve) -> None:
    pages = {
        "/": "<p>Home</p>",
        "/paper.pdf": Reply(body=b"%PDF\xff", headers={"content-type": "application/pdf"}),
        "/gone": Reply("Gone.", status=410),
        "/search?q=red": Reply("red only"),
        "/search": Reply("anything"),
    }
    server = serve(pages=pages)
    with httpx.Client(base_url=server.address) as client:
        home, paper, gone = client.get("/"), client.get("/paper.pdf"), client.get("/gone")
        assert (home.text, home.headers["content-type"]) == ("<p>Home</p>", "text/html; charset=utf-8")
        assert (paper.content, paper.headers.get_list("content-type")) == (b"%PDF\xff", ["application/pdf"])
        assert (gone.status_code, gone.text) == (410, "Gone.")
        assert [client.get(f"/search?q={word}").text for word in ("red", "blue")] == ["red only", "anything"]
        assert client.get("/nowhere").status_code == 404
    assert [(request.path, request.body) for request in server.requests[3:5]] == [
        ("/search?q=red", None),
        ("/search?q=blue", None),
    ]


def test_pages_redirect_drop_and_wait(serve: Serve) -> None:
    pages = {
        "/old": Reply(status=301, headers={"Location": "/new"}),
        "/new": "found",
        "/broken": Reply(dropped=True),
        "/slow": Reply("late", seconds=3600),
    }
    server = serve(pages=pages)
    with httpx.Client(base_url=server.address, follow_redirects=True) as client:
        assert client.get("/old").text == "found"
        with pytest.raises(httpx.RemoteProtocolError):
            client.get("/broken")
        with pytest.raises(httpx.ReadTimeout):
            client.get("/slow", timeout=0.1)
    assert [request.path for request in server.requests] == ["/old", "/new", "/broken", "/slow"]


def test_other_posts_have_replies_and_rules_of_their_own(serve: Serve) -> None:
    posts = {"/search": lambda asked: json.dumps({"results": [asked["query"]]}), "/down": Reply(status=503)}
    server = serve(posts=posts)
    found = httpx.post(f"{server.address}/search", json={"query": "red"})
    assert (found.json(), found.headers["content-type"]) == ({"results": ["red"]}, "application/json")
    assert httpx.post(f"{server.address}/down", json={}).status_code == 503
    assert httpx.get(f"{server.address}/search").status_code == 404
