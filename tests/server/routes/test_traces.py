"""Past questions over HTTP."""

from __future__ import annotations

from pathlib import Path

from tests.server.conftest import running
from tests.server.own_api import DEFAULT, QUESTION, copied, with_key
from thresher_server.security.keys import Scope

TRACES = f"{DEFAULT}/traces"
OTHER = {"question": "When was the railway from Fernby to Harrow opened?"}


def test_past_questions_are_listed_newest_first_page_by_page(indexed_home: Path, tmp_path: Path) -> None:
    with running(copied(indexed_home, tmp_path)) as one:
        for asks in (QUESTION, OTHER):
            one.client.post(f"{DEFAULT}/ask", json=asks)
        both = one.client.get(TRACES).json()["traces"]
        assert [line["question"] for line in both] == [OTHER["question"], QUESTION["question"]]
        assert "built in **1849**" in both[1]["text"]
        assert both[1]["feedback"] is None
        (last,) = one.client.get(TRACES, params={"limit": 1}).json()["traces"]
        (before,) = one.client.get(TRACES, params={"limit": 1, "before": last["asked"]}).json()["traces"]
        assert [last, before] == both


def test_an_answer_is_explained_chunk_by_chunk(indexed_home: Path, tmp_path: Path) -> None:
    with running(copied(indexed_home, tmp_path)) as one:
        trace = one.client.post(f"{DEFAULT}/ask", json=QUESTION).json()["trace"]
        told = one.client.get(f"{TRACES}/{trace}").json()
        assert len(told["chunks"]) == 4
        assert {chunk["dropped_by"] for chunk in told["chunks"]} >= {None, "judge"}
        assert sorted(told["labels"].values())[0].startswith("Doc1-Chunk1")


def test_an_answer_is_made_again(indexed_home: Path, tmp_path: Path) -> None:
    with running(copied(indexed_home, tmp_path)) as one:
        first = one.client.post(f"{DEFAULT}/ask", json=QUESTION).json()
        told = one.client.post(f"{TRACES}/{first['trace']}/replay").json()
        assert told["differences"] == []
        assert told["answer"]["text"] == first["text"]


def test_feedback_is_kept_and_shown(indexed_home: Path, tmp_path: Path) -> None:
    with running(copied(indexed_home, tmp_path)) as one:
        trace = one.client.post(f"{DEFAULT}/ask", json=QUESTION).json()["trace"]
        told = one.client.post(f"{TRACES}/{trace}/feedback", json={"right": False, "answer": "In 1850."})
        assert told.json() == {"right": False, "answer": "In 1850."}
        assert one.client.get(TRACES).json()["traces"][0]["feedback"] == {"right": False, "answer": "In 1850."}
        one.client.post(f"{TRACES}/{trace}/feedback", json={"right": True})
        assert one.client.get(f"{TRACES}/{trace}").json()["feedback"] == {"right": True, "answer": None}
        assert one.client.post(f"{TRACES}/{'0' * 12}/feedback", json={"right": True}).status_code == 404


def test_a_question_is_its_askers_and_the_admins_to_see(indexed_home: Path, tmp_path: Path) -> None:
    home = copied(indexed_home, tmp_path)
    ann, bob = with_key(home, "ann", Scope.ASK), with_key(home, "bob", Scope.ASK)
    boss = with_key(home, "boss", Scope.ADMIN)
    with running(home, server__require_key=True) as one:
        trace = one.client.post(f"{DEFAULT}/ask", json=QUESTION, headers=ann).json()["trace"]
        seen = [len(one.client.get(TRACES, headers=who).json()["traces"]) for who in (ann, bob, boss)]
        assert seen == [1, 0, 1]
        assert one.client.get(f"{TRACES}/{trace}", headers=bob).status_code == 404
        assert one.client.post(f"{TRACES}/{trace}/replay", headers=bob).status_code == 404
        assert one.client.post(f"{TRACES}/{trace}/feedback", json={"right": False}, headers=bob).status_code == 404
        one.client.post(f"{DEFAULT}/ask", json=QUESTION, headers=bob)
        assert one.client.get(f"{TRACES}/{trace}", headers=bob).status_code == 200


def test_a_trace_is_named_by_its_id_alone(indexed_home: Path, tmp_path: Path) -> None:
    with running(copied(indexed_home, tmp_path)) as one:
        one.client.post(f"{DEFAULT}/ask", json=QUESTION)
        for id_ in ("last", "..%2flast", "x", "0" * 12, "%00"):
            assert one.client.get(f"{TRACES}/{id_}").status_code == 404
