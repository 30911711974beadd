"""Requests to the server of a model, over the one HTTP client of `thresher.net.http`.

A server is a stranger: it may drip its answer, never end it, pack a gigabyte into a kilobyte or send the request on to
somebody else. So every exchange has a deadline over all of it and a bound on the unpacked body, and a redirect is an
error. Every failure leaves `Server.asked` as NotFetched.
"""

from __future__ import annotations

import json
import threading
import weakref
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from time import monotonic
from typing import Any

import httpx

from thresher.models.replies import MALFORMED, parsed
from thresher.net.http import (
    REDIRECTS,
    Bounds,
    Connections,
    Late,
    NotFetched,
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


class Malformed(NotFetched):
    """The answer has another form than the one that was asked for."""


class Refused(NotFetched):
    """The answer is a status other than success."""

    def __init__(self, url: httpx.URL, head: Reply, body: object) -> None:
        super().__init__(f"answered with status {head.status}{_leads_to(url, head)}")
        self.status = head.status
        self.body = body  # parsed where it is JSON, else a text
        self.passing = head.status == 429 or head.status >= 500  # whether the same request may be answered later
        self.after = _seconds(head.headers.get("retry-after", ""))  # that the server asks to wait before


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
    def asked(self, path: str, body: Mapping[str, Any] | None, bounds: Bounds) -> Iterator[Iterator[bytes]]:
        """The answer to JSON that is posted below the address (to a GET without one), piece by piece as it comes.

        Raises NotFetched. Read it inside the block: errors of reading a malformed answer become Malformed.
        """
        url = parsed_address(self._url.rstrip("/") + path if path else self._url)
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


# --- how much a model reads at once -----------------------------------------------------------------------------------

LISTING_SECONDS = 2.0  # a server that takes longer to list its models is not waited for
LISTED_BYTES = 5_000_000  # the longest public lists of models are a few hundred kilobytes
LENGTHS = ("max_model_len", "context_length", "context_window", "max_context_length", "loaded_context_length")
"""Names in the lists of vLLM, OpenRouter, Groq, Mistral and LM Studio; llama.cpp has meta.n_ctx."""

_reported: dict[tuple[str, str], int | None] = {}  # what servers stated of their models, in this process


def context_tokens(server: Server, name: str, model: str, *, seconds_left: float | None = None) -> int | None:
    """Tokens of prompt and reply together; None if the server does not report it. It is asked once in a process.

    A server (known by its `name`) that could not reply within `seconds_left`, or before the question was cancelled, is
    asked again by the next call.
    """
    key = (name, model)
    seconds = LISTING_SECONDS if seconds_left is None else min(LISTING_SECONDS, seconds_left)
    if key not in _reported and seconds > 0:
        try:
            with server.asked("/models", None, Bounds(monotonic() + seconds, LISTED_BYTES)) as pieces:
                size = _length(parsed(pieces), model)
        except NotFetched:  # the question itself will report it
            size = None
        if size is not None or (seconds == LISTING_SECONDS and not server.ended):
            _reported[key] = size
        return size
    return _reported.get(key)


def _length(listed: Any, model: str) -> int | None:
    """The length of one model of a list; the only one there is meant by any name, as llama.cpp takes it."""
    for entry in listed["data"]:
        if len(listed["data"]) == 1 or model in (entry.get("id"), *(entry.get("aliases") or ())):
            lengths = [entry.get(name) for name in LENGTHS] + [(entry.get("meta") or {}).get("n_ctx")]
            return min((length for length in lengths if type(length) is int and length > 0), default=None)
    return None
