"""MCP behind the server, stateless: `/mcp`, and `/mcp/chatgpt` with the tools that ChatGPT calls."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager

from fastapi import FastAPI
from starlette.routing import Route

from thresher_server.mcp.door import Door, security
from thresher_server.mcp.offer import READ_ONLY, Offer, Profile
from thresher_server.mcp.server import DocumentServer, make_server
from thresher_server.security.guard import bounds_of
from thresher_server.security.keys import Scope
from thresher_server.service import Service

OFFERED = "mcp"
"""In `service.extras`: the Offer of a process that serves MCP alone, see `command`."""

SERVED: Mapping[str, Offer] = {
    "/mcp": Offer(scopes=READ_ONLY | {Scope.WRITE}),  # the key must have them too
    "/mcp/chatgpt": Offer(Profile.CHATGPT),
}


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
    bounds = bounds_of(service)
    app = server.streamable_http_app(
        streamable_http_path=path,
        stateless_http=True,
        transport_security=security(bounds),
        max_request_body_size=bounds.body,
    )
    return Door(app, service)
