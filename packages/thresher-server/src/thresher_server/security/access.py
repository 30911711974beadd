"""Identifies the caller of a request and checks its rights."""

from __future__ import annotations

import hmac
from collections.abc import Callable
from typing import Annotated

from fastapi import Depends, Request
from fastapi.security import APIKeyHeader, HTTPBearer
from fastapi.security.http import HTTPAuthorizationCredentials

from thresher_server.problems import Problem
from thresher_server.security.keys import ANYBODY, OPERATOR, Caller, Scope
from thresher_server.service import Service, service_of

_bearer = HTTPBearer(
    auto_error=False, description="a key from `thresher keys add`, or the token of a server on loopback"
)
_header = APIKeyHeader(name="X-API-Key", auto_error=False)


def caller_of(
    request: Request,
    service: Annotated[Service, Depends(service_of)],
    bearer: Annotated[HTTPAuthorizationCredentials | None, Depends(_bearer)] = None,
    header: Annotated[str | None, Depends(_header)] = None,
) -> Caller:
    """The caller of a request. Raises Problem 401 if a key is needed and no valid one is given."""
    given = bearer.credentials if bearer else header
    caller = identify(service, given)
    request.state.caller = caller
    return caller


def identify(service: Service, given: str | None) -> Caller:
    """The caller of a key; on loopback anyone with the server's token, or without if it is open. Raises Problem 401."""
    own = service.settings.admin_key
    if given and own and _same(given, own.get_secret_value()):
        return OPERATOR
    caller = service.keys.caller(given) if given else None
    if caller is not None:
        return caller
    if not service.needs_key and (not service.token or _same(given or "", service.token)):
        return ANYBODY  # clients that must send some key send any to an open server
    what = "the key is not known here, or has expired" if given else "a key is needed"
    next_step = "send Authorization: Bearer KEY, with a key from `thresher keys add`"
    if service.token:
        next_step = f"open the address that the server printed when it started, or {next_step}"
    raise Problem(401, what, next_step=next_step)


def _same(given: str, expected: str) -> bool:
    return hmac.compare_digest(given.encode(), expected.encode())


def check(caller: Caller, scope: Scope, collection: str | None = None) -> None:
    """Raise Problem 403 for a scope that the caller lacks, 404 for any other's collection, whether it exists or not."""
    if caller.may(scope, collection):
        return
    if collection is not None and caller.may(scope):
        raise Problem(404, "is not among the collections of this key", subject=f"collection {collection}")
    raise Problem(403, f"the key lacks the scope {scope}", next_step="ask the operator for one that has")


def allowed(scope: Scope) -> Callable[..., Caller]:
    """A dependency of routes: the caller, with the scope in the collection of the path if it names one."""

    def depends(request: Request, caller: Annotated[Caller, Depends(caller_of)]) -> Caller:
        check(caller, scope, request.path_params.get("collection"))
        return caller

    return depends


Reader = Annotated[Caller, Depends(allowed(Scope.READ))]
Asker = Annotated[Caller, Depends(allowed(Scope.ASK))]
Writer = Annotated[Caller, Depends(allowed(Scope.WRITE))]
Admin = Annotated[Caller, Depends(allowed(Scope.ADMIN))]
