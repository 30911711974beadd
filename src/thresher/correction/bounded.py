"""One HTTP exchange with addresses that are given, ended by a deadline and a size; nothing is followed or remembered.

Spoken through httpcore instead of httpx: only there can the connection be made to an address that was checked before
while TLS still verifies the host's name, and only there does a deadline hold over everything, the headers included.
"""

from __future__ import annotations

import ssl
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from time import monotonic
from typing import Any

import httpcore
import httpx

AGENT = "thresher"
"""What we call ourselves, to servers and in robots.txt."""

_GZIP = zlib.MAX_WBITS + 16


class NotFetched(Exception):
    """Something could not be had from the network, or was refused; says why in a few words."""


class AddressRefused(NotFetched):
    """The host has no address, or none that may be connected to."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What a server answered. `body` is empty where it was not wanted."""

    status: int
    headers: Mapping[str, str]
    """Names in lower case; the first of several with the same name."""
    body: bytes = b""


@dataclass(frozen=True, slots=True)
class Bounds:
    """What an exchange may take: `deadline` on the clock of `time.monotonic`, `max_bytes` of the unpacked body."""

    deadline: float
    max_bytes: int

    @property
    def seconds_left(self) -> float:
        """Until the deadline, at least 0."""
        return max(0.0, self.deadline - monotonic())


def exchange(
    method: str,
    url: httpx.URL,
    *,
    addresses: Sequence[str],
    bounds: Bounds,
    headers: Mapping[str, str] | None = None,
    content: bytes = b"",
    wanted: Callable[[Reply], bool] = lambda head: head.status == 200,
    tls: ssl.SSLContext | None = None,
) -> Reply:
    """Ask and read the answer. Raises NotFetched.

    The connection goes to the first of `addresses` that answers, never to what the host's name means by now. `wanted`
    sees status and headers and says whether the body is read. The public certificates are trusted unless `tls` says
    otherwise.
    """
    sent = {
        "Host": url.netloc.decode("ascii"),
        "User-Agent": AGENT,
        "Accept-Encoding": "gzip",
        "Connection": "close",
        **(headers or {}),
    }
    if content:
        sent["Content-Length"] = str(len(content))
    target = httpcore.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path)
    network = _CheckedNetwork(addresses, bounds)
    try:
        with (
            httpcore.ConnectionPool(ssl_context=tls, network_backend=network) as pool,
            pool.stream(method, target, headers=list(sent.items()), content=content) as response,
        ):
            head = Reply(response.status, _headers(response.headers))
            if not wanted(head):
                return head
            return Reply(head.status, head.headers, _body(head, response.iter_stream(), bounds.max_bytes))
    except httpcore.TimeoutException as error:
        raise NotFetched("no complete answer in time") from error
    except (httpcore.NetworkError, httpcore.ProtocolError) as error:
        raise NotFetched(f"cannot be reached ({str(error) or type(error).__name__})") from error


def _headers(raw: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
    headers: dict[str, str] = {}
    for name, value in raw:
        headers.setdefault(name.decode("latin-1").lower(), value.decode("latin-1"))
    return headers


def _body(head: Reply, pieces: Iterable[bytes], max_bytes: int) -> bytes:
    """The unpacked body; what is packed in a way that was not asked for (or packed twice) is refused."""
    packed = head.headers.get("content-encoding", "").strip().lower()
    length = head.headers.get("content-length", "")
    if length.isdigit() and int(length) > max_bytes:
        raise _too_large(max_bytes)
    if packed in ("gzip", "x-gzip"):
        return _unpacked(pieces, max_bytes)
    if packed not in ("", "identity"):
        raise NotFetched("packed in a way that is not read")
    body = bytearray()
    for piece in pieces:
        body += piece
        if len(body) > max_bytes:
            raise _too_large(max_bytes)
    return bytes(body)


def _unpacked(pieces: Iterable[bytes], max_bytes: int) -> bytes:
    """Never more than one byte beyond the limit is unpacked, however small what came is."""
    unpack = zlib.decompressobj(_GZIP)
    body = bytearray()
    try:
        for piece in pieces:
            body += unpack.decompress(piece, max_bytes + 1 - len(body))
            if len(body) > max_bytes:
                raise _too_large(max_bytes)
            if unpack.eof:
                return bytes(body)
    except zlib.error as error:
        raise NotFetched("packed wrongly") from error
    raise NotFetched("the answer breaks off")


def _too_large(max_bytes: int) -> NotFetched:
    return NotFetched(f"larger than {max_bytes:,} bytes")


class _CheckedNetwork(httpcore.NetworkBackend):
    """Connects to the given addresses only."""

    def __init__(self, addresses: Sequence[str], bounds: Bounds) -> None:
        self._addresses = addresses
        self._bounds = bounds
        self._sockets = httpcore.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        """A connection to the first address that answers; the time that is left is shared out among them."""
        failure: Exception = httpcore.ConnectError("no address")
        for at, address in enumerate(self._addresses):
            share = _left(self._bounds, httpcore.ConnectTimeout) / (len(self._addresses) - at)
            try:
                return _Timed(self._sockets.connect_tcp(address, port, timeout=share), self._bounds)
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                failure = error
        raise failure


class _Timed(httpcore.NetworkStream):
    """A connection whose every read and write ends at the deadline."""

    def __init__(self, stream: httpcore.NetworkStream, bounds: Bounds) -> None:
        self._stream = stream
        self._bounds = bounds

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._stream.read(max_bytes, timeout=_left(self._bounds, httpcore.ReadTimeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, timeout=_left(self._bounds, httpcore.WriteTimeout))

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        left = _left(self._bounds, httpcore.ConnectTimeout)
        return _Timed(self._stream.start_tls(ssl_context, server_hostname, left), self._bounds)

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


def _left(bounds: Bounds, late: type[httpcore.TimeoutException]) -> float:
    """Seconds until the deadline; raises `late` when there are none."""
    left = bounds.seconds_left
    if not left:
        raise late("the time is up")
    return left
