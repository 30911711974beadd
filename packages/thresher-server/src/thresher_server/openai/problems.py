"""Errors as clients of OpenAI read them: `{"error": {"message", "type", "param", "code"}}`, beside our own parts."""

from __future__ import annotations

import re
from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from fastapi.routing import APIRoute
from pydantic import BaseModel
from starlette.exceptions import HTTPException

from thresher.errors import ThresherError
from thresher.models.onnx import encodable
from thresher_server.problems import ErrorDetail, Problem, problem_of

KINDS = {
    401: ("authentication_error", "invalid_api_key"),
    403: ("permission_error", "insufficient_permissions"),
    404: ("invalid_request_error", "model_not_found"),
    429: ("rate_limit_error", "rate_limit_exceeded"),
    504: ("server_error", "timeout"),
}
"""`type` and `code` by status; of the others below 500 a bad request, of the rest a fault of the server."""


_FIELD = re.compile(r"[\w.]+")
"""A field of the request, as opposed to words about it."""


class OpenAIErrorDetail(ErrorDetail):
    """What `openai.APIError` takes over: `type`, `param` and `code`."""

    type: str = "invalid_request_error"
    param: str | None = None
    code: str | None = None


class OpenAIErrorReply(BaseModel):
    """Every reply that is no success."""

    error: OpenAIErrorDetail


def openai_replies(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The errors of a route, for the OpenAPI description."""
    usual = {400, 401, 403, 404, 409, 413, 422, 429, 500, 502, 503, 504}
    return {status: {"model": OpenAIErrorReply} for status in sorted({*statuses, *usual})}


def streaming(description: str) -> dict[int | str, dict[str, Any]]:
    """The reply that is a stream, beside the whole one, for the OpenAPI description."""
    text = {"type": "string"}
    event = {"type": "object", "properties": {"event": text, "data": text}, "required": ["data"]}
    return {200: {"description": description, "content": {"text/event-stream": {"schema": event}}}}


def error_body(error: Problem | ThresherError) -> dict[str, Any]:
    """The object of an error, in a reply and in a stream."""
    problem = problem_of(error) if isinstance(error, ThresherError) else error
    kind, code = KINDS.get(problem.status, ("server_error" if problem.status >= 500 else "invalid_request_error", None))
    param = problem.subject if problem.status in (400, 422) and _FIELD.fullmatch(problem.subject) else None
    told = {name: encodable(one) if isinstance(one, str) else one for name, one in problem.body["error"].items()}
    return {"error": {**told, "type": kind, "param": param, "code": code}}


class OpenAIRoute(APIRoute):
    """A route whose errors have that shape, whoever raised them."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """As FastAPI has it."""
        handle = super().get_route_handler()

        async def handler(request: Request) -> Response:
            try:
                return await handle(request)
            except Problem as error:
                problem = error
            except ThresherError as error:
                problem = problem_of(error)
            except RequestValidationError as error:
                problem = _malformed(error)
            except HTTPException as error:
                problem = _cause(error) or Problem(error.status_code, str(error.detail))
            return JSONResponse(error_body(problem), problem.status, problem.headers)

        return handler


def _malformed(error: RequestValidationError) -> Problem:
    first = error.errors()[0]
    place = ".".join(str(part) for part in first["loc"] if part != "body")
    return Problem(422, first["msg"], subject=place or "the body", next_step="see /openapi.json")


def _cause(error: HTTPException) -> Problem | None:
    """The Problem that FastAPI made something else of, as of a body that is too large."""
    return error.__cause__ if isinstance(error.__cause__, Problem) else None
