"""Errors in OpenAI's format, `{"error": {"message", "type", "param", "code"}}`, and streams of server-sent events."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import AsyncIterator
from typing import Any

import anyio
from fastapi import Request, Response
from fastapi.responses import JSONResponse
from pydantic import BaseModel
from sse_starlette import EventSourceResponse, ServerSentEvent

from thresher.errors import ThresherError
from thresher_server.problems import ErrorDetail, Problem, ShapedRoute, problem_of
from thresher_server.service import Service
from thresher_server.shapes import EVENT_STREAM

KINDS = {
    401: ("authentication_error", "invalid_api_key"),
    403: ("permission_error", "insufficient_permissions"),
    404: ("invalid_request_error", "model_not_found"),
    429: ("rate_limit_error", "rate_limit_exceeded"),
    504: ("server_error", "timeout"),
}
"""`type` and `code` by status; other statuses are bad requests below 500 and server errors from 500."""


_FIELD = re.compile(r"[\w.]+")
"""A field's name, as opposed to a description."""


KEEP_ALIVE_SECONDS = 15
"""Between two comments: some proxies give up after 30 seconds of silence."""

DONE = "[DONE]"
"""The last line of a chat completion."""

log = logging.getLogger(__name__)


class OpenAIErrorDetail(ErrorDetail):
    """With the fields of `openai.APIError`: `type`, `param` and `code`."""

    type: str = "invalid_request_error"
    param: str | None = None
    code: str | None = None


class OpenAIErrorReply(BaseModel):
    """Every error reply."""

    error: OpenAIErrorDetail


def openai_replies(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The errors of a route, for the OpenAPI description."""
    usual = {400, 401, 403, 404, 409, 413, 422, 429, 500, 502, 503, 504}
    return {status: {"model": OpenAIErrorReply} for status in sorted({*statuses, *usual})}


def streaming(description: str) -> dict[int | str, dict[str, Any]]:
    """The streamed form of a reply, for the OpenAPI description."""
    return {200: {"description": description, "content": EVENT_STREAM}}


def error_body(error: Problem | ThresherError) -> dict[str, Any]:
    """The error object of a reply or stream."""
    problem = problem_of(error) if isinstance(error, ThresherError) else error
    kind, code = KINDS.get(problem.status, ("server_error" if problem.status >= 500 else "invalid_request_error", None))
    param = problem.subject if problem.status in (400, 422) and _FIELD.fullmatch(problem.subject) else None
    return {"error": {**problem.body["error"], "type": kind, "param": param, "code": code}}


class OpenAIRoute(ShapedRoute):
    """A route with errors in OpenAI's format."""

    UNREADABLE = 400

    def shaped(self, problem: Problem, request: Request) -> Response:
        """As `openai.APIError` reads it."""
        return JSONResponse(error_body(problem), problem.status, problem.headers)


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
