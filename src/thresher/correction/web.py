"""What a web search is: words in, results out; and how any provider of one is asked."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from time import monotonic
from typing import Any, Protocol

import httpx

from thresher.correction.http import Bounds, NotFetched, Reply, exchange, resolved
from thresher.errors import ProviderError
from thresher.types import Scale, Score

MAX_BYTES = 5_000_000
"""Of a provider's reply: fifty results with the text of their pages."""

MAX_TITLE, MAX_SNIPPET, MAX_CONTENT = 300, 2_000, 200_000
"""Characters that are kept of a result's fields."""


class WebMeter(Protocol):
    """What counts the requests of a question and knows its budget."""

    @property
    def seconds_left(self) -> float | None:
        """Until the budget is spent; None without one."""
        ...

    def allow_time(self) -> None:
        """Raise BudgetSpent when there are none left."""
        ...

    def searched(self, url: str) -> None:
        """Count a request and its host."""
        ...


@dataclass(frozen=True, slots=True)
class WebResult:
    """One result of a web search."""

    url: str
    """Begins with http:// or https://; where it leads is not trusted."""
    title: str
    snippet: str
    fetched: str
    """When the search was made: ISO 8601, with the time zone."""
    score: Score | None = None
    """The provider's own; None where it gives none."""
    content: str | None = None
    """The page's text, where the provider sends it."""


class WebSearch(Protocol):
    """Words to results, best first. Raises ProviderError, and BudgetSpent before anything is sent."""

    @property
    def name(self) -> str:
        """For people."""
        ...

    @property
    def host(self) -> str:
        """Who is sent the words, for the trace."""
        ...

    def __call__(self, words: str, *, limit: int) -> list[WebResult]:
        """At most `limit` results."""
        ...


@dataclass(frozen=True, slots=True)
class Provider:
    """A provider's endpoint. It is configured, hence trusted: it may be on this machine, unlike pages.

    A redirect is not followed: the words go to the host that was named and to no other.
    """

    name: str
    base_url: str
    meter: WebMeter
    timeout_seconds: float
    advice: Mapping[int, str]
    """What to do about a status that the provider is known to answer with."""

    @property
    def host(self) -> str:
        """Host and port, without a password."""
        return httpx.URL(self.base_url).netloc.decode("ascii")

    def ask(self, method: str, url: str, *, headers: Mapping[str, str] | None = None, content: bytes = b"") -> Any:
        """The JSON object of the reply. Raises ProviderError and BudgetSpent."""
        self.meter.allow_time()
        left = self.meter.seconds_left
        seconds = self.timeout_seconds if left is None else min(self.timeout_seconds, left)
        self.meter.searched(url)
        try:
            target = httpx.URL(url)
            host, port = target.raw_host.decode("ascii"), target.port or (443 if target.scheme == "https" else 80)
            bounds = Bounds(monotonic() + seconds, MAX_BYTES)
            reply = exchange(
                method, target, addresses=resolved(host, port), bounds=bounds, headers=headers, content=content
            )
        except (NotFetched, httpx.InvalidURL) as error:
            raise self.failed(str(error), retryable=True) from error
        except OSError as error:
            raise self.failed("the host has no address", retryable=True) from error
        return self._json(reply)

    def failed(self, what: str, *, status: int = 0, retryable: bool = False) -> ProviderError:
        """What to raise."""
        return ProviderError(
            what,
            subject=f"{self.name} at {self.host}",
            next_step=self.advice.get(status, "check web.provider and web.base_url, or try again later"),
            retryable=retryable,
        )

    def _json(self, reply: Reply) -> dict[str, Any]:
        status = reply.status
        if status != 200:
            retryable = status == 429 or status >= 500
            raise self.failed(f"answered with status {status}", status=status, retryable=retryable)
        try:
            found = json.loads(reply.body)
        except (ValueError, RecursionError) as error:
            raise self.failed("answered with something that is not JSON", retryable=True) from error
        if not isinstance(found, dict) or not isinstance(found.get("results"), list):
            raise self.failed("answered with JSON that holds no results", retryable=True)
        return found


def stamp() -> str:
    """Now: ISO 8601, with the time zone."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def is_web_address(url: object) -> bool:
    """Whether something is an http or https address with a host."""
    if not isinstance(url, str):
        return False
    try:
        parsed = httpx.URL(url)
    except (httpx.InvalidURL, ValueError):
        return False
    return parsed.scheme in ("http", "https") and bool(parsed.host)


def words_of(value: object, most: int) -> str:
    """A text field of a result, bounded; empty for anything that is not text."""
    return value.strip()[:most] if isinstance(value, str) else ""


def score_of(value: object, scale: Scale) -> Score | None:
    """The provider's score of a result; None for anything that is not on its scale."""
    if not isinstance(value, int | float) or not math.isfinite(value) or not scale.low <= value <= scale.high:
        return None
    return Score(float(value), scale)


def result_of(row: Any, searched: str, scale: Scale) -> WebResult | None:
    """A row of a reply with `url`, `title`, `content` (the snippet) and `score`; None when it leads nowhere."""
    if not isinstance(row, dict) or not is_web_address(row.get("url")):
        return None
    return WebResult(
        url=row["url"],
        title=words_of(row.get("title"), MAX_TITLE),
        snippet=words_of(row.get("content"), MAX_SNIPPET),
        fetched=searched,
        score=score_of(row.get("score"), scale),
    )
