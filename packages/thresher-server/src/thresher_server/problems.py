"""Errors as a status and one JSON object: what, subject, next step."""

from __future__ import annotations

import re
from collections.abc import Callable, Coroutine, Mapping
from pathlib import Path
from shlex import quote
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
    NotIndexed,
    NotRecorded,
    ProviderError,
    StoreAway,
    StoreError,
    ThresherError,
    UsageError,
)
from thresher.links import file_name

STATUSES: tuple[tuple[type[ThresherError], int], ...] = (
    (UsageError, 422),
    (DocumentError, 422),
    (StoreAway, 503),
    (NotIndexed, 409),
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
    if isinstance(error, NotIndexed):
        command = f"thresher index --recipe {error.recipe} --collection {quote(error.collection)}"
        next_step = f"make it with `{command}`, or ask once with a key that has the scope write or admin"
    return Problem(status, what, subject=subject, next_step=next_step)


def line_of(error: ThresherError | Problem) -> str:
    """An error as one line for remote clients."""
    problem = error if isinstance(error, Problem) else problem_of(error)
    return str(problem.body["error"]["message"])


def problem_from(error: Exception, *, unreadable: int = 422, with_body: bool = True) -> Problem:
    """The problem of any refused request; `unreadable` is the status for a body that is not JSON.

    `with_body`: whether the place of an invalid field begins with `body`.
    """
    match error:
        case Problem():
            return error
        case ThresherError():
            return problem_of(error)
        case RequestValidationError():
            first = error.errors()[0]
            place = ".".join(str(part) for part in first["loc"] if with_body or part != "body")
            return Problem(422, first["msg"], subject=place or "the body", next_step="see /openapi.json")
        case HTTPException() if isinstance(error.__cause__, Problem):  # raised by the guard while the body was read
            return error.__cause__
        case HTTPException():
            status = unreadable if error.status_code == 400 else error.status_code
            return Problem(status, str(error.detail), headers=error.headers)
        case ClientDisconnect():
            return Problem(400, "the client left before its body was complete")  # nobody reads it
    raise error


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
            except (Problem, ThresherError, RequestValidationError, HTTPException) as error:
                return self.shaped(problem_from(error, unreadable=self.UNREADABLE, with_body=False), request)

        return handler

    def shaped(self, problem: Problem, request: Request) -> Response:
        """The reply to a refused request."""
        raise NotImplementedError


def answer_problems(app: FastAPI) -> None:
    """Turn every error of a request into such a reply."""

    async def refused(_: Request, error: Exception) -> JSONResponse:
        problem = problem_from(error)
        return JSONResponse(problem.body, problem.status, problem.headers)

    for kind in (Problem, ThresherError, RequestValidationError, HTTPException, ClientDisconnect):
        app.add_exception_handler(kind, refused)
