"""What a question asks of the outside: counted where it is asked, ended by its budget, recorded and played back."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from threading import Lock, local
from time import monotonic
from typing import Any, TypeVar
from urllib.parse import urlsplit

from thresher.errors import BudgetSpent, Cancelled, NotRecorded, ProviderError, TooLong, without_password
from thresher.types import Usage

__all__ = ["Exchanges", "Meter", "Prices"]

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class Prices:
    """What a million tokens cost, in any currency."""

    prompt: float
    completion: float

    def of(self, prompt_tokens: int, completion_tokens: int) -> float:
        """The price of one reply."""
        return (prompt_tokens * self.prompt + completion_tokens * self.completion) / 1_000_000


RESERVED_SECONDS = 3.0  # of a budget, for the answer without a model: it takes 0.3 to 1 s, on a busy machine 3
RESERVED_SHARE = 0.5  # of a smaller budget, at most


@dataclass(slots=True)
class Meter:
    """Counts what one question sends, and refuses what its budget no longer covers. Safe to use from several threads.

    Calls are counted before they are sent, so parallel calls never exceed `max_calls`. Tokens (of prompts and replies)
    are known only afterwards: calls under way when `max_tokens` is reached still end.
    """

    max_calls: int | None = None
    max_tokens: int | None = None
    max_seconds: float | None = None
    cached: int = 0  # replies that came from a cache and cost nothing
    _usage: Usage = field(default_factory=Usage)
    _started: float = field(default_factory=monotonic)
    _cancelled: bool = False
    _endings: list[Callable[[], None]] = field(default_factory=list)
    _lock: Lock = field(default_factory=Lock)
    _tabs: local = field(default_factory=local)

    @classmethod
    def of(cls, options: Mapping[str, Any]) -> Meter:
        """The meter of a question that is asked with these options: `budget_calls`, `_tokens` and `_seconds`."""
        calls, tokens, seconds = map(options.get, ("budget_calls", "budget_tokens", "budget_seconds"))
        return cls(calls, tokens, seconds)

    def on_cancel(self, end: Callable[[], None]) -> None:
        """Call `end` when the question is cancelled; at once if it already is."""
        with self._lock:
            self._endings.append(end)
        if self._cancelled:
            end()

    def cancel(self) -> None:
        """End the question: nothing more is allowed, and calls under way are cut off."""
        self._cancelled = True
        with self._lock:
            endings = list(self._endings)
        for end in endings:
            end()

    @property
    def usage(self) -> Usage:
        """What was spent so far."""
        return self._usage

    @property
    def seconds_left(self) -> float | None:
        """Seconds to wait for a server, less those for an answer without it; 0 if cancelled, None without a budget."""
        if self._cancelled:
            return 0.0
        if self.max_seconds is None:
            return None
        return self.max_seconds - self._elapsed - min(RESERVED_SECONDS, RESERVED_SHARE * self.max_seconds)

    def seconds_within(self, timeout: float) -> float:
        """Seconds to wait for one answer: at most `timeout`, above 0."""
        left = self.seconds_left
        return timeout if left is None else min(timeout, max(left, 0.001))

    def allow_time(self) -> None:
        """Raise BudgetSpent when the seconds are used up, Cancelled when the question is cancelled."""
        if self._cancelled:
            raise Cancelled("the question was cancelled")
        if self.max_seconds is not None and self._elapsed >= self.max_seconds:
            raise BudgetSpent(f"the budget of {self.max_seconds:g} seconds is spent")

    def allow_waiting(self) -> None:
        """As `allow_time`, and raise BudgetSpent when no time is left to wait for a server."""
        self.allow_time()
        if self.seconds_left is not None and self.seconds_left <= 0:
            raise BudgetSpent(f"of the budget of {self.max_seconds:g} seconds only what the answer takes is left")

    @property
    def _elapsed(self) -> float:
        return monotonic() - self._started

    def allow(self) -> None:
        """Raise BudgetSpent when another chat call is not covered; `start` asks again."""
        spent = self._usage
        if self.max_calls is not None and spent.llm_calls >= self.max_calls:
            raise BudgetSpent(f"the budget of {self.max_calls} model calls is spent")
        if self.max_tokens is not None and spent.prompt_tokens + spent.completion_tokens >= self.max_tokens:
            raise BudgetSpent(f"the budget of {self.max_tokens} tokens is spent")
        self.allow_waiting()

    def start(self, url: str) -> None:
        """Count a chat call that is about to be sent: it was sent, whatever comes back. Raises BudgetSpent instead."""
        with self._lock:
            self.allow()
            self._add(Usage(llm_calls=1, hosts=_host(url)))

    def used(self, prompt_tokens: int, completion_tokens: int, prices: Prices | None = None) -> None:
        """Count the tokens of a reply, and what they cost where that is known."""
        cost = None if prices is None else prices.of(prompt_tokens, completion_tokens)
        self.spend(Usage(prompt_tokens=prompt_tokens, completion_tokens=completion_tokens, cost=cost))

    def retried(self, why: str) -> None:
        """Count that a call is sent again."""
        self.spend(Usage(retries=(why,)))

    def searched(self, url: str) -> None:
        """Count a web request (a search or a page) that is about to be sent. Raises BudgetSpent instead."""
        self.allow_waiting()
        self.spend(Usage(web_requests=1, hosts=_host(url)))

    def visit(self, url: str) -> None:
        """Count that something is sent to a host without a chat call (a reranker, an embedder)."""
        self.spend(Usage(hosts=_host(url)))

    def hit(self) -> None:
        """Count a reply that came from a cache."""
        with self._lock:
            self.cached += 1

    def spend(self, usage: Usage) -> None:
        """Count what was spent, whether the budget covers it or not."""
        with self._lock:
            self._add(usage)

    @contextmanager
    def tab(self) -> Iterator[Meter]:
        """What this thread spends inside the block, counted once more on a meter of its own."""
        around: Meter | None = getattr(self._tabs, "open", None)
        tab = self._tabs.open = Meter()
        try:
            yield tab
        finally:
            self._tabs.open = around
            if around is not None:
                around.spend(tab.usage)

    def _add(self, usage: Usage) -> None:
        self._usage = _sum(self._usage, usage)
        tab: Meter | None = getattr(self._tabs, "open", None)
        if tab is not None:
            tab.spend(usage)


def _sum(one: Usage, other: Usage) -> Usage:
    return Usage(
        one.llm_calls + other.llm_calls,
        one.prompt_tokens + other.prompt_tokens,
        one.completion_tokens + other.completion_tokens,
        one.web_requests + other.web_requests,
        tuple(sorted({*one.hosts, *other.hosts})),
        (*one.retries, *other.retries),
        None if one.cost is None and other.cost is None else (one.cost or 0.0) + (other.cost or 0.0),
    )


def _host(url: str) -> tuple[str]:
    return (urlsplit(without_password(url)).netloc,)


# --- recorded and played back -----------------------------------------------------------------------------------------


class Exchanges:
    """Records requests to the outside and their replies; with `stored`, plays a record back and asks nothing.

    A request is kept as a hash only. The same request may get two replies; they are played back in the order in which
    they came. Safe to use from several threads.
    """

    def __init__(self, stored: Mapping[str, Sequence[Mapping[str, Any]]] | None = None) -> None:
        self.replaying = stored is not None
        self._entries = {key: [dict(entry) for entry in entries] for key, entries in (stored or {}).items()}
        self._played: dict[str, int] = {}
        self._lock = Lock()

    def reply(self, key_parts: Sequence[str], make: Callable[[], str], *, meter: Meter | None = None) -> str:
        """The result of `make`, recorded; at playback the recorded result, without a call.

        `key_parts` are all that the reply may depend on. A ProviderError or BudgetSpent of `make` is recorded and
        raised like a reply. What `make` spends on `meter` in its thread is recorded too, and spent again at playback,
        so that both answers cost the same. Raises NotRecorded at playback.
        """
        key = content_hash(key_parts)
        return self._play(key, meter) if self.replaying else self._record(key, make, meter)

    def recall(
        self,
        key_parts: Sequence[str],
        make: Callable[[], Value],
        *,
        write: Callable[[Value], str],
        read: Callable[[str], Value],
        meter: Meter | None = None,
    ) -> Value:
        """`reply` for a value that is no text: written as one, and read back from it when recording too."""
        return read(self.reply(key_parts, lambda: write(make()), meter=meter))

    def stored(self) -> dict[str, list[dict[str, Any]]]:
        """The record, in JSON types: for `Exchanges(stored)`."""
        with self._lock:
            return {key: [dict(entry) for entry in self._entries[key]] for key in sorted(self._entries)}

    def _record(self, key: str, make: Callable[[], str], meter: Meter | None) -> str:
        failure: ProviderError | BudgetSpent | None = None
        with nullcontext(Meter()) if meter is None else meter.tab() as tab:
            try:
                entry: dict[str, Any] = {"reply": make()}
            except (ProviderError, BudgetSpent) as error:
                failure, entry = error, _described(error)
        entry["usage"] = tab.usage.to_dict()
        with self._lock:
            self._entries.setdefault(key, []).append(entry)
        if failure is not None:
            raise failure
        return str(entry["reply"])

    def _play(self, key: str, meter: Meter | None) -> str:
        with self._lock:
            at = self._played.get(key, 0)
            entries = self._entries.get(key, [])
            if at >= len(entries):
                raise NotRecorded(
                    "something is asked of the outside that was not asked when the answer was stored",
                    next_step="the documents, the settings or Thresher itself changed since; ask the question anew",
                )
            self._played[key] = at + 1
        entry = entries[at]
        if meter is not None:
            meter.spend(Usage.from_dict(entry["usage"]))
        if "error" in entry:
            raise _made(entry)
        return str(entry["reply"])


def _described(error: ProviderError | BudgetSpent) -> dict[str, Any]:
    fields = {"what": error.what, "subject": error.subject, "next_step": error.next_step}
    if isinstance(error, ProviderError):
        return {"error": type(error).__name__, **fields, "retryable": error.retryable}
    return {"error": "BudgetSpent", **fields}


def _made(entry: Mapping[str, Any]) -> ProviderError | BudgetSpent:
    fields = {"subject": entry["subject"], "next_step": entry["next_step"]}
    if entry["error"] == "BudgetSpent":
        return BudgetSpent(entry["what"], **fields)
    kind = TooLong if entry["error"] == "TooLong" else ProviderError
    return kind(entry["what"], **fields, retryable=entry["retryable"])


def content_hash(parts: Sequence[str]) -> str:
    """SHA-256 of texts, in hexadecimal digits; where one ends and the next begins counts."""
    return hashlib.sha256(json.dumps(list(parts)).encode()).hexdigest()
