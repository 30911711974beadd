"""Web search: words in, results out, by the providers that `web.provider` may name.

Adding a provider is a function from its settings to a `WebSearch` and a line in `PROVIDERS`; what speaks JSON over
HTTP needs no more than the request and the scale of its scores (`JsonSearch`). A search may be restricted to sites and
to results from a date on: providers are asked accordingly where they can be, and other results are left out here.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, date, datetime
from email.utils import parsedate_to_datetime
from time import monotonic
from typing import Any, NamedTuple, Protocol
from urllib.parse import quote_plus, urlencode

import httpx

from thresher.errors import NotRecorded, ProviderError, UnknownSetting, UsageError
from thresher.models.usage import Exchanges, Meter
from thresher.net import Bounds, NotFetched, send
from thresher.types import Scale, Score

__all__ = [
    "ANYWHERE",
    "PROVIDERS",
    "Fields",
    "JsonSearch",
    "ProviderSettings",
    "Restriction",
    "SearchRequest",
    "WebResult",
    "WebSearch",
]

REPLY_BYTES = 5_000_000  # of a provider's reply: fifty results with the text of their pages

MAX_TITLE, MAX_SNIPPET, MAX_CONTENT = 300, 2_000, 200_000
"""Characters that are kept of a result's fields."""


@dataclass(frozen=True, slots=True)
class WebResult:
    """One result of a web search."""

    url: str  # begins with http:// or https://; where it leads is not trusted
    title: str
    snippet: str
    fetched: str  # when the search was made: ISO 8601, with the time zone
    score: Score | None = None  # the provider's own; None where it gives none
    content: str | None = None  # the page's text, where the provider sends it
    date: str | None = None  # ISO 8601, where the provider dates it


class WebSearch(Protocol):
    """Words to results, best first. Raises ProviderError, and BudgetSpent before anything is sent."""

    @property
    def host(self) -> str:
        """Who is sent the words, for the trace."""
        ...

    def __call__(self, words: str, *, limit: int) -> list[WebResult]:
        """At most `limit` results."""
        ...


@dataclass(frozen=True, slots=True)
class Restriction:
    """Sites and a date; without either it restricts nothing."""

    sites: tuple[str, ...] = ()
    """Hosts in lower case, each with all hosts below it: `wikipedia.org` is `en.wikipedia.org` too. Empty for all."""
    since: str = ""  # ISO 8601 date from which results count, as do those without a date; empty for any time

    @property
    def about(self) -> str:
        """For people, in a few words; empty where nothing is restricted."""
        parts = ["/".join(self.sites), f"from {self.since} on" if self.since else ""]
        return f" ({', '.join(filter(None, parts))})" if any(parts) else ""

    def searched(self, words: str, *, most: int | None = None) -> str:
        """The words with `site:` operators, as search engines read them; the words give way to `most` characters."""
        operators = " OR ".join(f"site:{site}" for site in self.sites)
        operators = f" ({operators})" if len(self.sites) > 1 else operators and f" {operators}"
        return f"{words if most is None else words[: max(0, most - len(operators))]}{operators}"

    def on_site(self, url: str) -> bool:
        """Whether an address leads to one of the sites."""
        host = httpx.URL(url).host.lower().rstrip(".")
        return not self.sites or any(host == site or host.endswith(f".{site}") for site in self.sites)

    def new_enough(self, date: str | None) -> bool:
        """Whether a date (ISO 8601, as exact as it is known) may be `since` or later; what has no date may be."""
        known = (date or "")[: len("2024-05-01")]
        return not (self.since and known) or known >= self.since[: len(known)]


class Fields(NamedTuple):
    """Where a reply keeps what: the list of results by its path, with dots, and the fields of each result."""

    results: str = "results"
    url: str = "url"
    title: str = "title"
    snippet: str = "content"
    page: str = "raw_content"
    score: str = "score"
    date: str = "publishedDate"  # SearXNG's; Tavily's other fields are the same


ANYWHERE = Restriction()  # all sites, of any time


@dataclass(frozen=True, slots=True)
class ProviderSettings:
    """What a provider is made from."""

    meter: Meter
    base_url: str | None = None
    api_key: str | None = field(default=None, repr=False)
    timeout_seconds: float = 20.0
    fields: Fields = field(default_factory=Fields)  # for an endpoint that is no provider of ours
    only: Restriction = ANYWHERE  # what is asked for alone, and what results are checked against


class SearchRequest(NamedTuple):
    """What is sent for some words."""

    url: str
    method: str = "GET"
    headers: Mapping[str, str] = {}
    body: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class JsonSearch:
    """An endpoint whose reply is a JSON object with a list of results, `fields` says where.

    It is configured, hence trusted: it may be on this machine, unlike pages. A redirect is not followed: the words go
    to the host that was named and to no other.
    """

    name: str
    base_url: str
    scale: Scale
    request: Callable[[str, int], SearchRequest]  # from the words and the number of results wanted
    settings: ProviderSettings
    fields: Fields
    advice: Mapping[int, str] = field(default_factory=dict)
    """What to do about a status that the provider is known to answer with."""

    @property
    def host(self) -> str:
        """Host and port, without a password."""
        return httpx.URL(self.base_url).netloc.decode("ascii")

    def __call__(self, words: str, *, limit: int) -> list[WebResult]:
        """The results, best first. Raises ProviderError and BudgetSpent."""
        reply = self._reply(self.request(words, limit))
        searched = datetime.now(UTC).isoformat(timespec="seconds")
        rows = reply
        for name in self.fields.results.split("."):
            rows = rows.get(name) if isinstance(rows, dict) else None
        if not isinstance(rows, list):
            raise self._failed(f"answered with JSON that holds no results ({self.fields.results})", retryable=True)
        results = [result for row in rows if (result := self._result(row, searched)) is not None]
        if not results and reply.get("unresponsive_engines"):
            # An empty list with the status of success is what SearXNG answers when every engine turned it away.
            raise self._failed("none of its engines answered", retryable=True)
        return restricted(results, self.settings.only)[:limit]

    def _reply(self, request: SearchRequest) -> Any:
        meter = self.settings.meter
        meter.searched(request.url)
        seconds = meter.seconds_within(self.settings.timeout_seconds)
        content = b"" if request.body is None else json.dumps(request.body).encode()
        headers = {**request.headers, **({"Content-Type": "application/json"} if content else {})}
        try:
            bounds = Bounds(monotonic() + seconds, REPLY_BYTES)
            reply = send(request.method, request.url, bounds=bounds, headers=headers, content=content)
        except NotFetched as error:
            raise self._failed(str(error), retryable=True) from error
        if reply.status != 200:
            retryable = reply.status == 429 or reply.status >= 500
            raise self._failed(f"answered with status {reply.status}", status=reply.status, retryable=retryable)
        try:
            return json.loads(reply.body)
        except (ValueError, RecursionError) as error:
            raise self._failed("answered with something that is not JSON", retryable=True) from error

    def _failed(self, what: str, *, status: int = 0, retryable: bool = False) -> ProviderError:
        return ProviderError(
            what,
            subject=f"{self.name} at {self.host}",
            next_step=self.advice.get(status, "check web.provider and web.base_url, or try again later"),
            retryable=retryable,
        )

    def _result(self, row: Any, searched: str) -> WebResult | None:
        """A row of a reply; None when it leads nowhere."""
        fields = self.fields
        if not isinstance(row, dict) or not is_web_address(row.get(fields.url)):
            return None
        return WebResult(
            url=row[fields.url],
            title=_text(row.get(fields.title), MAX_TITLE),
            snippet=_text(row.get(fields.snippet), MAX_SNIPPET),
            fetched=searched,
            score=_score(row.get(fields.score), self.scale),
            content=_text(row.get(fields.page), MAX_CONTENT) or None,
            date=iso_date(row.get(fields.date)),
        )


def restricted(results: Iterable[WebResult], only: Restriction) -> list[WebResult]:
    """Those of the sites that are not known to be too old."""
    return [result for result in results if only.on_site(result.url) and only.new_enough(result.date)]


def iso_date(value: object) -> str | None:
    """A provider's date as an ISO 8601 one (2024-05-01); None for what is none."""
    if not isinstance(value, str):
        return None
    for read in (datetime.fromisoformat, parsedate_to_datetime):
        try:
            return read(value.strip()).date().isoformat()
        except (ValueError, TypeError):
            continue
    return None


def is_web_address(url: object) -> bool:
    """Whether something is an http or https address with a host."""
    try:
        parsed = httpx.URL(url) if isinstance(url, str) else None
    except (httpx.InvalidURL, ValueError):
        return False
    return parsed is not None and parsed.scheme in ("http", "https") and bool(parsed.host)


def _text(value: object, most: int) -> str:
    """A text field of a result, bounded; empty for anything that is not text."""
    return value.strip()[:most] if isinstance(value, str) else ""


def _score(value: object, scale: Scale) -> Score | None:
    """The provider's score of a result; None for a value that is not on its scale."""
    if not isinstance(value, int | float) or not math.isfinite(value) or not scale.low <= value <= scale.high:
        return None
    return Score(float(value), scale)


SEARXNG_SCALE = Scale("SearXNG", 0.0, float("inf"))
"""Weights of the engines over the result's positions in them, summed."""

SEARXNG_ADVICE = {
    403: "add json to search.formats in the server's settings.yml",
    429: "turn the server's limiter off for this machine, or wait",
}

TIME_RANGES = {"day": 1, "week": 7, "month": 30, "year": 365}  # what SearXNG can be asked for, in days


def searxng(settings: ProviderSettings) -> WebSearch:
    """The JSON API of a SearXNG server. Raises UsageError without its address."""
    if not settings.base_url:
        raise UsageError("has no address", subject="web.provider searxng", next_step="set web.base_url")
    address, only = settings.base_url.rstrip("/"), settings.only

    def request(words: str, limit: int) -> SearchRequest:
        days = (date.today() - date.fromisoformat(only.since)).days if only.since else math.inf
        span = next((name for name, reach in TIME_RANGES.items() if days <= reach), "")  # the shortest that suffices
        parameters = {"q": only.searched(words), "format": "json", **({"time_range": span} if span else {})}
        return SearchRequest(f"{address}/search?{urlencode(parameters)}")

    return JsonSearch("SearXNG", address, SEARXNG_SCALE, request, settings, Fields(), SEARXNG_ADVICE)


TAVILY_ADDRESS = "https://api.tavily.com"

TAVILY_SCALE = Scale("Tavily", 0.0, 1.0)

TAVILY_WORDS_CHARACTERS = 400  # the longest query that Tavily takes

TAVILY_ADVICE = {
    400: "ask a shorter question",
    401: "check web.api_key",
    403: "check web.api_key and the plan it belongs to",
    429: "wait, or look at the key's limits",
    432: "the plan's limit is reached: wait for the next month, or change the plan",
    433: "the pay-as-you-go limit is reached: raise it in Tavily's dashboard",
}


def tavily(settings: ProviderSettings) -> WebSearch:
    """Tavily's search endpoint, or another one of the same form. Raises UsageError without a key."""
    if not settings.api_key:
        raise UsageError("has no key", subject="web.provider tavily", next_step="set web.api_key")
    address, key, only = (settings.base_url or TAVILY_ADDRESS).rstrip("/"), settings.api_key, settings.only
    restriction = {"include_domains": list(only.sites), "start_date": only.since}
    narrowed = {name: value for name, value in restriction.items() if value}

    def request(words: str, limit: int) -> SearchRequest:
        asked = {"query": words[:TAVILY_WORDS_CHARACTERS], "search_depth": "basic", "max_results": limit}
        body = {**asked, **narrowed}
        return SearchRequest(f"{address}/search", "POST", {"Authorization": f"Bearer {key}"}, body)

    return JsonSearch("Tavily", address, TAVILY_SCALE, request, settings, Fields(date="published_date"), TAVILY_ADVICE)


BRAVE_ADDRESS = "https://api.search.brave.com/res/v1/web/search"

NO_SCALE = Scale("no score", 0.0, 0.0)

BRAVE_MOST, BRAVE_WORDS_CHARACTERS = 20, 400
"""Results and characters of a query that Brave takes at most."""

BRAVE_ADVICE = {**dict.fromkeys((401, 403, 422), "check web.api_key"), 429: "wait, or look at the plan's limits"}


def brave(settings: ProviderSettings) -> WebSearch:
    """Brave's web search. Raises UsageError without a key."""
    if not settings.api_key:
        raise UsageError("has no key", subject="web.provider brave", next_step="set web.api_key")
    address, key, only = (settings.base_url or BRAVE_ADDRESS).rstrip("/"), settings.api_key, settings.only

    def request(words: str, limit: int) -> SearchRequest:
        asked = only.searched(words, most=BRAVE_WORDS_CHARACTERS)
        fresh = {"freshness": f"{only.since}to{date.today().isoformat()}"} if only.since else {}
        parameters = urlencode({"q": asked, "count": min(limit, BRAVE_MOST), **fresh})
        return SearchRequest(f"{address}?{parameters}", headers={"X-Subscription-Token": key})

    fields = Fields(results="web.results", snippet="description", date="page_age")
    return JsonSearch("Brave", address, NO_SCALE, request, settings, fields, BRAVE_ADVICE)


ANY_SCALE = Scale("score of the endpoint", float("-inf"), float("inf"))


def endpoint(settings: ProviderSettings) -> WebSearch:
    """A search that answers a GET with JSON. Raises UsageError without such an address."""
    address = settings.base_url or ""
    if "{words}" not in address:
        raise UsageError(
            "has no address with {words} in it",
            subject="web.provider json",
            next_step="set web.base_url, such as http://localhost:9000/search?q={words}&n={limit}",
        )
    headers = {"Authorization": f"Bearer {settings.api_key}"} if settings.api_key else {}

    def request(words: str, limit: int) -> SearchRequest:
        asked = quote_plus(settings.only.searched(words))
        url = address.replace("{words}", asked).replace("{limit}", str(limit))
        return SearchRequest(url, headers=headers)

    return JsonSearch("the endpoint", address.partition("{")[0], ANY_SCALE, request, settings, settings.fields)


PROVIDERS: dict[str, Callable[[ProviderSettings], WebSearch]] = {
    "searxng": searxng,
    "tavily": tavily,
    "brave": brave,
    "json": endpoint,
}


def web_search(provider: str, settings: ProviderSettings) -> WebSearch:
    """The provider of that name. Raises UsageError when none is configured, or not wholly, or it is not known."""
    if provider == "none":
        raise UsageError(
            "no web search is configured",
            subject="`outside` web",
            next_step="set web.provider=searxng and web.base_url, or web.provider=tavily (or brave) and web.api_key",
        )
    if provider not in PROVIDERS:
        raise UnknownSetting(provider, ("none", *PROVIDERS), kind="web.provider")
    return PROVIDERS[provider](settings)


@dataclass(frozen=True, slots=True)
class StoredSearch:
    """Stands for a search of a caller's own where its results are played back."""

    host: str

    def __call__(self, words: str, *, limit: int) -> list[WebResult]:
        """Nothing is left to ask. Raises NotRecorded."""
        raise NotRecorded("was not stored with the answer", subject=f"search for {words!r} at {self.host}")


@dataclass(frozen=True, slots=True)
class RecordedSearch:
    """A web search whose results, those that count, are part of a question's record and played back from it."""

    search: WebSearch
    exchanges: Exchanges
    meter: Meter
    only: Restriction = ANYWHERE

    @property
    def host(self) -> str:
        """Of the search."""
        return self.search.host

    def __call__(self, words: str, *, limit: int) -> list[WebResult]:
        """The results, best first. Raises ProviderError and BudgetSpent, as they were raised."""
        return self.exchanges.recall(
            ["search", self.host, words, str(limit)],
            lambda: restricted(self.search(words, limit=limit), self.only),
            write=lambda results: json.dumps([asdict(result) for result in results]),
            read=lambda text: [_read(result) for result in json.loads(text)],
            meter=self.meter,
        )


def _read(result: dict[str, Any]) -> WebResult:
    score = result["score"]
    return WebResult(**{**result, "score": score and Score(score["value"], Scale(**score["scale"]))})
