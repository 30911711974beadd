from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from urllib.parse import parse_qs, urlsplit

import pytest

from thresher import recipes
from thresher.correction.providers import (
    SEARXNG_SCALE,
    TAVILY_SCALE,
    Fields,
    ProviderSettings,
    RecordedSearch,
    Restriction,
    WebResult,
    WebSearch,
    brave,
    iso_date,
    web_search,
)
from thresher.errors import BudgetSpent, NotRecorded, ProviderError, UnknownSetting, UsageError
from thresher.models.usage import Exchanges, Meter
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
    assert [(one.url, one.title, len(one.snippet), one.score, one.content) for one in results] == [
        ("https://a.test/1", "One", 5, Score(0.9, scale), None),
        ("http://b.test/2", "", 2_000, None, "the page"),
        ("http://c.test/3", "", 0, None, None),
    ]
    assert all(datetime.fromisoformat(result.fetched).tzinfo for result in results)


@both
def test_only_the_words_are_sent_and_the_request_is_counted(kind: str, serve: Serve, meter: Meter) -> None:
    server = answering(kind, serve, json.dumps({"results": ROWS}))
    search = searching(kind, server, meter)
    assert len(search("capital France", limit=1)) == 1
    (request,) = server.requests
    if kind == "tavily":
        assert request.body == {"query": "capital France", "search_depth": "basic", "max_results": 1}
        assert request.headers["authorization"] == "Bearer tvly-secret"
    else:
        assert request.path == "/search?q=capital+France&format=json"
        assert "authorization" not in request.headers
    assert (meter.usage.web_requests, meter.usage.hosts) == (1, (server.host,))
    assert search.host == server.host
    with pytest.raises(BudgetSpent):
        searching(kind, server, Meter(max_seconds=0.0))("w", limit=5)
    assert len(server.requests) == 1


@both
@pytest.mark.parametrize(
    ("reply", "what"),
    [
        (Reply(status=403), r"status 403; (check web\.api_key|add json to search\.formats)"),
        (Reply(status=429), "status 429"),
        (Reply(status=302, headers={"Location": "http://elsewhere.test/"}), "status 302"),
        (Reply("[" * 100_000), "not JSON"),
        (Reply("[]"), r"no results \(results\)"),
        (Reply('{"results": [], "unresponsive_engines": [["google", "CAPTCHA"]]}'), "engines"),
        (Reply("{}", seconds=60), "in time"),
        (Reply(dropped=True), "cannot be reached"),
        (Reply("x" * 5_000_001), "larger than"),
    ],
)
def test_a_search_that_fails_says_what_and_what_to_do(
    kind: str, serve: Serve, meter: Meter, reply: Reply, what: str
) -> None:
    server = answering(kind, serve, reply)
    with pytest.raises(ProviderError, match=what) as caught:
        searching(kind, server, meter, timeout_seconds=0.3 if "in time" in what else 20)("w", limit=5)
    assert server.host in caught.value.subject
    assert caught.value.next_step
    assert "tvly-secret" not in str(caught.value)
    assert caught.value.retryable is (reply.status in (200, 429))


def test_a_provider_that_is_not_wholly_configured_says_what_to_set(meter: Meter) -> None:
    for provider, missing in (("tavily", "web.api_key"), ("searxng", "web.base_url"), ("none", "web.provider")):
        with pytest.raises(UsageError, match=missing):
            web_search(provider, ProviderSettings(meter))
    with pytest.raises(UsageError, match="no address with"):
        web_search("json", ProviderSettings(meter, "http://localhost:9/search"))
    with pytest.raises(UnknownSetting, match="did you mean 'searxng'"):
        web_search("searx", ProviderSettings(meter))
    settings = ProviderSettings(meter, api_key="tvly-secret")
    assert "tvly-secret" not in repr((settings, web_search("tavily", settings)))


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


# --- sites and dates --------------------------------------------------------------------------------------------------


WIKIPEDIA = Restriction(("wikipedia.org",), "2024-05-01")
TWO = Restriction(("a.test", "b.test"))


THERE = "https://en.wikipedia.org/wiki/Kõpu https://wikipedia.org./ https://WIKIPEDIA.org"
ELSEWHERE = """https://notwikipedia.org/ https://wikipedia.org.evil.test/ https://evil.test/?https://wikipedia.org
https://wikipedia.org@evil.test/"""


def test_a_site_is_its_host_and_all_below_it() -> None:
    assert all(WIKIPEDIA.on_site(url) for url in THERE.split())
    assert not any(WIKIPEDIA.on_site(url) for url in ELSEWHERE.split())
    assert Restriction().on_site(THERE.split()[0])


def test_a_date_counts_as_far_as_it_is_known() -> None:
    assert [WIKIPEDIA.new_enough(dated) for dated in ("2024-05-01", "2024", None)] == [True] * 3
    assert [WIKIPEDIA.new_enough(dated) for dated in ("2024-04-30", "2023", "2024-04")] == [False] * 3
    assert Restriction().new_enough("2023")


def test_the_dates_of_providers_are_read_in_their_forms() -> None:
    sent = ["2024-05-01T10:00:00", "2024-05-01", "Tue, 07 May 2024 10:30:00 GMT", "3 days ago", "", None, 20240501]
    assert [iso_date(one) for one in sent] == ["2024-05-01", "2024-05-01", "2024-05-07", None, None, None, None]


def test_words_give_way_to_the_operators_where_a_provider_takes_only_so_many() -> None:
    assert Restriction().searched("capital France", most=7) == "capital"
    assert TWO.searched("capital France") == "capital France (site:a.test OR site:b.test)"
    assert WIKIPEDIA.searched("capital France", most=30) == "capital Fra site:wikipedia.org"


DATED = [
    ("https://en.wikipedia.org/new", "2024-06-01"),
    ("https://en.wikipedia.org/old", "2020-01-01"),
    ("https://elsewhere.test/new", "2024-06-01"),
    ("https://de.wikipedia.org/undated", None),
]


def replying(kind: str, serve: Serve) -> ScriptedServer:
    """A provider that sends what it likes, whatever it is asked for."""
    name = {"tavily": "published_date", "brave": "page_age"}.get(kind, "publishedDate")
    rows = [{"url": url, "title": "t", "content": "c", name: dated} for url, dated in DATED]
    reply = json.dumps({"web": {"results": rows}} if kind == "brave" else {"results": rows})
    return serve(posts={"/search": reply}) if kind == "tavily" else serve(pages={"/search": reply})


@pytest.mark.parametrize("kind", ["tavily", "searxng", "brave", "json"])
def test_every_provider_is_asked_for_the_sites_and_what_it_sends_besides_is_left_out(
    kind: str, serve: Serve, meter: Meter
) -> None:
    server = replying(kind, serve)
    address = {"brave": "/search", "json": "/search?q={words}"}.get(kind, "")
    settings = ProviderSettings(meter, f"{server.address}{address}", "key", 20.0, Fields(), WIKIPEDIA)
    found = web_search(kind, settings)("capital France", limit=2)
    assert [result.url for result in found] == ["https://en.wikipedia.org/new", "https://de.wikipedia.org/undated"]
    (request,) = server.requests
    if kind == "tavily":
        assert (request.body["include_domains"], request.body["start_date"]) == (["wikipedia.org"], "2024-05-01")
        assert request.body["query"] == "capital France"
        return
    asked = parse_qs(urlsplit(request.path).query)
    assert asked["q"] == ["capital France site:wikipedia.org"]
    if kind == "brave":
        assert asked["freshness"] == [f"2024-05-01to{date.today().isoformat()}"]


@pytest.mark.parametrize(("days", "asked"), [(6, ["week"]), (200, ["year"]), (4000, None)])
def test_searxng_is_asked_for_the_shortest_range_that_reaches_back(
    serve: Serve, meter: Meter, days: int, asked: list[str] | None
) -> None:
    server = replying("searxng", serve)
    since = (date.today() - timedelta(days=days)).isoformat()
    search = web_search("searxng", ProviderSettings(meter, server.address, only=Restriction(since=since)))
    search("capital France", limit=5)
    assert parse_qs(urlsplit(server.requests[0].path).query).get("time_range") == asked


@dataclass
class OwnSearch:
    """A caller's own search; it counts itself on the meter."""

    meter: Meter
    error: Exception | None = None
    host = "own.test"

    def __call__(self, words: str, *, limit: int) -> list[WebResult]:
        self.meter.searched("https://own.test/")
        if self.error is not None:
            raise self.error
        score = Score(3.5, SEARXNG_SCALE)
        return [WebResult(url, "title", "snippet", "2026-01-01T00:00:00+00:00", score, date=at) for url, at in DATED]


def test_a_search_of_ones_own_is_restricted_and_played_back_as_it_was_and_costs_the_same() -> None:
    meter, again, recorded = Meter(), Meter(), Exchanges()
    found = RecordedSearch(OwnSearch(meter), recorded, meter, WIKIPEDIA)("capital France", limit=5)
    assert [result.url for result in found] == [DATED[0][0], DATED[3][0]]
    played = RecordedSearch(OwnSearch(Meter()), Exchanges(recorded.stored()), again)
    assert played("capital France", limit=5) == found
    assert (again.usage, played.host) == (meter.usage, "own.test")
    with pytest.raises(NotRecorded):
        played("capital France", limit=5)


@pytest.mark.parametrize("error", [ProviderError("is down", subject="own.test"), BudgetSpent("spent")], ids=str)
def test_a_search_that_failed_fails_again(error: Exception) -> None:
    meter, recorded = Meter(), Exchanges()
    for exchanges in (recorded, None):
        search = OwnSearch(meter, error if exchanges else AssertionError("is asked again"))
        with pytest.raises(type(error), match=str(error)):
            RecordedSearch(search, exchanges or Exchanges(recorded.stored()), meter)("words", limit=5)


def test_sites_are_given_as_a_list_or_with_commas_and_what_is_none_is_refused() -> None:
    crag = recipes.get("crag")
    for given in ("wikipedia.org, arXiv.org", ["wikipedia.org", "arxiv.org"]):
        assert crag.configured({"web.sites": given}).web.sites == "wikipedia.org,arxiv.org"  # type: ignore[attr-defined]
    for setting, value in (("sites", "https://wikipedia.org"), ("sites", "wikipedia"), ("sites", 7), ("since", "May")):
        with pytest.raises(UsageError, match=f"web.{setting}"):
            crag.configured({f"web.{setting}": value})


def test_the_published_run_script_searches_wikipedia_alone_and_says_so() -> None:
    code, crag = recipes.get("crag-code"), recipes.get("crag")
    assert "(wikipedia.org)" in code.describe(code.configured({}))["slots"]["correct"]
    assert "wikipedia" not in crag.describe(crag.configured({}))["slots"]["correct"]
