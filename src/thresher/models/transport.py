"""Requests to the server of a model: OpenAI's SDK over the one HTTP client of `thresher.net.http`.

A server is a stranger: it may drip its answer, never end it, pack a gigabyte into a kilobyte or send the request on to
somebody else. So every exchange has a deadline over all of it and a bound on the unpacked body, and a redirect is an
error. Every failure leaves `asked` as one of four kinds of Trouble.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from contextvars import ContextVar
from functools import cache, partial
from typing import TYPE_CHECKING, Any

import httpx

from thresher.errors import MissingExtra
from thresher.models.replies import MALFORMED
from thresher.net.http import (
    REDIRECTS,
    Bounds,
    Connections,
    Late,
    NotFetched,
    NotTaken,
    anywhere,
    checked_addresses,
    host_and_port,
    parsed_address,
    proxy_of,
    resolved,
)

if TYPE_CHECKING:
    import ssl

    from openai import OpenAI

    from thresher.net.sockets import Sockets

LONGEST_PLACE = 200  # characters of the address a redirect names that an error shows
PASSED_ON = ("retry-after", "content-type")  # headers of an answer that the SDK sees, besides `location`


# --- what can go wrong ------------------------------------------------------------------------------------------------


class Trouble(Exception):
    """A server did not answer as it was asked."""

    passing = False  # whether the same request may be answered later
    after = 0.0  # seconds that the server asks to wait before


class TooLate(Trouble):
    """The answer was not complete in time."""


class Unreached(Trouble):
    """There is no connection, or it broke."""

    passing = True


class Unfit(Trouble):
    """The answer has the wrong form; gives the reason where it is known."""


class Refused(Trouble):
    """The answer is a status other than 200."""

    def __init__(self, status: int, body: object, headers: Mapping[str, str]) -> None:
        super().__init__(f"answered with status {status}")
        self.status = status
        self.body = body  # parsed where it is JSON, else a text
        self.headers = headers  # of a redirect with `location`, the whole address
        self.passing = status == 429 or status >= 500
        self.after = _seconds(headers.get("retry-after", ""))

    @property
    def what(self) -> str:
        """What happened, in words."""
        return str(self) + leads_to(self.status, self.headers)


def _seconds(header: str) -> float:
    """Seconds of a Retry-After header; 0 for none or a date."""
    try:
        return max(0.0, float(header))
    except ValueError:
        return 0.0


def leads_to(status: int, headers: Mapping[str, str]) -> str:
    """The target of a redirect, in words that follow its status; empty for any other answer."""
    if status not in REDIRECTS:
        return ""
    place = "".join(character for character in headers.get("location", "") if character.isprintable())
    return f", which leads to {place[:LONGEST_PLACE] or 'nowhere'} and is not followed"


# --- asking -----------------------------------------------------------------------------------------------------------

_bounds: ContextVar[Bounds] = ContextVar("bounds")  # of the exchange this thread begins: the SDK has no place for them


@contextmanager
def asked(resource: Any, bounds: Bounds, **request: Any) -> Iterator[Iterator[bytes]]:
    """The answer of `resource.create(**request)`, unpacked, piece by piece as it comes. Raises Trouble.

    Read it inside the block: errors of a malformed answer become Trouble too.
    """
    with _one_door(), ExitStack() as stack:
        token = _bounds.set(bounds)
        try:
            response = stack.enter_context(resource.with_streaming_response.create(**request))
        finally:
            _bounds.reset(token)
        yield response.iter_bytes()


@contextmanager
def _one_door() -> Iterator[None]:
    """Turns the errors of the SDK, the connection and the reading of an answer into Trouble."""
    openai = sdk()
    try:
        yield
    except (openai.APITimeoutError, httpx.TimeoutException) as error:
        raise TooLate("no complete answer in time") from error
    except (openai.APIConnectionError, httpx.TransportError) as error:
        cause = error if isinstance(error, _NotTaken) else error.__cause__
        if isinstance(cause, _NotTaken):
            raise Unfit(str(cause)) from error
        raise Unreached("cannot be reached") from error
    except openai.APIStatusError as error:
        raise Refused(error.status_code, error.body, error.response.headers) from error
    except (openai.OpenAIError, httpx.HTTPError, *MALFORMED) as error:
        raise Unfit("") from error


def sdk() -> Any:
    """The module `openai`, imported when a server is spoken to. Raises MissingExtra."""
    try:
        import openai
    except ModuleNotFoundError as error:
        raise MissingExtra("openai", extra="llm") from error
    return openai


def connection(base_url: str, api_key: str | None, *, sockets: Sockets | None = None) -> OpenAI:
    """A client of a server, for `asked`; nothing is sent yet. `sockets` can end its calls.

    It never retries: its retries would know no deadline. Raises MissingExtra.
    """
    http: Any = httpx.Client(
        transport=GuardedTransport(_certificates()),
        event_hooks={} if sockets is None else {"request": [sockets.watch]},
        headers={"Accept-Encoding": "gzip"},  # all that is unpacked within bounds
        follow_redirects=False,
    )
    # Servers on one's own machine want no key, the SDK wants a string.
    client: OpenAI = sdk().OpenAI(base_url=base_url, api_key=api_key or "none", http_client=http, max_retries=0)
    weakref.finalize(client, http.close)
    return client


@cache
def _certificates() -> ssl.SSLContext:
    """Read once a process: that takes 23 ms, and every question makes a client."""
    return httpx.create_ssl_context()


# --- the connection ---------------------------------------------------------------------------------------------------


class _NotTaken(httpx.TransportError):
    """The answer is refused; says why."""


class GuardedTransport(httpx.BaseTransport):
    """Sends the requests of an httpx client within the bounds of `asked`. Safe to use from several threads.

    Of an answer it hands on only what the SDK needs: no character set, no cookies, the body unpacked.
    """

    def __init__(self, tls: ssl.SSLContext) -> None:
        self._tls = tls
        self._connections: dict[httpx.URL | None, Connections] = {}
        self._lock = threading.Lock()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Status, a few headers, and the body as it comes. Raises httpx.TransportError."""
        exchange = ExitStack()
        try:
            host_and_port(request.url)
            head, pieces = exchange.enter_context(
                self._kept(proxy_of(request.url)).opened(
                    request.method,
                    request.url,
                    bounds=_bounds.get(),
                    headers=dict(request.headers),
                    content=request.read(),
                    trace=request.extensions.get("trace"),
                )
            )
        except NotFetched as error:
            raise _as_httpx(error) from error
        headers = {name: head.headers[name].partition(";")[0] for name in PASSED_ON if name in head.headers}
        if head.status in REDIRECTS:
            headers["location"] = _whole(request.url, head.headers.get("location", ""))
        return httpx.Response(head.status, headers=headers, stream=_Body(pieces, exchange))

    def close(self) -> None:
        """Let go of the connections."""
        with self._lock:
            while self._connections:
                self._connections.popitem()[1].close()

    def _kept(self, proxy: httpx.URL | None) -> Connections:
        with self._lock:
            if proxy not in self._connections:
                addresses = partial(checked_addresses, resolve=resolved, allowed=anywhere)  # somebody configured it
                self._connections[proxy] = Connections(addresses, tls=self._tls, proxy=proxy)
            return self._connections[proxy]


def _whole(url: httpx.URL, location: str) -> str:
    """The address a redirect names, without a name and password; empty for none."""
    try:
        return str(parsed_address(location, base=url).copy_with(userinfo=b""))
    except NotFetched:
        return ""


class _Body(httpx.SyncByteStream):
    """The body of an answer; closed before its end, its connection is closed with it."""

    def __init__(self, pieces: Iterator[bytes], exchange: ExitStack) -> None:
        self._pieces = pieces
        self._exchange = exchange

    def __iter__(self) -> Iterator[bytes]:
        try:
            yield from self._pieces
        except NotFetched as error:
            raise _as_httpx(error) from error

    def close(self) -> None:
        with suppress(NotFetched):
            self._exchange.close()


def _as_httpx(error: NotFetched) -> httpx.TransportError:
    if isinstance(error, Late):
        return httpx.ReadTimeout(str(error))
    return _NotTaken(str(error)) if isinstance(error, NotTaken) else httpx.ConnectError(str(error))
