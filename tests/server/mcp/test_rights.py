"""What of a caller's rights counts, and by which names a server is called."""

from __future__ import annotations

import asyncio

import pytest
from mcp.server.transport_security import TransportSecurityMiddleware
from starlette.requests import Request

from thresher_server.mcp.door import security
from thresher_server.mcp.offer import READ_ONLY, Offer
from thresher_server.security.guard import Bounds
from thresher_server.security.keys import ANYBODY, OPERATOR, Caller, Scope

WRITABLE = Offer(scopes=READ_ONLY | {Scope.WRITE})


def test_nobody_may_more_than_is_offered() -> None:
    assert Offer().to(OPERATOR).scopes == READ_ONLY
    narrow = Offer(scopes=frozenset({Scope.READ})).to(Caller("one", frozenset({Scope.READ, Scope.ASK})))
    assert narrow.scopes == {Scope.READ}


def test_nobody_may_more_than_the_key_says() -> None:
    assert WRITABLE.to(Caller("one", frozenset({Scope.ASK}))).scopes == {Scope.ASK}
    assert WRITABLE.to(OPERATOR).scopes == WRITABLE.scopes
    assert WRITABLE.to(ANYBODY).scopes == READ_ONLY


@pytest.mark.parametrize(
    ("offered", "own", "seen"),
    [
        (None, None, None),
        ({"a", "b"}, None, {"a", "b"}),
        (None, {"b", "c"}, {"b", "c"}),
        ({"a", "b"}, {"b", "c"}, {"b"}),
        ({"a"}, {"c"}, set()),
    ],
)
def test_collections_are_those_of_both(offered: set[str] | None, own: set[str] | None, seen: set[str] | None) -> None:
    offer = Offer(collections=None if offered is None else frozenset(offered))
    caller = Caller("one", READ_ONLY, None if own is None else frozenset(own))
    assert offer.to(caller).collections == seen


@pytest.mark.parametrize(
    ("host", "origin", "status"),
    [
        ("localhost:8765", None, None),
        ("10.1.2.3", "http://10.1.2.3", 421),
        ("[::1]:8765", "http://[::1]:8765", None),
        ("docs.example.org", "https://docs.example.org", None),
        ("docs.example.org", "https://page.example", None),
        ("evil.example", None, 421),
        ("docs.example.org.evil.example", None, 421),
        ("docs.example.org", "https://evil.example", 403),
        ("docs.example.org", "null", 403),
        ("", None, 421),
    ],
)
def test_the_check_of_the_sdk_is_armed_by_itself(host: str, origin: str | None, status: int | None) -> None:
    checking = TransportSecurityMiddleware(security(Bounds(["docs.example.org"], ["https://page.example"])))
    given = {"host": host, "content-type": "application/json", **({"origin": origin} if origin else {})}
    headers = [(name.encode(), value.encode()) for name, value in given.items()]
    refused = asyncio.run(checking.validate_request(Request({"type": "http", "headers": headers}), is_post=True))
    assert (None if refused is None else refused.status_code) == status
