"""MCP over HTTP, stateless: `/mcp`, and `/mcp/chatgpt` with the tools that ChatGPT calls, behind the server's keys."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager

from fastapi import FastAPI
from fastapi.responses import JSONResponse
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.transport_security import TransportSecuritySettings
from starlette.datastructures import Headers
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Send
from starlette.types import Scope as AsgiScope

from thresher_server.mcp.server import DocumentServer, make_server
from thresher_server.problems import Problem
from thresher_server.security.access import identify
from thresher_server.security.guard import bounds_of, key_in
from thresher_server.security.keys import READ_ONLY, Offer, Profile, Scope
from thresher_server.service import Service

OFFERED = "mcp"
"""In `service.extras`: the Offer of a process that serves MCP alone, see `command`."""

SERVED: Mapping[str, Offer] = {
    "/mcp": Offer(scopes=READ_ONLY | {Scope.WRITE}),  # the key must have them too
    "/mcp/chatgpt": Offer(Profile.CHATGPT),
}


class Door:
    """Passes a request with a valid key to the SDK, with its caller; otherwise replies 401 (RFC 6750)."""

    def __init__(self, app: ASGIApp, service: Service) -> None:
        self.app = app
        self.service = service

    async def __call__(self, scope: AsgiScope, receive: Receive, send: Send) -> None:
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


def mount(app: FastAPI, service: Service) -> Callable[[], AbstractAsyncContextManager[object]]:
    """Add the routes; the returned context manager runs for the lifetime of the application."""
    alone = service.extras.get(OFFERED)
    offers = {"/mcp": alone} if isinstance(alone, Offer) else SERVED
    servers = {
        path: make_server(service, offer, over_http=True, opens=offers is SERVED) for path, offer in offers.items()
    }
    for path, server in servers.items():
        app.router.routes.append(Route(path, endpoint=_door(path, server, service), include_in_schema=False))

    @asynccontextmanager
    async def running() -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            for server in servers.values():
                await stack.enter_async_context(server.session_manager.run())
            yield

    return running


def _door(path: str, server: DocumentServer, service: Service) -> Door:
    app = server.streamable_http_app(
        streamable_http_path=path,
        stateless_http=True,
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),  # the guard does it
        max_request_body_size=bounds_of(service).body,
    )
    return Door(app, service)
