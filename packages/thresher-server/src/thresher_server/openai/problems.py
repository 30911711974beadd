"""Errors in OpenAI's format, `{"error": {"message", "type", "param", "code"}}`, with our own fields."""

from __future__ import annotations

import re
from typing import Any

from fastapi import Request, Response
from fastapi.responses import JSONResponse
from pydantic import BaseModel

from thresher.errors import ThresherError
from thresher_server.problems import ErrorDetail, Problem, ShapedRoute, problem_of

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
    text = {"type": "string"}
    event = {"type": "object", "properties": {"event": text, "data": text}, "required": ["data"]}
    return {200: {"description": description, "content": {"text/event-stream": {"schema": event}}}}


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
