"""Past questions over HTTP."""

from __future__ import annotations

from tests.servers.own import Running
from tests.servers.own_api import DEFAULT, QUESTION, with_key
from thresher_server.security.keys import Scope

TRACES = f"{DEFAULT}/traces"


def test_a_question_is_its_askers_and_the_admins_to_see(keyed: Running) -> None:
    ann, bob = with_key(keyed.service.home, "ann", Scope.ASK), with_key(keyed.service.home, "bob", Scope.ASK)
    boss = with_key(keyed.service.home, "boss", Scope.ADMIN)
    trace = keyed.client.post(f"{DEFAULT}/ask", json=QUESTION, headers=ann).json()["trace"]
    seen = [len(keyed.client.get(TRACES, headers=who).json()["traces"]) for who in (ann, bob, boss)]
    assert seen == [1, 0, 1]
    assert keyed.client.get(f"{TRACES}/{trace}", headers=bob).status_code == 404
    assert keyed.client.post(f"{TRACES}/{trace}/replay", headers=bob).status_code == 404
    assert keyed.client.post(f"{TRACES}/{trace}/feedback", json={"right": False}, headers=bob).status_code == 404
    keyed.client.post(f"{DEFAULT}/ask", json=QUESTION, headers=bob)
    assert keyed.client.get(f"{TRACES}/{trace}", headers=bob).status_code == 200


def test_a_trace_is_named_by_its_id_alone(one: Running) -> None:
    one.client.post(f"{DEFAULT}/ask", json=QUESTION)
    for id_ in ("last", "..%2flast", "x", "0" * 12, "%00"):
        assert one.client.get(f"{TRACES}/{id_}").status_code == 404
