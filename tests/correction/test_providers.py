from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime

import pytest

from thresher.correction.providers import (
    SEARXNG_SCALE,
    TAVILY_SCALE,
    Fields,
    ProviderSettings,
    WebSearch,
    brave,
    endpoint,
    searxng,
    tavily,
    web_search,
)
from thresher.errors import BudgetSpent, ProviderError, UnknownSetting, UsageError
from thresher.models.usage import Meter
from thresher.types import Score
from thresher_testing.llm_server import Reply, ScriptedServer

Serve = Callable[..., ScriptedServer]

ROWS = [
    {"url": "https://a.test/1", "title": " One ", "content": "first", "score": 0.9},
    {"url": "javascript:alert(1)", "title": "Bad", "content": "bad", "score": 0.8},
    {"url": "http://b.test/2", "title": None, "content": "x" * 9_000, "score": "high", "raw_content": "the page"},
    {"url": 7},
    "no row",
    {"url": "http://c.test/3"},
]


def searching(kind: str, server: ScriptedServer, meter: Meter, *, timeout_seconds: float = 20.0) -> WebSearch:
    return web_search(kind, ProviderSettings(meter, server.address, "tvly-secret", timeout_seconds))


def answering(kind: str, serve: Serve, reply: str | Reply) -> ScriptedServer:
    return serve(posts={"/search": reply}) if kind == "tavily" else serve(pages={"/search": reply})


both = pytest.mark.parametrize("kind", ["tavily", "searxng"])


@both
def test_results_are_read_bounded_and_those_that_lead_nowhere_left_out(kind: str, serve: Serve, meter: Meter) -> None:
    server = answering(kind, serve, json.dumps({"results": ROWS}))
    results = searching(kind, server, meter)("capital France", limit=5)
    scale = TAVILY_SCALE if kind == "tavily" else SEARXNG_SCALE
    assert [(result.url, result.title, len(result.snippet)) for result in results] == [
        ("https://a.test/1", "One", 5),
        ("http://b.test/2", "", 2_000),
        ("http://c.test/3", "", 0),
    ]
    assert [result.score for result in results] == [Score(0.9, scale), None, None]
    assert all(datetime.fromisoformat(result.fetched).tzinfo for result in results)


@both
def test_only_the_words_are_sent_and_the_request_is_counted(kind: str, serve: Serve, meter: Meter) -> None:
    server = answering(kind, serve, json.dumps({"results": ROWS}))
    search = searching(kind, server, meter)
    assert len(search("capital France", limit=1)) == 1
    (request,) = server.requests
    if kind == "tavily":
        assert request.body == {
            "query": "capital France",
            "search_depth": "basic",
            "max_results": 1,
        }
        assert request.headers["authorization"] == "Bearer tvly-secret"
    else:
        assert request.path == "/search?q=capital+France&format=json"
        assert "authorization" not in request.headers
    assert (meter.usage.web_requests, meter.usage.hosts) == (1, (server.host,))
    assert search.host == server.host


@both
@pytest.mark.parametrize(
    ("reply", "what"),
    [
        (Reply(status=401), "status 401"),
        (Reply(status=403), "status 403"),
        (Reply(status=429), "status 429"),
        (Reply(status=500), "status 500"),
        (Reply(status=302, headers={"Location": "http://elsewhere.test/"}), "status 302"),
        (Reply(""), "not JSON"),
        (Reply("<html>"), "not JSON"),
        (Reply("[" * 100_000), "not JSON"),
        (Reply("[]"), "no results"),
        (Reply("{}"), "no results"),
        (Reply('{"results": 3}'), "no results"),
        (Reply(dropped=True), "cannot be reached"),
        (Reply("x" * 5_000_001), "larger than"),
    ],
)
def test_a_search_that_fails_says_what_and_what_to_do(
    kind: str, serve: Serve, meter: Meter, reply: Reply, what: str
) -> None:
    server = answering(kind, serve, reply)
    with pytest.raises(ProviderError, match=what) as caught:
        searching(kind, server, meter)("w", limit=5)
    assert server.host in caught.value.subject
    assert caught.value.next_step
    assert "tvly-secret" not in str(caught.value)
    assert caught.value.retryable is (reply.status in (200, 429, 500))


@both
def test_a_slow_search_is_given_up(kind: str, serve: Serve, meter: Meter) -> None:
    server = answering(kind, serve, Reply("{}", seconds=60))
    with pytest.raises(ProviderError, match="in time"):
        searching(kind, server, meter, timeout_seconds=0.2)("w", limit=5)


@both
def test_web_down(kind: str, meter: Meter) -> None:
    with ScriptedServer() as gone:
        pass
    with pytest.raises(ProviderError, match="cannot be reached") as caught:
        searching(kind, gone, meter)("w", limit=5)
    assert caught.value.retryable


@both
def test_nothing_is_sent_when_the_seconds_are_spent(kind: str, serve: Serve) -> None:
    server = answering(kind, serve, json.dumps({"results": ROWS}))
    with pytest.raises(BudgetSpent):
        searching(kind, server, Meter(max_seconds=0.0))("w", limit=5)
    assert server.requests == []


@both
def test_finding_nothing_is_no_failure(kind: str, serve: Serve, meter: Meter) -> None:
    assert searching(kind, answering(kind, serve, '{"results": []}'), meter)("w", limit=5) == []


def test_a_searxng_whose_engines_all_turned_it_away_has_failed(serve: Serve, meter: Meter) -> None:
    server = serve(pages={"/search": '{"results": [], "unresponsive_engines": [["google", "CAPTCHA"]]}'})
    with pytest.raises(ProviderError, match="engines"):
        searching("searxng", server, meter)("w", limit=5)


def test_a_searxng_without_json_says_where_to_turn_it_on(serve: Serve, meter: Meter) -> None:
    server = serve(pages={"/search": Reply(status=403)})
    with pytest.raises(ProviderError, match=r"search\.formats"):
        searxng(ProviderSettings(meter, f"{server.address}/"))("w", limit=5)


@both
def test_the_text_of_a_page_that_a_provider_sends_is_kept(kind: str, serve: Serve, meter: Meter) -> None:
    results = searching(kind, answering(kind, serve, json.dumps({"results": ROWS})), meter)("w", limit=5)
    assert [result.content for result in results] == [None, "the page", None]


def test_proxies_of_the_environment_see_no_words(serve: Serve, meter: Meter, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "TAVILY_HTTP_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    server = answering("tavily", serve, json.dumps({"results": ROWS}))
    assert searching("tavily", server, meter)("w", limit=1)


def test_the_key_is_not_shown(meter: Meter) -> None:
    settings = ProviderSettings(meter, api_key="tvly-secret")
    search = tavily(settings)
    assert "tvly-secret" not in repr((settings, search))
    assert search.host == "api.tavily.com"


def test_a_provider_that_is_not_wholly_configured_says_what_to_set(meter: Meter) -> None:
    for provider, missing in (("tavily", "web.api_key"), ("searxng", "web.base_url"), ("none", "web.provider")):
        with pytest.raises(UsageError, match=missing):
            web_search(provider, ProviderSettings(meter))


def test_an_unknown_provider_names_the_nearest(meter: Meter) -> None:
    with pytest.raises(UnknownSetting, match="did you mean 'searxng'"):
        web_search("searx", ProviderSettings(meter))


BRAVE = {"web": {"results": [{"url": "https://a.test/1", "title": "One", "description": "first"}]}}


def test_brave_is_sent_the_words_with_its_key_and_its_results_are_found(serve: Serve, meter: Meter) -> None:
    server = serve(pages={"/web": json.dumps(BRAVE)})
    (result,) = brave(ProviderSettings(meter, f"{server.address}/web", "secret"))("capital France", limit=30)
    assert (result.url, result.title, result.snippet, result.score) == ("https://a.test/1", "One", "first", None)
    (request,) = server.requests
    assert request.path == "/web?q=capital+France&count=20"
    assert request.headers["x-subscription-token"] == "secret"


def test_any_endpoint_is_searched_by_its_address_and_its_fields(serve: Serve, meter: Meter) -> None:
    rows = {"data": {"hits": [{"link": "https://a.test/1", "name": "One", "text": "first", "score": 7}]}}
    server = serve(pages={"/find": json.dumps(rows)})
    fields = Fields(results="data.hits", url="link", title="name", snippet="text")
    search = web_search(
        "json", ProviderSettings(meter, f"{server.address}/find?w={{words}}&n={{limit}}", fields=fields)
    )
    (result,) = search("capital of France", limit=3)
    assert (result.title, result.snippet, result.score.value if result.score else None) == ("One", "first", 7.0)
    assert server.requests[0].path == "/find?w=capital+of+France&n=3"
    assert search.host == server.host


def test_an_endpoint_needs_the_place_of_the_words(meter: Meter) -> None:
    with pytest.raises(UsageError, match="no address with"):
        endpoint(ProviderSettings(meter, "http://localhost:9/search"))


def test_a_reply_without_the_list_of_results_is_told(serve: Serve, meter: Meter) -> None:
    server = serve(pages={"/web": json.dumps({"web": []})})
    with pytest.raises(ProviderError, match=r"no results \(web\.results\)"):
        brave(ProviderSettings(meter, f"{server.address}/web", "secret"))("w", limit=1)
