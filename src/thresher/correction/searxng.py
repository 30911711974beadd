"""Web search through a SearXNG server's JSON API: no key, one's own server."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from thresher.correction.web import (
    MAX_SNIPPET,
    MAX_TITLE,
    Provider,
    WebMeter,
    WebResult,
    is_web_address,
    score_of,
    stamp,
    words_of,
)
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
        results = [result for row in reply["results"] if (result := _result(row, searched)) is not None]
        if not results and reply.get("unresponsive_engines"):
            # An empty list with the status of success is what SearXNG answers when every engine turned it away.
            raise self._provider.failed("none of its engines answered", retryable=True)
        return results[:limit]

    @property
    def _provider(self) -> Provider:
        return Provider(self.name, self.base_url, self.meter, self.timeout_seconds, ADVICE)


def _result(row: Any, searched: str) -> WebResult | None:
    """A row of the reply; None when it leads nowhere."""
    if not isinstance(row, dict) or not is_web_address(row.get("url")):
        return None
    return WebResult(
        url=row["url"],
        title=words_of(row.get("title"), MAX_TITLE),
        snippet=words_of(row.get("content"), MAX_SNIPPET),
        fetched=searched,
        score=score_of(row.get("score"), SCALE),
    )
