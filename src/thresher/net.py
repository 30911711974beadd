"""The one HTTP client: documents that are indexed by URL, web pages, search providers and models' servers use it.

Every exchange has a deadline and a bound on the unpacked body; there are no cookies. `send` asks an endpoint that
somebody configured, anywhere, and follows nothing. `follow` follows redirects, and checks every hop like the first.

It uses httpcore instead of httpx: only there can the connection go to an address that was checked before while TLS
still verifies the host's name, and only there does a deadline hold over the headers too.
"""

from __future__ import annotations

import logging
import socket
import ssl
import zlib
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address, ip_network
from threading import Lock
from time import monotonic
from typing import Any
from urllib.parse import unquote
from urllib.request import getproxies, proxy_bypass
from weakref import WeakSet

import httpcore
import httpx

_log = logging.getLogger(__name__)

AGENT = "thresher"  # the name sent to servers and looked for in robots.txt
MAX_REDIRECTS = 5  # browsers allow 20; a page that needs more than 5 is a loop or a login
MAX_ADDRESS = 2_000  # characters of a URL that a stranger wrote
DEFAULT_PORTS = {"http": 80, "https": 443}
REDIRECTS = frozenset({301, 302, 303, 307, 308})
KEPT_SECONDS = 5.0  # for the next request of a connection: what httpx and OpenAI's SDK keep theirs
MOST_DIGITS = 15  # of a length in a header: a petabyte; Python refuses to read numbers of thousands of digits


class NotFetched(Exception):
    """Something could not be had from the network, or was refused; says why in a few words."""

    may_pass = True  # whether the same request may be answered later
    after = 0.0  # seconds that the server asks to wait before


class AddressRefused(NotFetched):
    """The host has no address, or none that may be connected to."""


class NoAddress(AddressRefused):
    """The host has no address."""


class Late(NotFetched):
    """The answer was not complete in time."""


class NotTaken(NotFetched):
    """The answer is larger than it may be, or packed in a way that is not read."""

    may_pass = False


@dataclass(frozen=True, slots=True)
class Reply:
    """What a server answered. `body` is empty where it was not wanted."""

    status: int
    headers: Mapping[str, str]  # names in lower case; the first of several with the same name
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
    proxy: httpx.URL | None = None,
) -> Reply:
    """Send a request and read the answer. Raises NotFetched.

    The connection goes to the first of `addresses` (of the `proxy`, if any) that answers; the host's name is not
    resolved again. `wanted` decides by status and headers whether the body is read. `tls` defaults to the public
    certificates.
    """
    sent = {"Connection": "close", **(headers or {})}
    tls = tls or (certificates() if url.scheme == "https" else None)
    with (
        closing(Connections(lambda host, port: addresses, tls=tls, proxy=proxy)) as connections,
        connections.opened(method, url, bounds=bounds, headers=sent, content=content) as (head, pieces),
    ):
        return Reply(head.status, head.headers, b"".join(pieces)) if wanted(head) else head


class Connections:
    """Connections, kept for later requests until they are closed. Safe to use from several threads.

    `addresses_of` gives the addresses of a host at a port; through a `proxy`, only the proxy's are asked for.
    """

    def __init__(
        self,
        addresses_of: Callable[[str, int], Sequence[str]],
        *,
        tls: ssl.SSLContext | None = None,
        proxy: httpx.URL | None = None,
    ) -> None:
        self._network = _CheckedNetwork(addresses_of)
        options = dict[str, Any](ssl_context=tls, keepalive_expiry=KEPT_SECONDS, network_backend=self._network)
        if proxy is None:
            self._pool: httpcore.ConnectionPool = httpcore.ConnectionPool(**options)
        else:
            login = (proxy.username, proxy.password) if proxy.userinfo else None
            self._pool = httpcore.HTTPProxy(_target(proxy), proxy_auth=login, **options)

    def close(self) -> None:
        """Let go of them."""
        self._pool.close()

    def end(self) -> None:
        """Cut off the requests under way, from another thread; later ones fail too."""
        self._network.end()

    @contextmanager
    def opened(
        self, method: str, url: httpx.URL, *, bounds: Bounds, headers: Mapping[str, str], content: bytes = b""
    ) -> Iterator[tuple[Reply, Iterator[bytes]]]:
        """Status and headers, and the unpacked body piece by piece as it comes. Both raise NotFetched."""
        sent = {"Host": url.netloc.decode("ascii"), "User-Agent": AGENT, "Accept-Encoding": "gzip", **headers}
        if content:
            sent["Content-Length"] = str(len(content))
        written = [(name.encode(), value.encode()) for name, value in sent.items()]
        moments = dict.fromkeys(("connect", "read", "write"), bounds.deadline)
        timeouts = {"timeout": {**moments, "pool": bounds.seconds_left}}
        with (
            _in_words(),
            self._pool.stream(method, _target(url), headers=written, content=content, extensions=timeouts) as response,
        ):
            head = Reply(response.status, _headers(response.headers))
            _log.debug("%s %s: %d", method, url.host, head.status)  # a path or query may hold a key
            yield head, _body(head, response.iter_stream(), bounds.max_bytes)


@contextmanager
def _in_words() -> Iterator[None]:
    """Turns the errors of httpcore into NotFetched."""
    try:
        yield
    except httpcore.TimeoutException as error:
        raise Late("no complete answer in time") from error
    except httpcore.LocalProtocolError:  # whose words, and those of its cause, quote the header: it may hold a key
        raise NotFetched("cannot be sent: a header holds a line break or another control character") from None
    except (httpcore.NetworkError, httpcore.ProtocolError, httpcore.ProxyError) as error:
        raise NotFetched(f"cannot be reached ({str(error) or type(error).__name__})") from error


def _target(url: httpx.URL) -> httpcore.URL:
    return httpcore.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path)


def _headers(raw: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
    headers: dict[str, str] = {}
    for name, value in raw:
        headers.setdefault(name.decode("latin-1").lower(), value.decode("latin-1"))
    return headers


def _body(head: Reply, pieces: Iterable[bytes], max_bytes: int) -> Iterator[bytes]:
    """The unpacked body; refused where it is packed in a way that was not asked for, or twice."""
    packed = head.headers.get("content-encoding", "").strip().lower()
    length = head.headers.get("content-length", "")
    if length.isdecimal() and (len(length) > MOST_DIGITS or int(length) > max_bytes):
        raise _too_large(max_bytes)
    if packed not in ("", "identity", "gzip", "x-gzip"):
        raise NotTaken("packed in a way that is not read")
    taken = 0
    with _in_words():
        for piece in pieces if packed in ("", "identity") else _unpacked(pieces, max_bytes):
            taken += len(piece)
            if taken > max_bytes:
                raise _too_large(max_bytes)
            yield piece


def _unpacked(pieces: Iterable[bytes], max_bytes: int) -> Iterator[bytes]:
    """Never more than one byte beyond the limit is unpacked, however small what came is."""
    unpack = zlib.decompressobj(zlib.MAX_WBITS + 16)  # gzip
    left = max_bytes + 1
    try:
        for piece in pieces:
            came = unpack.decompress(piece, left)
            left -= len(came)
            yield came
            if unpack.eof:
                return
    except zlib.error as error:
        raise NotTaken("packed wrongly") from error
    raise NotTaken("the answer breaks off")


def _too_large(max_bytes: int) -> NotTaken:
    return NotTaken(f"larger than {max_bytes:,} bytes")


class _CheckedNetwork(httpcore.NetworkBackend):
    """Connects to the given addresses only.

    Its timeouts are moments on the clock of `time.monotonic`, which httpcore hands on: connections that outlive a
    request end each read and write at the deadline of the request they serve.
    """

    def __init__(self, addresses_of: Callable[[str, int], Sequence[str]]) -> None:
        self._addresses_of = addresses_of
        self._sockets = httpcore.SyncBackend()
        self._open: WeakSet[_Timed] = WeakSet()
        self._ended = False
        self._lock = Lock()

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
        addresses = self._addresses_of(host, port)
        for at, address in enumerate(addresses):
            share = _left(timeout, httpcore.ConnectTimeout) / (len(addresses) - at)
            try:
                return self.watched(self._sockets.connect_tcp(address, port, timeout=share))
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                failure = error
        raise failure

    def watched(self, stream: httpcore.NetworkStream) -> _Timed:
        """A connection that `end` cuts off."""
        timed = _Timed(stream, self)
        with self._lock:
            self._open.add(timed)
        if self._ended:
            timed.shut()
        return timed

    def end(self) -> None:
        """Shut every socket: closing one does not wake the thread that waits for it."""
        with self._lock:
            self._ended = True
            streams = list(self._open)
        for stream in streams:
            stream.shut()


class _Timed(httpcore.NetworkStream):
    """A connection whose every read and write ends at a moment."""

    def __init__(self, stream: httpcore.NetworkStream, network: _CheckedNetwork) -> None:
        self._stream = stream
        self._network = network

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._stream.read(max_bytes, timeout=_left(timeout, httpcore.ReadTimeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, timeout=_left(timeout, httpcore.WriteTimeout))

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        left = _left(timeout, httpcore.ConnectTimeout)
        return self._network.watched(self._stream.start_tls(ssl_context, server_hostname, left))

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)

    def shut(self) -> None:
        """End what waits on the socket."""
        with suppress(OSError):  # closed already, or taken over by TLS
            # Not the method of a TLS socket, which takes its session away from the thread that reads.
            socket.socket.shutdown(self._stream.get_extra_info("socket"), socket.SHUT_RDWR)


@cache
def certificates() -> ssl.SSLContext:
    """The public ones, read once a process: that takes 23 ms."""
    return httpx.create_ssl_context()


def _left(moment: float | None, late: type[httpcore.TimeoutException]) -> float:
    """Seconds until a moment; raises `late` when there are none, also where none was given."""
    left = 0.0 if moment is None else moment - monotonic()
    if left <= 0:
        raise late("the time is up")
    return left


# --- which addresses belong to the public internet --------------------------------------------------------------------

Address = IPv4Address | IPv6Address

Resolve = Callable[[str, int], list[str]]
"""A host and a port to the host's addresses, in the order to try; OSError when there are none."""

METADATA_HOSTS = {
    *("metadata", "metadata.google.internal", "metadata.goog", "metadata.azure.internal", "metadata.tencentyun.com"),
    *("instance-data", "instance-data.ec2.internal"),
}
"""Names under which clouds hand a machine its own secrets, refused however they resolve."""

_GLOBAL_6 = IPv6Network("2000::/3")
"""All that is routed publicly. Outside lie loopback, link-local, private (with fd00:ec2::254), multicast, addresses
that hold an IPv4 address (::ffff:0:0/96) and NAT64 (64:ff9b::/96)."""
_NOT_PUBLIC = tuple(
    map(
        ip_network,
        (
            "168.63.129.16/32",  # Azure's metadata address
            "192.0.0.0/24",  # protocol assignments
            "192.88.99.0/24",  # 6to4 relays
            "2001::/23",  # protocol assignments, with Teredo
            "2002::/16",  # 6to4: holds an IPv4 address
            "3fff::/20",  # documentation
        ),
    )
)
"""Refused besides what the standard library knows as private, reserved or multicast."""


def is_public(address: Address) -> bool:
    """Whether an address belongs to the public internet (IANA's special-purpose registries, and the clouds' own)."""
    if isinstance(address, IPv6Address) and address not in _GLOBAL_6:
        return False
    special = address.is_multicast or any(address in network for network in _NOT_PUBLIC)
    return address.is_global and not special


def resolved(host: str, port: int) -> list[str]:
    """The addresses the system knows for a host, for as long as its resolver takes."""
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
        raise NoAddress("the host has no address") from error
    except ValueError as error:
        raise AddressRefused("refused: the host has no plain address") from error
    if not addresses:
        raise NoAddress("the host has no address")
    if not all(allowed(address) for address in addresses):
        raise AddressRefused("refused: the host is not on the public internet")
    return [str(address) for address in addresses]


def anywhere(address: Address) -> bool:
    """Every address, where a person named the host."""
    return True


def _literal(host: str, port: int) -> list[str]:
    """The address that a host is, if it is one; nothing is resolved."""
    try:
        return [str(ip_address(host))]
    except ValueError as error:
        raise OSError("a name") from error


# --- addresses --------------------------------------------------------------------------------------------------------


def parsed_address(given: str, *, base: httpx.URL | None = None) -> httpx.URL:
    """An address, without its fragment; a relative one is taken from `base`. Raises NotFetched."""
    if not given or "\\" in given:  # browsers and libraries disagree about which host a backslash leads to
        raise NotFetched("refused: not an address")
    try:
        url = httpx.URL(given) if base is None else base.join(given)
        return url.copy_with(fragment=None)
    except (httpx.InvalidURL, ValueError) as error:
        raise NotFetched("refused: not an address") from error


def host_and_port(url: httpx.URL) -> tuple[str, int]:
    """Of an http or https address. Raises NotFetched for any other."""
    if url.scheme not in DEFAULT_PORTS:
        raise NotFetched("refused: neither http nor https")
    host = url.raw_host.decode("ascii")
    if not host:
        raise NotFetched("refused: an address without a host")
    return host, DEFAULT_PORTS[url.scheme] if url.port is None else url.port


def proxy_of(url: httpx.URL) -> httpx.URL | None:
    """The HTTP proxy that the environment names for an address (`HTTPS_PROXY`, `NO_PROXY` and so on)."""
    proxies = getproxies()
    proxy = proxies.get(url.scheme) or proxies.get("all")
    if not proxy or proxy_bypass(url.netloc.decode("ascii")):
        return None
    return parsed_address(proxy if "://" in proxy else f"http://{proxy}")


def authorization(url: httpx.URL) -> dict[str, str]:
    """The header for a name and password in an address."""
    if not url.userinfo:
        return {}
    return {"Authorization": f"Basic {b64encode(unquote(url.userinfo.decode('ascii')).encode()).decode('ascii')}"}


# --- an endpoint that somebody configured -----------------------------------------------------------------------------


def send(
    method: str, url: str, *, bounds: Bounds, headers: Mapping[str, str] | None = None, content: bytes = b""
) -> Reply:
    """The answer of an endpoint that was configured, hence is trusted: it may be anywhere. Raises NotFetched.

    A redirect is not followed: nothing is sent to another host.
    """
    target = parsed_address(url)
    addresses = checked_addresses(*host_and_port(target), resolve=resolved, allowed=anywhere)
    sent = {**authorization(target), **(headers or {})}
    return exchange(method, target, addresses=addresses, bounds=bounds, headers=sent, content=content)


# --- what an address leads to -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Reach:
    """Where requests may go. The defaults are for addresses that a stranger wrote: a page, a search result.

    `resolve`, `allowed`, `ports` and `tls` are for tests, which map a name to a local server and allow its address
    only. No setting leads here.
    """

    named: bool = False
    """A person named the first address: it may be anywhere, at any port, behind the environment's proxy, and hold a
    password. Where an inner address leads may be inner too; where a public one leads must be public."""
    resolve: Resolve = resolved
    allowed: Callable[[Address], bool] = is_public
    ports: frozenset[int] = frozenset({80, 443, 8080, 8443})
    """Where websites live; other ports belong to other services, which a request must not be smuggled to."""
    tls: ssl.SSLContext | None = None


def follow(
    url: httpx.URL,
    *,
    reach: Reach,
    bounds: Bounds,
    headers: Mapping[str, str] | None = None,
    wanted: Callable[[Reply], bool] = lambda head: head.status == 200,
    before: Callable[[httpx.URL], None] = lambda url: None,
    sending: Callable[[httpx.URL], None] = lambda url: None,
) -> tuple[httpx.URL, Reply]:
    """The address at the end of the redirects and its answer; every hop passes the same checks. Raises NotFetched.

    `before` may refuse an address by raising; `sending` is called with each address that is requested.
    """
    allowed = anywhere if reach.named else reach.allowed
    site = (url.scheme, url.netloc)
    secret = authorization(url) if reach.named else {}
    url = url.copy_with(userinfo=b"") if reach.named else url
    for _ in range(MAX_REDIRECTS + 1):
        host, port = host_and_port(url)
        if url.userinfo:
            raise NotFetched("refused: a name or password in the address")
        if not reach.named and port not in reach.ports:
            raise NotFetched(f"refused: port {port}")
        if not reach.named and len(str(url)) > MAX_ADDRESS:
            raise NotFetched(f"refused: an address of more than {MAX_ADDRESS:,} characters")
        before(url)
        proxy = proxy_of(url) if reach.named else None
        resolve = reach.resolve if proxy is None else _literal
        try:
            addresses = checked_addresses(host, port, resolve=resolve, allowed=allowed)
        except NoAddress:
            if proxy is None:
                raise
            addresses = []  # the proxy knows what the name means
        if all(reach.allowed(ip_address(address)) for address in addresses):
            allowed = reach.allowed
        if proxy is not None:
            addresses = checked_addresses(*host_and_port(proxy), resolve=reach.resolve, allowed=anywhere)
        sending(url)
        sent = {**(headers or {}), **(secret if (url.scheme, url.netloc) == site else {})}
        reply = exchange(
            "GET", url, addresses=addresses, bounds=bounds, headers=sent, wanted=wanted, tls=reach.tls, proxy=proxy
        )
        if reply.status not in REDIRECTS:
            return url, reply
        url = parsed_address(reply.headers.get("location", ""), base=url)
    raise NotFetched(f"more than {MAX_REDIRECTS} redirects")
