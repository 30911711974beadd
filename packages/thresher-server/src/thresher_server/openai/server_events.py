"""Streamed replies: server-sent events, with comments during silence, that end with the server."""

from __future__ import annotations

import json
import logging
from collections.abc import AsyncIterator
from typing import Any

import anyio
from sse_starlette import EventSourceResponse, ServerSentEvent

from thresher.errors import ThresherError
from thresher_server.openai.problems import error_body
from thresher_server.problems import Problem
from thresher_server.service import Service

KEEP_ALIVE_SECONDS = 15
"""Between two comments: some proxies give up after 30 seconds of silence."""

DONE = "[DONE]"
"""The last line of a chat completion."""

log = logging.getLogger(__name__)


def streamed(service: Service, data: AsyncIterator[ServerSentEvent]) -> EventSourceResponse:
    """The streamed reply. When the server stops, it has `server.drain_seconds` to end."""
    return EventSourceResponse(
        data,
        sep="\n",
        ping=KEEP_ALIVE_SECONDS,
        ping_message_factory=_keep_alive,
        shutdown_event=anyio.Event(),
        shutdown_grace_period=service.settings.drain_seconds,
    )


def sent(payload: dict[str, Any], event: str | None = None) -> ServerSentEvent:
    """One event with JSON on one line."""
    return ServerSentEvent(json.dumps(payload, separators=(",", ":")), event=event, sep="\n")


def error_of(error: Exception) -> dict[str, Any]:
    """An error as an object of the stream; an unexpected one is logged and not disclosed."""
    if isinstance(error, Problem | ThresherError):
        return error_body(error)
    log.error("a streamed reply broke off", exc_info=error)
    return error_body(Problem(500, "the server failed", next_step="its log says why"))


def _keep_alive() -> ServerSentEvent:
    return ServerSentEvent(comment="working on it", sep="\n")
