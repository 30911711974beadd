"""Authentication of MCP over HTTP, and the allowed hosts and origins in the form of the SDK."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import urlsplit

from fastapi.responses import JSONResponse
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.transport_security import TransportSecuritySettings
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from thresher_server.problems import Problem
from thresher_server.security.access import identify
from thresher_server.security.guard import Bounds, is_ours, key_in
from thresher_server.service import Service


class Door:
    """Passes a request with a valid key to the SDK, with its caller; otherwise replies 401 (RFC 6750)."""

    def __init__(self, app: ASGIApp, service: Service) -> None:
        self.app = app
        self.service = service

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """The ASGI call."""
        given = key_in(Headers(scope=scope))
        try:
            caller = identify(self.service, given)
        except Problem as problem:
            await _unauthorized(problem, given)(scope, receive, send)
            return
        token = AccessToken(token=given or "", client_id=caller.identity, scopes=sorted(caller.scopes))
        scope.setdefault("state", {})["caller"] = caller
        await self.app({**scope, "user": AuthenticatedUser(token)}, receive, send)


def _unauthorized(problem: Problem, given: str | None) -> JSONResponse:
    """The 401 reply; it has an error code only if a key was given."""
    said = problem.body["error"]["message"].replace('"', "'")
    wrong = f', error="invalid_token", error_description="{said}"' if given else ""
    body = {"error": "invalid_token", "error_description": said}
    return JSONResponse(body, 401, {"WWW-Authenticate": f'Bearer realm="thresher"{wrong}'})


class _Hosts(list[str]):
    """The Host headers that the guard allows, as a list for the SDK."""

    def __init__(self, names: Sequence[str]) -> None:
        super().__init__(names)
        self._names = names

    def __contains__(self, host: object) -> bool:
        return isinstance(host, str) and is_ours(host, self._names)


class _Origins(_Hosts):
    """The same for Origin: allowed origins and those of our own names; the guard also compares with Host."""

    def __init__(self, names: Sequence[str], origins: Sequence[str]) -> None:
        super().__init__(names)
        self._origins = origins

    def __contains__(self, origin: object) -> bool:
        return isinstance(origin, str) and (origin in self._origins or super().__contains__(urlsplit(origin).netloc))


def security(bounds: Bounds) -> TransportSecuritySettings:
    """The SDK's check of Host and Origin, with the rules of our guard: the SDK cannot express `any address`."""
    settings = TransportSecuritySettings(enable_dns_rebinding_protection=True)
    settings.allowed_hosts = _Hosts(bounds.names)
    settings.allowed_origins = _Origins(bounds.names, bounds.origins)
    return settings
