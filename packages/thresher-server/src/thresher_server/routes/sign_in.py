"""Sign in and out, for the page: a browser keeps the sign-in in a cookie that no script reads."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from fastapi import APIRouter, Request, Response
from pydantic import Field

from thresher_server.naming import Served
from thresher_server.problems import Problem, replies
from thresher_server.searching import address_of
from thresher_server.security.access import Known, proof_of
from thresher_server.security.guard import key_in
from thresher_server.security.sessions import COOKIE, session_in
from thresher_server.service import Service
from thresher_server.shapes import Body, Reply

router = APIRouter(prefix="/api/session", tags=["health"])

MOST_DAYS = 365
DAY_SECONDS = 86_400


class SignInBody(Body):
    """How long a browser may stay signed in."""

    days: int = Field(ge=1, le=MOST_DAYS, examples=[30])


class SignedIn(Reply):
    """A sign-in."""

    until: str


@router.post("", summary="Sign this browser in", responses=replies(409))
def sign_in(caller: Known, body: SignInBody, service: Served, request: Request, response: Response) -> SignedIn:
    """Sets a cookie (HttpOnly, SameSite=Strict, Secure under https) that stands for the key of the request.

    A cookie alone signs nobody in again: who came by one has no other when it is signed out.
    """
    found = proof_of(service, caller.id or caller.name)
    if found is None:
        raise Problem(409, "needs no key, so nobody signs in", subject="this server")
    if key_in(request.headers) is None:
        raise Problem(401, "a key is needed", next_step="send Authorization: Bearer KEY")
    id_, session = service.sessions.begin(caller.id or caller.name, found[1], body.days)
    response.set_cookie(COOKIE, id_, max_age=body.days * DAY_SECONDS, **_options(service, request))
    service.audit.write(caller.name, "sign in", until=session.until)
    return SignedIn(until=session.until)


@router.delete("", summary="Sign this browser out", status_code=204, responses=replies())
def sign_out(caller: Known, service: Served, request: Request, response: Response) -> None:
    """Ends the sign-in on the server and removes its cookie."""
    if (id_ := session_in(request.headers, request.method)) is not None:
        service.sessions.end(id_)
        service.audit.write(caller.name, "sign out")
    response.delete_cookie(COOKIE, **_options(service, request))


def _options(service: Service, request: Request) -> dict[str, Any]:
    here = urlsplit(address_of(service, request))
    return {"path": here.path or "/", "httponly": True, "samesite": "strict", "secure": here.scheme == "https"}
