from __future__ import annotations

import json
from collections.abc import Callable
from datetime import date, timedelta
from urllib.parse import parse_qs, urlsplit

import pytest

from thresher import recipes
from thresher.correction.corrector import WebSource
from thresher.correction.fetch import Page
from thresher.correction.providers import Fields, ProviderSettings, RestrictedSearch, WebResult, web_search
from thresher.correction.restriction import Restriction, iso_date
from thresher.errors import UsageError
from thresher.models.usage import Meter
from thresher.types import Query
from thresher_testing.llm_server import ScriptedServer

Serve = Callable[..., ScriptedServer]

WIKIPEDIA = Restriction(("wikipedia.org",), "2024-05-01")
TWO = Restriction(("a.test", "b.test"))


@pytest.mark.parametrize(
    ("url", "there"),
    [
        ("https://en.wikipedia.org/wiki/Kõpu", True),
        ("https://wikipedia.org./", True),
        ("https://WIKIPEDIA.org", True),
        ("https://notwikipedia.org/", False),
        ("https://wikipedia.org.evil.test/", False),
        ("https://evil.test/?https://wikipedia.org", False),
        ("https://wikipedia.org@evil.test/", False),
    ],
)
def test_a_site_is_its_host_and_all_below_it(url: str, there: bool) -> None:
    assert WIKIPEDIA.on_site(url) is there
    assert Restriction().on_site(url)


@pytest.mark.parametrize(
    ("dated", "stays"),
    [("2024-05-01", True), ("2024-04-30", False), ("2024", True), ("2023", False), ("2024-04", False), (None, True)],
)
def test_a_date_counts_as_far_as_it_is_known(dated: str | None, stays: bool) -> None:
    assert WIKIPEDIA.new_enough(dated) is stays
    assert Restriction().new_enough(dated)


@pytest.mark.parametrize(
    ("sent", "read"),
    [
        ("2024-05-01T10:00:00", "2024-05-01"),
        ("2024-05-01", "2024-05-01"),
        ("Tue, 07 May 2024 10:30:00 GMT", "2024-05-07"),
        ("3 days ago", None),
        ("", None),
        (None, None),
        (20240501, None),
    ],
)
def test_the_dates_of_providers_are_read_in_their_forms(sent: object, read: str | None) -> None:
    assert iso_date(sent) == read


def test_words_give_way_to_the_operators_where_a_provider_takes_only_so_many() -> None:
    assert Restriction().searched("capital France", most=7) == "capital"
    assert TWO.searched("capital France") == "capital France (site:a.test OR site:b.test)"
    assert WIKIPEDIA.searched("capital France", most=30) == "capital Fra site:wikipedia.org"


ROWS = [
    ("https://en.wikipedia.org/new", "2024-06-01"),
    ("https://en.wikipedia.org/old", "2020-01-01"),
    ("https://elsewhere.test/new", "2024-06-01"),
    ("https://de.wikipedia.org/undated", None),
]


def replying(kind: str, serve: Serve) -> ScriptedServer:
    """A provider that sends what it likes, whatever it is asked for."""
    name = {"tavily": "published_date", "brave": "page_age"}.get(kind, "publishedDate")
    rows = [{"url": url, "title": "t", "content": "c", name: dated} for url, dated in ROWS]
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


@pytest.mark.parametrize(
    ("days", "asked"), [(1, ["day"]), (6, ["week"]), (29, ["month"]), (200, ["year"]), (4000, None)]
)
def test_searxng_is_asked_for_the_shortest_range_that_reaches_back(
    serve: Serve, meter: Meter, days: int, asked: list[str] | None
) -> None:
    server = replying("searxng", serve)
    since = (date.today() - timedelta(days=days)).isoformat()
    search = web_search("searxng", ProviderSettings(meter, server.address, only=Restriction(since=since)))
    search("capital France", limit=5)
    assert parse_qs(urlsplit(server.requests[0].path).query).get("time_range") == asked


class OwnSearch:
    name = host = "own"

    def __call__(self, words: str, *, limit: int) -> list[WebResult]:
        return [WebResult(url, "title", "snippet", "2026-01-01T00:00:00+00:00", date=dated) for url, dated in ROWS]


def test_a_search_of_ones_own_is_restricted_as_well() -> None:
    found = RestrictedSearch(OwnSearch(), WIKIPEDIA)("capital France", limit=5)
    assert [result.url for result in found] == [ROWS[0][0], ROWS[3][0]]


@pytest.mark.parametrize(
    ("page", "text", "status"),
    [
        (Page("https://en.wikipedia.org/new", "t", "the page", "2026"), ["the page"], "page"),
        (Page("https://elsewhere.test/", "t", "the page", "2026"), ["snippet"], "snippet"),
        (Page("https://en.wikipedia.org/new", "t", "the page", "2026", "2019-01-01"), [], "nothing"),
    ],
)
def test_a_page_that_led_elsewhere_or_is_too_old_is_no_evidence(page: Page, text: list[str], status: str) -> None:
    """A page that leads off the sites leaves its result's snippet; one that is too old leaves nothing."""

    def whole(text: str) -> list[tuple[int, int]]:
        return [(0, len(text))]

    search = RestrictedSearch(OwnSearch(), Restriction(("en.wikipedia.org",), "2024-05-01"))
    source = WebSource(search, lambda url: page, whole, only=search.only)
    found = source(Query("q", "q"), "q")
    assert [one.hit.chunk.text for one in found.judgements] == text
    assert found.notes.facts["pages"][0]["status"] == status
    assert (found.notes.facts["sites"], found.notes.facts["since"]) == (("en.wikipedia.org",), "2024-05-01")
    assert source.about == "web (en.wikipedia.org, from 2024-05-01 on)"


@pytest.mark.parametrize("given", ["wikipedia.org, arXiv.org", ["wikipedia.org", "arxiv.org"]])
def test_sites_are_given_as_a_list_or_with_commas(given: object) -> None:
    settings = recipes.get("crag").configured({"web.sites": given})
    assert settings.web.sites == "wikipedia.org,arxiv.org"  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("setting", "value"),
    [("web.sites", "https://wikipedia.org"), ("web.sites", "wikipedia"), ("web.sites", 7), ("web.since", "last May")],
)
def test_what_is_no_site_or_no_date_is_refused(setting: str, value: object) -> None:
    with pytest.raises(UsageError, match=setting):
        recipes.get("crag").configured({setting: value})


def test_the_published_run_script_searches_wikipedia_alone_and_says_so() -> None:
    code, crag = recipes.get("crag-code"), recipes.get("crag")
    assert "(wikipedia.org)" in code.describe(code.configured({}))["slots"]["correct"]
    assert "wikipedia" not in crag.describe(crag.configured({}))["slots"]["correct"]
