"""What is refused before any route: idle connections, strange hosts and origins, large and slow bodies.

- A page of another site may reach a server on this machine through a name that points at it (DNS rebinding): a
  request with a host that is not ours is refused (421).
- A request from a page of another origin is refused (403), whatever the method, unless the origin is allowed. Links
  to our pages work: a visit receives only the page itself.
- A body larger than its route allows is refused (413), by its declared length and as it arrives; one without room
  beside those in progress must come again (429); the body of an unknown caller is not read.

The guard also adds headers to every reply, and writes each request to the audit log.
"""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from ipaddress import ip_address
from time import monotonic
from typing import Any, ClassVar
from urllib.parse import quote, urlsplit

from fastapi.concurrency import run_in_threadpool
from fastapi.responses import JSONResponse
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.auto import AutoHTTPProtocol

from thresher_server.admission import RETRY_SECONDS
from thresher_server.problems import Problem
from thresher_server.security.access import identify
from thresher_server.security.sessions import session_in
from thresher_server.service import Service, is_loopback

HEAD_SECONDS = 15.0
"""From the connection, or the first bytes of a later request, to the whole head."""

MOST_OF_ADDRESS = 128
"""Open connections of one address in a process; a browser opens six, a proxy some dozens."""

MEBIBYTE = 1_048_576

SILENT_SECONDS = 30.0
"""Between two pieces of a body: allows slow lines, but not idle connections."""

LONGEST_PATH = 500
"""Characters of a path in the audit log."""

SLOW_SECONDS, SLOWEST_BYTES = 60.0, 4096
"""A body has a minute, and a second for every so many bytes received; slower ones are refused."""

TOGETHER = 8
"""Bodies of the largest size in a process at once; forms go straight to disk and do not count."""

UNWATCHED = re.compile(
    r"/|/(health|ready|metrics|docs|openapi\.json|favicon\.ico|page/.*|d/.*|api/session|api/jobs/.*)"
)
"""Paths that are logged only if refused: the page requests them by itself."""

FORMS = re.compile(r"/api/collections/[^/]+/documents/?")
"""Paths whose body may be as large as an upload, and goes to disk."""

HELD = re.compile(r"/process/?")
"""Paths whose body may be as large as an upload, and is held in memory: together no larger than one of them."""

HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; font-src 'self'; "
        "connect-src 'self'; worker-src 'self' blob:; frame-ancestors 'none'; base-uri 'none'; form-action 'self'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}
"""Headers of every reply; a route may set stricter ones."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """What the guard allows."""

    names: Sequence[str]
    """Hosts and addresses besides loopback; `*.example.org` matches every name below."""
    origins: Sequence[str]
    body: int
    """Bytes of a body at most, and of an upload."""
    upload: int


def bounds_of(service: Service) -> Bounds:
    """The bounds in the settings of a service."""
    settings = service.settings
    origins = [origin for origin in settings.allowed_origins.split(",") if origin]
    names = [name for name in (*settings.allowed_hosts.split(","), service.public_host, settings.host) if name]
    body, upload = int(settings.max_body_megabytes * MEBIBYTE), int(settings.max_upload_megabytes * MEBIBYTE)
    return Bounds(names, origins, body, max(body, upload))


class Guard:
    """Middleware that admits or refuses a request."""

    def __init__(self, app: ASGIApp, service: Service) -> None:
        self.app = app
        self.service = service
        self.bounds = bounds_of(service)
        self._room = {False: TOGETHER * self.bounds.body, True: self.bounds.upload}
        """Bytes free for bodies that are held in memory, and for large ones among these."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """The ASGI call."""
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        scope.setdefault("state", {})
        sending = self._with_headers(scope, send)
        try:
            most = self._checked(scope)
            if _has_body(scope) and not await run_in_threadpool(self._is_known, Headers(scope=scope), scope["method"]):
                await self.app(scope, _nothing, sending)  # the route refuses it, in its own format
                return
            async with self._place(scope) as place:
                await self.app(scope, _limited(receive, most, place), sending)
        except Problem as problem:
            await JSONResponse(problem.body, problem.status, problem.headers)(scope, receive, sending)

    @asynccontextmanager
    async def _place(self, scope: Scope) -> AsyncIterator[Callable[[int], None]]:
        """Reserve room for a body: its declared length and any excess. Raises Problem 429 if there is none."""
        held, large = 0, HELD.fullmatch(scope["path"]) is not None

        def holding(come: int) -> None:
            nonlocal held
            more = max(come - held, 0)
            if more > self._room[large]:
                after = {"Retry-After": str(RETRY_SECONDS), "Connection": "close"}
                raise Problem(429, "too much is sent at once", next_step="come back in a moment", headers=after)
            self._room[large] -= more
            held += more

        if FORMS.fullmatch(scope["path"]):
            yield lambda _: None
            return
        try:
            holding(int(Headers(scope=scope).get("content-length", "0")))
            yield holding
        finally:
            self._room[large] += held

    def _checked(self, scope: Scope) -> int:
        """The largest body allowed, in bytes. Raises Problem."""
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if not is_ours(host, self.bounds.names):
            raise Problem(
                421,
                "is not a name of this server",
                subject=f"host {host!r}",
                next_step="add it to server.allowed_hosts",
            )
        origin = headers.get("origin")
        if origin is not None and not self._may_call(origin, host):
            raise Problem(
                403, "may not call this server", subject=f"origin {origin!r}", next_step="see server.allowed_origins"
            )
        if (
            headers.get("sec-fetch-site") in ("cross-site", "same-site")
            and origin is None
            and not _is_visit(scope, headers)
        ):
            raise Problem(403, "a page of another site may not call this server")
        is_large = any(paths.fullmatch(scope["path"]) for paths in (FORMS, HELD))
        most = self.bounds.upload if is_large else self.bounds.body
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length) > most:
            raise _too_large(most)
        return most

    def _is_known(self, headers: Headers, method: str) -> bool:
        try:
            return bool(identify(self.service, key_in(headers), session_in(headers, method)))
        except Problem:
            return False

    def _may_call(self, origin: str, host: str) -> bool:
        return origin in self.bounds.origins or urlsplit(origin).netloc.casefold() == host.casefold() != ""

    def _with_headers(self, scope: Scope, send: Send) -> Send:
        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                if message["status"] >= 400 or not UNWATCHED.fullmatch(scope["path"]):
                    caller = scope["state"].get("caller")
                    what = f"{scope.get('method', 'GET')} {quote(scope['path'][:LONGEST_PATH])}"
                    self.service.audit.write("" if caller is None else caller.name, what, status=message["status"])
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        return sending


def is_ours(host: str, names: Sequence[str]) -> bool:
    """Whether a Host is loopback, one of `names`, or an IP address if `names` has the one for all (0.0.0.0, ::)."""
    name = _name_of(host)
    if name is None:
        return False
    if is_loopback(name) or (_is_address(name) and any(one in ("0.0.0.0", "::") for one in names)):
        return True
    return any(name.endswith(one[1:].casefold()) if one.startswith("*.") else name == one.casefold() for one in names)


def _is_visit(scope: Scope, headers: Headers) -> bool:
    """Whether a person opens a link as a whole page; no other page can read the reply or embed it."""
    is_whole_page = headers.get("sec-fetch-mode") == "navigate" and headers.get("sec-fetch-dest") == "document"
    return is_whole_page and scope.get("method") in ("GET", "HEAD")


def key_in(headers: Headers) -> str | None:
    """The key of a request."""
    kind, _, bearer = headers.get("authorization", "").partition(" ")
    return bearer.strip() if kind.casefold() == "bearer" else headers.get("x-api-key")


def _has_body(scope: Scope) -> bool:
    headers = Headers(scope=scope)
    return headers.get("content-length", "0") != "0" or "transfer-encoding" in headers


async def _nothing() -> Message:
    return {"type": "http.request", "body": b"", "more_body": False}


def _limited(receive: Receive, most: int, holding: Callable[[int], None]) -> Receive:
    """The same, but raises Problem if the body is too large, pauses too long, or arrives too slowly."""
    come, whole, began = 0, False, monotonic()

    async def receiving() -> Message:
        nonlocal come, whole
        try:
            left = began + SLOW_SECONDS + come / SLOWEST_BYTES - monotonic()
            message = await asyncio.wait_for(receive(), None if whole else max(min(SILENT_SECONDS, left), 0))
        except TimeoutError:
            what = "the body comes too slowly, or not at all"
            raise Problem(408, what, headers={"Connection": "close"}) from None
        whole = whole or not message.get("more_body", False)
        come += len(message.get("body", b""))
        if come > most:
            raise _too_large(most)
        holding(come)
        return message

    return receiving


def _too_large(most: int) -> Problem:
    headers = {"Connection": "close"}
    return Problem(
        413, f"the body is larger than {most / MEBIBYTE:g} MiB", next_step="send less at once", headers=headers
    )


def _name_of(host: str) -> str | None:
    """The host in lower case without its port; None if invalid."""
    try:
        parts = urlsplit(f"//{host}")
        _ = parts.port  # raises if it is not a number
        name = parts.hostname
    except ValueError:
        return None
    spoiled = parts.path or parts.query or parts.fragment or parts.username is not None
    return None if spoiled or not name else name.casefold()


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


class Bounded(AutoHTTPProtocol):  # type: ignore[misc, valid-type]
    """uvicorn's protocol, which closes idle connections and those beyond the limit of an address."""

    head_seconds: ClassVar[float] = HEAD_SECONDS
    most_of_address: ClassVar[int] = MOST_OF_ADDRESS
    open_of: ClassVar[Counter[str]] = Counter()

    def connection_made(self, transport: Any) -> None:
        """As in asyncio."""
        super().connection_made(transport)
        self._late: asyncio.TimerHandle | None = None
        peer = transport.get_extra_info("peername")
        self._address = peer[0] if isinstance(peer, tuple) else ""
        self.open_of[self._address] += 1
        if self.open_of[self._address] > self.most_of_address:
            transport.abort()
            return
        self._wait_for_head()

    def data_received(self, data: bytes) -> None:
        """As in asyncio."""
        super().data_received(data)
        if self.cycle is None or self.cycle.response_complete:
            self._wait_for_head()
        elif self._late is not None:
            self._late.cancel()
            self._late = None

    def connection_lost(self, exc: Exception | None) -> None:
        """As in asyncio."""
        if self._late is not None:
            self._late.cancel()
        self.open_of[self._address] -= 1
        if not self.open_of[self._address]:
            del self.open_of[self._address]
        super().connection_lost(exc)

    def _wait_for_head(self) -> None:
        if self._late is None:  # further bytes do not extend the deadline
            self._late = asyncio.get_running_loop().call_later(self.head_seconds, self.transport.abort)
