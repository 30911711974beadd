"""One HTTP exchange with addresses that are given, ended by a deadline and a size; nothing is followed or remembered.

Spoken through httpcore instead of httpx: only there can the connection be made to an address that was checked before
while TLS still verifies the host's name, and only there does a deadline hold over everything, the headers included.
"""

from __future__ import annotations

import socket
import ssl
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
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


# --- which addresses a page may be fetched from: public ones. A host that has any other is refused --------------------


Address = IPv4Address | IPv6Address

Resolve = Callable[[str, int], list[str]]
"""A host and a port to the host's addresses, in the order to try; OSError when there are none."""

METADATA_HOSTS = frozenset(
    {
        "metadata",
        "metadata.google.internal",
        "metadata.goog",
        "instance-data",
        "instance-data.ec2.internal",
        "metadata.tencentyun.com",
        "metadata.azure.internal",
    }
)
"""Names under which clouds hand a machine its own secrets, refused whatever they resolve to."""

_NOT_PUBLIC_4 = tuple(
    IPv4Network(network)
    for network in (
        "0.0.0.0/8",  # this network
        "10.0.0.0/8",  # private
        "100.64.0.0/10",  # carriers' NAT; holds the metadata address 100.100.100.200
        "127.0.0.0/8",  # loopback
        "168.63.129.16/32",  # Azure's metadata address, which looks public
        "169.254.0.0/16",  # link-local; holds the metadata address 169.254.169.254
        "172.16.0.0/12",  # private
        "192.0.0.0/24",  # protocol assignments
        "192.0.2.0/24",  # documentation
        "192.88.99.0/24",  # 6to4 relays
        "192.168.0.0/16",  # private
        "198.18.0.0/15",  # benchmarks
        "198.51.100.0/24",  # documentation
        "203.0.113.0/24",  # documentation
        "224.0.0.0/4",  # multicast
        "240.0.0.0/4",  # reserved, broadcast
    )
)
_GLOBAL_6 = IPv6Network("2000::/3")
"""All that is routed publicly. Outside lie loopback, link-local, private (with fd00:ec2::254), multicast, addresses
that hold an IPv4 address (::ffff:0:0/96) and NAT64 (64:ff9b::/96)."""
_NOT_PUBLIC_6 = tuple(
    IPv6Network(network)
    for network in (
        "2001::/23",  # protocol assignments, with Teredo
        "2001:db8::/32",  # documentation
        "2002::/16",  # 6to4: holds an IPv4 address
        "3fff::/20",  # documentation
    )
)


def is_public(address: Address) -> bool:
    """Whether an address belongs to the public internet (IANA's special-purpose registries, and the clouds' own)."""
    if isinstance(address, IPv4Address):
        return not any(address in network for network in _NOT_PUBLIC_4)
    return address in _GLOBAL_6 and not any(address in network for network in _NOT_PUBLIC_6)


def resolved(host: str, port: int) -> list[str]:
    """The addresses the system knows for a host. How long that takes is up to the system's resolver."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(place[0]) for *_, place in found))


def checked_addresses(host: str, port: int, *, resolve: Resolve, allowed: Callable[[Address], bool]) -> list[str]:
    """The addresses of a host, resolved once and all of them allowed. Raises NotFetched.

    One forbidden address forbids the host: a name that mixes inner and public addresses is out to deceive.
    """
    if host.lower().rstrip(".") in METADATA_HOSTS:
        raise AddressRefused("refused: a metadata host")
    try:
        addresses = [ip_address(address) for address in resolve(host, port)]
    except (OSError, UnicodeError) as error:
        raise AddressRefused("the host has no address") from error
    except ValueError as error:
        raise AddressRefused("refused: the host has no plain address") from error
    if not addresses:
        raise AddressRefused("the host has no address")
    if not all(allowed(address) for address in addresses):
        raise AddressRefused("refused: the host is not on the public internet")
    return [str(address) for address in addresses]
