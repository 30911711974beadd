"""The caller of a request and its rights: collections, scopes, the settings it may change, the traces it may see.

A trace is visible to its askers and the operator: for each asker there is an empty file in `server/askers` of the home.
The same question of two callers is one trace, visible to both.
"""

from __future__ import annotations

import hmac
from collections.abc import Callable, Mapping
from itertools import islice
from typing import Annotated, Any

from fastapi import Depends, Request
from fastapi.security import APIKeyHeader, HTTPBearer
from fastapi.security.http import HTTPAuthorizationCredentials

from thresher.home.places import home_files
from thresher.protocols import Home
from thresher.settings import dotted
from thresher.trusted import guarded
from thresher_server.problems import Problem
from thresher_server.security.keys import ANYBODY, OPERATOR, Caller, Scope
from thresher_server.security.sessions import hashed, session_in
from thresher_server.service import Service, service_of

_bearer = HTTPBearer(
    auto_error=False, description="a key from `thresher keys add`, or the token of a server on loopback"
)
_header = APIKeyHeader(name="X-API-Key", auto_error=False)


TABLES = ("answer", "combine", "critic", "dedup", "dense", "fuse", "kdm", "lexical", "protect", "refine")
"""Tables of settings that anyone may change for a question."""

SINGLE = (
    "actions",
    "coarse",
    "fine",
    "lower",
    "min_keep",
    "min_probability",
    "rewrite",
    "score_floor",
    "threshold",
    "upper",
)
"""Single settings; none for models, addresses, keys, chunking, encoding, or the use of processes and the web."""

MOST_SETTINGS = 200
"""Of one request; recipes have fewer."""


def caller_of(
    request: Request,
    service: Annotated[Service, Depends(service_of)],
    bearer: Annotated[HTTPAuthorizationCredentials | None, Depends(_bearer)] = None,
    header: Annotated[str | None, Depends(_header)] = None,
) -> Caller:
    """The caller of a request. Raises Problem 401 if a key is needed and no valid one is given."""
    given = bearer.credentials if bearer else header
    caller = identify(service, given, session_in(request.headers, request.method))
    request.state.caller = caller
    return caller


def identify(service: Service, given: str | None, session: str | None = None) -> Caller:
    """The caller of a key, or without one of a sign-in; on loopback anyone with the server's token, or without if it is
    open. Raises Problem 401.
    """
    if session and not given and (caller := _signed_in(service, session)) is not None:
        return caller
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


def proof_of(service: Service, caller: str) -> tuple[Caller, str] | None:
    """A caller, as named in a `Session`, with the hash of the secret; None where the secret is no longer valid."""
    admin_key, token = service.settings.admin_key, service.token
    if caller == OPERATOR.name:
        return None if admin_key is None else (OPERATOR, hashed(admin_key.get_secret_value()))
    if caller == ANYBODY.name:
        return (ANYBODY, hashed(token)) if token else None
    return service.keys.valid(caller)


def _signed_in(service: Service, id_: str) -> Caller | None:
    """The caller of a sign-in; None if it or its key has ended."""
    session = service.sessions.get(id_)
    found = None if session is None else proof_of(service, session.caller)
    return found[0] if session and found and found[1] == session.proof else None


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


Known = Annotated[Caller, Depends(caller_of)]
"""A caller with any key."""
Reader = Annotated[Caller, Depends(allowed(Scope.READ))]
Asker = Annotated[Caller, Depends(allowed(Scope.ASK))]
Writer = Annotated[Caller, Depends(allowed(Scope.WRITE))]
Admin = Annotated[Caller, Depends(allowed(Scope.ADMIN))]


def may_change(key: str, value: Any = None) -> bool:
    """Whether anyone may change a setting for a question."""
    table, dot, _ = key.partition(".")
    known = (bool(dot) and table in TABLES) or key in SINGLE
    return known and not guarded({key: value})


def check_settings(caller: Caller, settings: Mapping[str, Any] | None) -> dict[str, Any]:
    """The settings by dotted key. Raises Problem 403 for one that only an admin may change, 422 for too many."""
    given = dict(islice(dotted(settings or {}), MOST_SETTINGS + 1))
    if len(given) > MOST_SETTINGS:
        raise Problem(422, f"are more than {MOST_SETTINGS}", subject="the settings", next_step="bring fewer")
    refused = [key for key, value in given.items() if not may_change(key, value)]
    if refused and not caller.may(Scope.ADMIN):
        raise Problem(
            403,
            "is the operator's to set",
            subject=f"setting {refused[0]}",
            next_step="leave it out; GET /api/recipes/NAME says which may be changed",
        )
    return given


class Askers:
    """Records of who asked, by collection."""

    def __init__(self, home: Home) -> None:
        self._files = home_files(home).below("server").below("askers")

    def note(self, caller: Caller, collection: str, trace: str) -> None:
        """Record that a caller asked for this answer; an answer without a trace is not recorded."""
        if trace:
            self._files.create(f"{collection}/{caller.folder}/{trace}", b"")

    def may_see(self, caller: Caller, collection: str, trace: str) -> bool:
        """Whether a caller may see a trace."""
        return caller.may(Scope.ADMIN, collection) or self.has_asked(caller, collection, trace)

    def has_asked(self, caller: Caller, collection: str, trace: str) -> bool:
        """Whether a caller asked for this answer."""
        return self._files.find(f"{collection}/{caller.folder}/{trace}") is not None

    def rename(self, collection: str, new: str) -> None:
        """Move the records of a collection to its new name."""
        self.forget(new)
        for file in self._files.list(f"{collection}/"):
            self._files.create(f"{new}{file.name.removeprefix(collection)}", b"")
        self.forget(collection)

    def forget(self, collection: str) -> None:
        """Remove the records of a collection."""
        self._files.remove(file.name for file in self._files.list(f"{collection}/"))
