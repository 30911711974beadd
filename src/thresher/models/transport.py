"""Requests to the server of a model, over the one HTTP client of `thresher.net`.

A server is a stranger: it may drip its answer, never end it, pack a gigabyte into a kilobyte or send the request on to
somebody else. So every exchange has a deadline over all of it and a bound on the unpacked body, and a redirect is an
error. Every failure leaves `Server.asked` as NotFetched.
"""

from __future__ import annotations

import json
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any
from urllib.parse import urlsplit

import httpx

from thresher.errors import BudgetSpent, without_password
from thresher.models.replies import MALFORMED, parsed
from thresher.net import (
    REDIRECTS,
    Bounds,
    Connections,
    Late,
    NotFetched,
    NotTaken,
    Reply,
    anywhere,
    authorization,
    certificates,
    checked_addresses,
    host_and_port,
    parsed_address,
    proxy_of,
    resolved,
)

LONGEST_PLACE = 200  # characters of the address a redirect names that an error shows
PAUSES_SECONDS = (0.5, 1.0)  # before the second and the third try: as OpenAI's SDK, enough for a restart


class Malformed(NotFetched):
    """The answer has another form than the one that was asked for."""


class Refused(NotFetched):
    """The answer is a status other than success."""

    def __init__(self, url: httpx.URL, head: Reply, body: object) -> None:
        super().__init__(f"answered with status {head.status}{_leads_to(url, head)}")
        self.status = head.status
        self.body = body  # parsed where it is JSON, else a text
        self.may_pass = head.status == 429 or head.status >= 500
        self.after = _seconds(head.headers.get("retry-after", ""))


class Server:
    """A server that somebody configured, at its base address. Safe to use from several threads.

    Connections are kept from one request to the next, until `close` or until nobody holds the server any more.
    """

    def __init__(self, url: str, api_key: str | None = None) -> None:
        self._url = url
        self._key = {"Authorization": f"Bearer {api_key.strip()}"} if api_key and api_key.strip() else {}
        self._connections: Connections | None = None
        self.ended = False  # whether `end` was called
        self._lock = threading.Lock()

    @contextmanager
    def asked(
        self, path: str, body: Mapping[str, Any] | None, bounds: Bounds, *, root: bool = False
    ) -> Iterator[Iterator[bytes]]:
        """The answer to JSON that is posted below the address (to a GET without one), piece by piece as it comes.

        With `root`, the address is taken without its /v1. Raises NotFetched. Read it inside the block: errors of
        reading a malformed answer become Malformed.
        """
        base = self._url.rstrip("/")
        url = parsed_address((base.removesuffix("/v1") if root else base) + path if path else self._url)
        host_and_port(url)
        headers = {**self._key, **authorization(url)}
        content = b""
        if body is not None:
            content = json.dumps(body).encode()
            headers["Content-Type"] = "application/json"
        method = "GET" if body is None else "POST"
        opened = self._kept(url).opened(method, url, bounds=bounds, headers=headers, content=content)
        try:
            with opened as (head, pieces):
                if not 200 <= head.status < 300:
                    raise Refused(url, head, _body(pieces))
                yield pieces
        except MALFORMED as error:
            raise Malformed("the answer has another form than was asked for") from error

    def close(self) -> None:
        """Let go of the connections."""
        with self._lock:
            if self._connections is not None:
                self._connections.close()
            self._connections = None

    def end(self) -> None:
        """Cut off the requests under way, from another thread; later ones fail too."""
        with self._lock:
            self.ended = True
            if self._connections is not None:
                self._connections.end()

    def _kept(self, url: httpx.URL) -> Connections:
        with self._lock:
            if self._connections is None:
                addresses = partial(checked_addresses, resolve=resolved, allowed=anywhere)
                tls = certificates() if url.scheme == "https" else None
                self._connections = Connections(addresses, tls=tls, proxy=proxy_of(url))
                weakref.finalize(self, self._connections.close)
                if self.ended:
                    self._connections.end()
            return self._connections


def _body(pieces: Iterable[bytes]) -> Any:
    """The body of a refusal; empty where it cannot be taken, since the status says enough."""
    try:
        written = b"".join(pieces)
    except Late:
        raise
    except NotFetched:
        return ""
    try:
        return parsed([written])
    except MALFORMED:
        return written.decode("utf-8", "replace")


def _leads_to(url: httpx.URL, head: Reply) -> str:
    """Where a redirect leads, without a name and password; empty for any other answer."""
    if head.status not in REDIRECTS:
        return ""
    try:
        place = str(parsed_address(head.headers.get("location", ""), base=url).copy_with(userinfo=b""))
    except NotFetched:
        place = ""
    place = "".join(character for character in place if character.isprintable())
    return f", which leads to {place[:LONGEST_PLACE] or 'nowhere'} and is not followed"


def _seconds(header: str) -> float:
    """Seconds of a Retry-After header; 0 for none or a date."""
    try:
        return max(0.0, float(header))
    except ValueError:
        return 0.0


def what_happened(error: NotFetched, seconds: float, wanted: str) -> str:
    """For people, where a reply that is `wanted` was waited for so long."""
    match error:
        case Late():
            return f"no reply within {seconds:.3g} s"
        case Refused():
            return str(error)
        case NotTaken():
            return f"answered with what cannot be taken: {error}"
        case Malformed():
            return f"answered with something that is not {wanted}"
    return "cannot be reached"


def paused(error: NotFetched, pauses: Iterator[float], left: float | None, *, longest: float) -> bool:
    """Whether to send the request again, once the pause is over.

    Not after a failure that will not pass or took all its time, nor `longest` or the seconds that are `left` later.
    """
    pause = None if isinstance(error, Late) or not error.may_pass else next(pauses, None)
    if pause is None:
        return False
    pause = max(pause, error.after)
    if pause > longest or (left is not None and pause >= left):
        return False
    time.sleep(pause)
    return True


# --- how often a server may be called: so many times a minute, for all callers of the process -------------------------


class Rate:
    """At most `per_minute` calls begin in any minute, in the order of the callers. Safe to use from several threads."""

    def __init__(
        self,
        per_minute: int,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.per_minute = per_minute
        self._clock = clock
        self._sleep = sleep
        self._begun: deque[float] = deque(maxlen=per_minute)  # when the last calls began or, if they wait, will begin
        self._lock = threading.Lock()

    def wait(self, seconds_left: float | None = None) -> None:
        """Wait for one's turn. Raises BudgetSpent at once when it comes after `seconds_left`."""
        with self._lock:
            now = self._clock()
            turn = max(now, self._begun[0] + 60.0) if len(self._begun) == self.per_minute else now
            if seconds_left is not None and turn - now > seconds_left:
                what = f"the limit of {self.per_minute} calls per minute leaves no turn within the budget's seconds"
                raise BudgetSpent(what)
            self._begun.append(turn)
        if turn > now:
            self._sleep(turn - now)


_shared: dict[tuple[str, int], Rate] = {}
_sharing = threading.Lock()


def shared_rate(url: str, per_minute: int) -> Rate:
    """The one limiter of a server in this process; another limit for the same server is another limiter."""
    server = urlsplit(without_password(url)).netloc.lower()
    with _sharing:
        return _shared.setdefault((server, per_minute), Rate(per_minute))
