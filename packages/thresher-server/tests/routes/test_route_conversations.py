"""Conversations over HTTP."""

from __future__ import annotations

from tests.servers.own import Running
from tests.servers.own_api import DEFAULT, QUESTION, with_key
from thresher_server.security.keys import Scope

TALKS = f"{DEFAULT}/conversations"


def test_a_conversation_is_its_callers_alone(keyed: Running) -> None:
    ann, bob = with_key(keyed.service.home, "ann", Scope.ASK), with_key(keyed.service.home, "bob", Scope.ASK)
    talk = keyed.client.post(TALKS, headers=ann).json()["id"]
    assert keyed.client.get(f"{TALKS}/{talk}", headers=ann).status_code == 200
    assert keyed.client.get(f"{TALKS}/{talk}", headers=bob).status_code == 404
    assert keyed.client.delete(f"{TALKS}/{talk}", headers=bob).status_code == 404
    assert keyed.client.get(TALKS, headers=bob).json() == {"conversations": []}
    asks = {**QUESTION, "conversation": talk}
    assert keyed.client.post(f"{DEFAULT}/ask", json=asks, headers=bob).status_code == 404
    assert keyed.client.post(f"{DEFAULT}/ask", json={**asks, "stream": True}, headers=ann).status_code == 200
    (line,) = keyed.client.get(TALKS, headers=ann).json()["conversations"]
    assert (line["id"], line["turns"], line["question"]) == (talk, 1, QUESTION["question"])
    assert keyed.client.delete(f"{TALKS}/{talk}", headers=ann).status_code == 204
    assert keyed.client.get(f"{TALKS}/{talk}", headers=ann).status_code == 404


def test_an_id_is_no_path(one: Running) -> None:
    for id_ in ("..%2f..%2fkeys", "keys", "x" * 100, "*"):
        assert one.client.get(f"{TALKS}/{id_}").status_code == 404
