"""Errors as a status and one JSON object: what, subject, next step."""

from __future__ import annotations

import re
from collections.abc import Callable, Coroutine, Mapping
from pathlib import Path
from typing import Any, ClassVar

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from fastapi.routing import APIRoute
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from thresher.errors import (
    BudgetSpent,
    Cancelled,
    Degraded,
    DocumentError,
    ModelError,
    NotRecorded,
    ProviderError,
    StoreAway,
    StoreError,
    ThresherError,
    UsageError,
)
from thresher.file_names import file_name

STATUSES: tuple[tuple[type[ThresherError], int], ...] = (
    (UsageError, 422),
    (DocumentError, 422),
    (StoreAway, 503),
    (StoreError, 404),
    (Degraded, 409),
    (NotRecorded, 409),
    (BudgetSpent, 504),
    (Cancelled, 503),
    (ProviderError, 502),
    (ModelError, 500),
)
"""Status by kind of error; the first match counts."""


class Problem(Exception):
    """A refused request; `headers` go with the reply (Retry-After)."""

    def __init__(
        self,
        status: int,
        what: str,
        *,
        subject: str = "",
        next_step: str = "",
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(what)
        self.status = status
        # Half a surrogate pair from a request cannot be sent back.
        self.what, self.subject, self.next_step = (
            text.encode("utf-8", "replace").decode("utf-8") for text in (what, subject, next_step)
        )
        self.headers = dict(headers or {})

    @property
    def body(self) -> dict[str, Any]:
        """The JSON for the client; `message` is one line, which clients of OpenAI show."""
        head = f"{self.subject}: {self.what}" if self.subject else self.what
        message = f"{head}; {self.next_step}" if self.next_step else head
        return {
            "error": {
                "message": message,
                "what": self.what,
                "subject": self.subject,
                "next": self.next_step,
                "status": self.status,
            }
        }


class ErrorDetail(BaseModel):
    """One line for people, and its fields."""

    message: str = Field(examples=["collection papers: holds no documents yet; add some"])
    what: str = ""
    subject: str = ""
    next: str = ""
    status: int = 422


class ErrorReply(BaseModel):
    """Every error reply."""

    error: ErrorDetail


def replies(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The errors of a route, for the OpenAPI description."""
    return {status: {"model": ErrorReply} for status in sorted({*statuses, 400, 401, 403, 413, 422, 429, 503})}


_PATH = re.compile(r"""(?<![^\s"'(=,;])/([^\s/"'),;:]+)(/[^\s"'),;:]*)?""")


def without_folders(text: str) -> str:
    """A text of the engine with each path on this machine cut to its last name. Other paths stay: their root is
    unknown.

    >>> without_folders("/usr/lib/no such"), without_folders("collection a in /usr/lib; see GET /api/collections")
    ('no such', 'collection a in lib; see GET /api/collections')
    """
    if text.startswith("/") and Path("/", *Path(text).parts[1:2]).exists():
        return file_name(text)
    return _PATH.sub(lambda path: file_name(path[0]) if Path("/", path[1]).exists() else path[0], text)


def problem_of(error: ThresherError) -> Problem:
    """The problem of an engine's error."""
    status = next((status for kind, status in STATUSES if isinstance(error, kind)), 500)
    what, subject, next_step = map(without_folders, (error.what, error.subject, error.next_step))
    return Problem(status, what, subject=subject, next_step=next_step)


def line_of(error: ThresherError | Problem) -> str:
    """An error as one line for remote clients."""
    problem = error if isinstance(error, Problem) else problem_of(error)
    return str(problem.body["error"]["message"])


def of_framework(error: HTTPException, *, unreadable: int = 422) -> Problem:
    """An error of the framework as a Problem; `unreadable` is the status for a body that is not JSON."""
    if isinstance(error.__cause__, Problem):  # raised by the guard while the body was read
        return error.__cause__
    status = unreadable if error.status_code == 400 else error.status_code
    return Problem(status, str(error.detail), headers=error.headers)


class ShapedRoute(APIRoute):
    """A route whose errors have the format of another API, see `shaped`."""

    UNREADABLE: ClassVar[int] = 422
    """Status for a body that is not JSON."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """As in FastAPI."""
        handle = super().get_route_handler()

        async def handler(request: Request) -> Response:
            try:
                return await handle(request)
            except Problem as error:
                problem = error
            except ThresherError as error:
                problem = problem_of(error)
            except RequestValidationError as error:
                problem = self.malformed(error)
            except HTTPException as error:
                problem = of_framework(error, unreadable=self.UNREADABLE)
            return self.shaped(problem, request)

        return handler

    def malformed(self, error: RequestValidationError) -> Problem:
        """The first invalid field of the request."""
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"] if part != "body")
        return Problem(422, first["msg"], subject=place or "the body", next_step="see /openapi.json")

    def shaped(self, problem: Problem, request: Request) -> Response:
        """The reply to a refused request."""
        raise NotImplementedError


def answer_problems(app: FastAPI) -> None:
    """Turn every error of a request into such a reply."""

    @app.exception_handler(Problem)
    async def refused(_: Request, problem: Problem) -> JSONResponse:
        return JSONResponse(problem.body, problem.status, problem.headers)

    @app.exception_handler(ClientDisconnect)
    async def gone(_: Request, error: ClientDisconnect) -> JSONResponse:
        return JSONResponse(Problem(400, "the client left before its body was complete").body, 400)  # nobody reads it

    @app.exception_handler(ThresherError)
    async def failed(_: Request, error: ThresherError) -> JSONResponse:
        problem = problem_of(error)
        return JSONResponse(problem.body, problem.status)

    @app.exception_handler(RequestValidationError)
    async def malformed(_: Request, error: RequestValidationError) -> JSONResponse:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        problem = Problem(422, first["msg"], subject=place, next_step="see /openapi.json")
        return JSONResponse(problem.body, problem.status)

    @app.exception_handler(HTTPException)
    async def other(request: Request, error: HTTPException) -> JSONResponse:
        return await refused(request, of_framework(error))
