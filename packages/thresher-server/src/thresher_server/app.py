"""The application: the doors, the guard before them, and what happens when it starts and stops."""

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
from thresher_server import metrics
from thresher_server.problems import Problem, answer_problems
from thresher_server.security.access import identify
from thresher_server.security.guard import Guard, bounds_of
from thresher_server.service import Service, make_service

ROUTES = (
    "health",
    "session",
    "collections",
    "documents",
    "search",
    "ask",
    "conversations",
    "traces",
    "calibrate",
    "jobs",
    "recipes",
    "models",
    "chat_completions",
    "responses",
    "rerank",
    "embeddings",
    "dify",
    "check",
    "vector_stores",
    "open_webui",
    "page",
    "viewer",
    "gaps",
)
"""Files of `routes`, each with a `router`."""

MOUNTS: tuple[str, ...] = ("jobs", "mcp.mount")
"""Modules with `mount(app, service)`, which returns what is entered while the app runs, or None."""

HOME_VARIABLE = "THRESHER_SERVER_HOME"
SETTINGS_VARIABLE = "THRESHER_SERVER_GIVEN"
TOKEN_VARIABLE = "THRESHER_SERVER_TOKEN"
"""How the command hands the home, the settings it was given as JSON and its token to the processes it starts."""

_log = logging.getLogger(__name__)

DESCRIPTION = """Questions to a person's own documents, answered from what was judged to suffice, or refused.

Every error is `{"error": {"message", "what", "subject", "next", "status"}}`."""


def create_app(service: Service, *, routes: Sequence[str] = ROUTES, mounts: Sequence[str] = MOUNTS) -> FastAPI:
    """The application of one process over a service, which it closes when it stops; with all doors or some."""
    entered: list[Callable[[], AbstractAsyncContextManager[object]]] = []

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack, metrics.lag_watched(), _warmed(service):
            for enter in entered:
                await stack.enter_async_context(enter())
            yield  # what is under way ends before this goes on, see `serve`
        service.close()

    app = FastAPI(title="Thresher", version=thresher.__version__, description=DESCRIPTION, lifespan=lifespan)
    app.state.service = service
    answer_problems(app)
    for name in routes:
        app.include_router(import_module(f"thresher_server.routes.{name}").router)
    for name in mounts:
        enter = import_module(f"thresher_server.{name}").mount(app, service)
        if enter is not None:
            entered.append(enter)
    _guard(app, service)
    return app


@asynccontextmanager
async def _warmed(service: Service) -> AsyncIterator[None]:
    """Load the models beside the first requests. What keeps them from it is told to the question that needs them."""

    def warm() -> None:
        try:
            service.engine.warm_up()
        except ThresherError as error:
            _log.warning("%s", error)

    warming = asyncio.get_running_loop().run_in_executor(service.threads, warm)
    yield
    await warming


def _guard(app: FastAPI, service: Service) -> None:
    bounds = bounds_of(service)
    if bounds.origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=bounds.origins,
            allow_methods=["*"],
            allow_headers=["authorization", "content-type", "mcp-protocol-version", "mcp-session-id"],
        )

    def is_known(key: str | None) -> bool:
        try:
            return bool(identify(service, key))
        except Problem:
            return False

    def keep(caller: str, what: str, status: int) -> None:
        service.audit.write(caller, what, status=status)

    app.add_middleware(Guard, bounds=bounds, is_known=is_known, keep=keep)


def from_environment() -> FastAPI:
    """The application as `thresher serve` describes it in the environment, for each of its processes."""
    import json

    home = home_of(os.environ.get(HOME_VARIABLE, ".thresher"))
    given = json.loads(os.environ.get(SETTINGS_VARIABLE, "{}"))
    return create_app(make_service(home, given, token=os.environ.get(TOKEN_VARIABLE)))
