"""Web search through a SearXNG server's JSON API: no key, one's own server."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlencode

from thresher.correction.web import Provider, WebMeter, WebResult, result_of, stamp
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
