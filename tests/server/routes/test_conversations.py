"""Conversations over HTTP."""

from __future__ import annotations

from tests.server.conftest import Running
from tests.server.own_api import DEFAULT, QUESTION, with_key
from thresher_server.security.keys import Scope

TALKS = f"{DEFAULT}/conversations"


def test_a_conversation_remembers_what_was_said(one: Running) -> None:
    reply = one.client.post(TALKS)
    assert reply.status_code == 201
    talk = reply.json()["id"]
    one.client.post(f"{DEFAULT}/ask", json={**QUESTION, "conversation": talk})
    follow = {"question": "And who rebuilt its lamp?", "conversation": talk, "stream": True}
    assert one.client.post(f"{DEFAULT}/ask", json=follow).status_code == 200
    told = one.client.get(f"{TALKS}/{talk}").json()
    assert [turn["question"] for turn in told["turns"]] == [QUESTION["question"], follow["question"]]
    assert told["turns"][1]["standalone"] == f"And who rebuilt its lamp? ({QUESTION['question']})"
    first = one.client.post(f"{DEFAULT}/ask", json=QUESTION).json()
    assert set(told["turns"][0]) == set(first)
    (line,) = one.client.get(TALKS).json()["conversations"]
    assert (line["id"], line["turns"], line["question"]) == (talk, 2, QUESTION["question"])
    assert one.client.delete(f"{TALKS}/{talk}").status_code == 204
    assert one.client.get(f"{TALKS}/{talk}").status_code == 404


def test_a_conversation_is_its_callers_alone(keyed: Running) -> None:
    ann, bob = with_key(keyed.service.home, "ann", Scope.ASK), with_key(keyed.service.home, "bob", Scope.ASK)
    talk = keyed.client.post(TALKS, headers=ann).json()["id"]
    assert keyed.client.get(f"{TALKS}/{talk}", headers=ann).status_code == 200
    assert keyed.client.get(f"{TALKS}/{talk}", headers=bob).status_code == 404
    assert keyed.client.delete(f"{TALKS}/{talk}", headers=bob).status_code == 404
    assert keyed.client.get(TALKS, headers=bob).json() == {"conversations": []}
    asks = {**QUESTION, "conversation": talk}
    assert keyed.client.post(f"{DEFAULT}/ask", json=asks, headers=bob).status_code == 404


def test_an_id_is_no_path(one: Running) -> None:
    for id_ in ("..%2f..%2fkeys", "keys", "x" * 100, "*"):
        assert one.client.get(f"{TALKS}/{id_}").status_code == 404
