"""The FastAPI application: routes, mounts, the guard middleware, start and stop."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from importlib import import_module

from fastapi import FastAPI
from fastapi.middleware.cors import CORSMiddleware

import thresher
from thresher.errors import ThresherError
from thresher.home.places import home_of
from thresher_server import telemetry
from thresher_server.problems import answer_problems
from thresher_server.security.guard import Guard, bounds_of
from thresher_server.service import Service, make_service

ROUTES = (
    "routes.health",
    "routes.sign_in",
    "routes.collections",
    "routes.documents",
    "routes.search",
    "routes.ask",
    "conversations",
    "routes.traces",
    "routes.jobs",
    "routes.recipes",
    "openai.models",
    "openai.chat",
    "openai.responses",
    "routes.rerank",
    "routes.embeddings",
    "routes.dify",
    "routes.check",
    "routes.vector_stores",
    "routes.open_webui",
    "routes.page",
    "routes.gaps",
    "routes.expectations",
)
"""Modules with a `router`."""

MOUNTS: tuple[str, ...] = ("jobs.worker", "mcp.server", "routes.page", "routes.expectations")
"""Modules with `mount(app, service)`: a factory of a context manager for the lifetime of the app, or None."""

HOME_VARIABLE = "THRESHER_SERVER_HOME"
SETTINGS_VARIABLE = "THRESHER_SERVER_GIVEN"
TOKEN_VARIABLE = "THRESHER_SERVER_TOKEN"
"""In these, `thresher serve` passes the home, the given settings (JSON) and its token to the processes it starts."""

_log = logging.getLogger(__name__)

DESCRIPTION = """Answers questions from a person's own documents where the evidence suffices, and abstains otherwise.

Every error is `{"error": {"message", "what", "subject", "next", "status"}}`."""


def create_app(service: Service, *, routes: Sequence[str] = ROUTES, mounts: Sequence[str] = MOUNTS) -> FastAPI:
    """The application of one process, with all routes and mounts or some. It closes the service when it stops."""
    entered: list[Callable[[], AbstractAsyncContextManager[object]]] = []

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack, telemetry.lag_watched(), _warmed(service):
            for enter in entered:
                await stack.enter_async_context(enter())
            yield  # open requests end before this continues, see `cli.run`
        service.close()

    app = FastAPI(
        title="Thresher",
        version=thresher.__version__,
        description=DESCRIPTION,
        lifespan=lifespan,
        docs_url=None,  # ours, see routes.page: these load their scripts from elsewhere
        redoc_url=None,
    )
    app.state.service = service
    answer_problems(app)
    for name in routes:
        app.include_router(import_module(f"thresher_server.{name}").router)
    for name in mounts:
        enter = import_module(f"thresher_server.{name}").mount(app, service)
        if enter is not None:
            entered.append(enter)
    if origins := bounds_of(service).origins:
        headers = ["authorization", "content-type", "mcp-protocol-version", "mcp-session-id"]
        app.add_middleware(CORSMiddleware, allow_origins=origins, allow_methods=["*"], allow_headers=headers)
    app.add_middleware(Guard, service=service)
    return app


@asynccontextmanager
async def _warmed(service: Service) -> AsyncIterator[None]:
    """Load the models beside the first requests. A failure is logged, and raised by the question that needs them."""

    def warm() -> None:
        try:
            service.engine.warm_up()
        except ThresherError as error:
            _log.warning("%s", error)

    warming = asyncio.get_running_loop().run_in_executor(service.threads, warm)
    yield
    await warming


def from_environment() -> FastAPI:
    """The application of one process of `thresher serve`, configured by its environment variables."""
    import json

    home = home_of(os.environ.get(HOME_VARIABLE, ".thresher"))
    given = json.loads(os.environ.get(SETTINGS_VARIABLE, "{}"))
    return create_app(make_service(home, given, token=os.environ.get(TOKEN_VARIABLE)))
