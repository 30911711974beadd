"""Which caller a request is from, and whether it may do what its route does."""

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

_bearer = HTTPBearer(auto_error=False, description="a key from `thresher keys add`; none is needed on loopback")
_header = APIKeyHeader(name="X-API-Key", auto_error=False)


def caller_of(
    request: Request,
    service: Annotated[Service, Depends(service_of)],
    bearer: Annotated[HTTPAuthorizationCredentials | None, Depends(_bearer)] = None,
    header: Annotated[str | None, Depends(_header)] = None,
) -> Caller:
    """Who sent a request. Problem 401 without a key that counts, where one is needed."""
    given = bearer.credentials if bearer else header
    caller = identify(service, given)
    request.state.caller = caller
    return caller


def identify(service: Service, given: str | None) -> Caller:
    """Whose key it is; anybody with the token of a server on loopback, or without where that is open. Problem 401."""
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
    """Raise Problem 403 where the caller may not do that, and 404 in a collection that is not among its own.

    Whether a collection of others is there is not told.
    """
    if caller.may(scope, collection):
        return
    if collection is not None and caller.may(scope):
        raise Problem(404, "is not among the collections of this key", subject=f"collection {collection}")
    raise Problem(403, f"the key has not the scope {scope}", next_step="ask the operator for one that has")


def allowed(scope: Scope) -> Callable[..., Caller]:
    """What a route depends on: the caller, who has the scope in the collection of the path, where it names one."""

    def depends(request: Request, caller: Annotated[Caller, Depends(caller_of)]) -> Caller:
        check(caller, scope, request.path_params.get("collection"))
        return caller

    return depends


Reader = Annotated[Caller, Depends(allowed(Scope.READ))]
Asker = Annotated[Caller, Depends(allowed(Scope.ASK))]
Writer = Annotated[Caller, Depends(allowed(Scope.WRITE))]
Admin = Annotated[Caller, Depends(allowed(Scope.ADMIN))]
