"""Web search through a SearXNG server's JSON API: no key, one's own server."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from typing import Any
from urllib.parse import urlencode

from thresher.correction.web import MAX_CONTENT, Provider, WebMeter, WebResult, result_of, stamp, words_of
from thresher.errors import MissingExtra
from thresher.types import Scale

SCALE = Scale("SearXNG", 0.0, float("inf"))
"""Weights of the engines over the result's positions in them, summed."""

ADVICE = {
    403: "add json to search.formats in the server's settings.yml",
    429: "turn the server's limiter off for this machine, or wait",
}


@dataclass(frozen=True, slots=True)
class SearxngSearch:
    """Searches with the server at `base_url`."""

    base_url: str
    meter: WebMeter
    timeout_seconds: float = 20.0
    name: str = "SearXNG"

    @property
    def host(self) -> str:
        """Of the server."""
        return self._provider.host

    def __call__(self, words: str, *, limit: int) -> list[WebResult]:
        """The first results of the first page of results. Raises ProviderError and BudgetSpent."""
        asked = urlencode({"q": words, "format": "json"})
        reply = self._provider.ask("GET", f"{self.base_url.rstrip('/')}/search?{asked}")
        searched = stamp()
        results = [result for row in reply["results"] if (result := result_of(row, searched, SCALE)) is not None]
        if not results and reply.get("unresponsive_engines"):
            # An empty list with the status of success is what SearXNG answers when every engine turned it away.
            raise self._provider.failed("none of its engines answered", retryable=True)
        return results[:limit]

    @property
    def _provider(self) -> Provider:
        return Provider(self.name, self.base_url, self.meter, self.timeout_seconds, ADVICE)


# --- web search through Tavily, with Tavily's own client (extra `web`) ------------------------------------------------


BASE_URL = "https://api.tavily.com"

TAVILY_SCALE = Scale("Tavily", 0.0, 1.0)

MAX_WORDS_CHARACTERS = 400
"""The longest query that Tavily takes."""

TAVILY_ADVICE = {
    400: "ask a shorter question",
    401: "check web.api_key",
    403: "check web.api_key and the plan it belongs to",
    429: "wait, or look at the key's limits",
    432: "the plan's limit is reached: wait for the next month, or change the plan",
    433: "the pay-as-you-go limit is reached: raise it in Tavily's dashboard",
}


@dataclass(frozen=True, slots=True)
class TavilySearch:
    """Searches with a key, at `base_url` where that is another endpoint with the same API.

    With `content` Tavily is asked for the text of the pages too, which stands in for pages that cannot be fetched.
    """

    api_key: str = field(repr=False)
    meter: WebMeter
    base_url: str | None = None
    timeout_seconds: float = 20.0
    content: bool = False
    name: str = "Tavily"

    def __post_init__(self) -> None:
        """Say at once that the client is missing."""
        if find_spec("tavily") is None:
            raise MissingExtra("tavily-python", extra="web")

    @property
    def host(self) -> str:
        """Of the endpoint."""
        return self._provider.host

    def __call__(self, words: str, *, limit: int) -> list[WebResult]:
        """The results, best first. Raises ProviderError and BudgetSpent."""
        from tavily import TavilyClient

        provider = self._provider
        client = TavilyClient(
            api_key=self.api_key, api_base_url=provider.base_url.rstrip("/"), session=_Session(provider)
        )
        reply = client.search(
            words[:MAX_WORDS_CHARACTERS],
            search_depth="basic",
            max_results=limit,
            include_raw_content="text" if self.content else False,
        )
        searched = stamp()
        results = (_result(row, searched) for row in reply["results"])
        return [result for result in results if result is not None][:limit]

    @property
    def _provider(self) -> Provider:
        return Provider(self.name, self.base_url or BASE_URL, self.meter, self.timeout_seconds, TAVILY_ADVICE)


class _Session:
    """As much of a requests session as the client uses; what goes wrong is ours to name, so it sees successes only."""

    def __init__(self, provider: Provider) -> None:
        self.headers: dict[str, str] = {}
        """The client puts the key here."""
        self.proxies: dict[str, str] = {}
        """The client puts proxies of the environment here, where nobody uses them."""
        self._provider = provider

    def post(self, url: str, data: str, timeout: float, headers: Mapping[str, str] | None = None) -> _Answer:
        """The client's request; the time it may take is ours."""
        sent = {**self.headers, **(headers or {})}
        return _Answer(self._provider.ask("POST", url, headers=sent, content=data.encode()))


@dataclass(frozen=True, slots=True)
class _Answer:
    """As much of a requests response as the client uses."""

    found: Any
    status_code: int = 200

    def json(self) -> Any:
        return self.found


def _result(row: Any, searched: str) -> WebResult | None:
    """A row of the reply, with the text of the page where it was asked for; None when it leads nowhere."""
    result = result_of(row, searched, TAVILY_SCALE)
    return None if result is None else replace(result, content=words_of(row.get("raw_content"), MAX_CONTENT) or None)
