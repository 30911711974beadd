"""What of a caller's rights counts."""

from __future__ import annotations

import pytest

from thresher_server.security.keys import ANYBODY, OPERATOR, READ_ONLY, Caller, Offer, Scope

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
