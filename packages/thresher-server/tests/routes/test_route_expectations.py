"""Answers that a person confirms, written to a file that `thresher ci` reads."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import thresher
from tests.servers.own import Running, filled, running
from tests.servers.own_api import DEFAULT, with_key
from thresher.errors import UsageError
from thresher_ci.knowledge import read
from thresher_server.security.keys import Scope

LAMP, FERRY, MAYOR = "Who rebuilt the lamp?", "When does the ferry leave?", "Who is the mayor of Stockholm?"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home whose default collection has the coast's documents."""
    filled(tmp_path / "home", "lighthouse.md", "ferry.md")
    with thresher.open(tmp_path / "home") as collection:
        collection.add(tmp_path / "lighthouse.md", tmp_path / "ferry.md")
    return tmp_path / "home"


def trace_of(one: Running, question: str, **headers: str) -> str:
    """The stored answer of a question."""
    return str(one.client.post(f"{DEFAULT}/ask", json={"question": question}, headers=headers).json()["trace"])


def test_a_confirmed_answer_is_written_and_labelled(home: Path, tmp_path: Path) -> None:
    file = tmp_path / "knowledge.yaml"
    with running(home, server__knowledge=str(file)) as one:
        assert one.client.get("/api/session").json()["expects"] is True
        trace = trace_of(one, LAMP)
        told = one.client.post(f"{DEFAULT}/traces/{trace}/expectation").json()
        assert (told["question"], told["written"], told["source"]) == (LAMP, True, "lighthouse.md")
        assert "Ada Holm" in told["quote"]
        assert one.client.get(f"{DEFAULT}/traces/{trace}").json()["feedback"]["right"] is True
        before = file.read_bytes()
        assert one.client.post(f"{DEFAULT}/traces/{trace}/expectation").json()["written"] is False
        assert file.read_bytes() == before
    (expected,) = read(file)
    assert (expected.question, expected.expected.source, expected.asked_by) == (LAMP, "lighthouse.md", "")
    assert expected.expected.quote == told["quote"]


def test_a_confirmed_refusal_expects_a_refusal(home: Path, tmp_path: Path) -> None:
    with running(home, server__knowledge=str(tmp_path / "knowledge.yaml")) as one:
        told = one.client.post(f"{DEFAULT}/traces/{trace_of(one, MAYOR)}/expectation").json()
    assert (told["quote"], told["source"]) == ("", "")
    assert read(tmp_path / "knowledge.yaml")[0].expected.is_refusal


def test_answers_confirmed_at_once_are_all_written(home: Path, tmp_path: Path) -> None:
    questions = [LAMP, FERRY, MAYOR]
    with running(home, server__knowledge=str(tmp_path / "knowledge.yaml")) as one, ThreadPoolExecutor() as pool:
        paths = [f"{DEFAULT}/traces/{trace_of(one, question)}/expectation" for question in questions]
        replies = list(pool.map(one.client.post, paths))
    assert [one.status_code for one in replies] == [200, 200, 200]
    assert {one.question for one in read(tmp_path / "knowledge.yaml")} == set(questions)


def test_without_a_file_nothing_is_expected(home: Path) -> None:
    with running(home) as one:
        assert one.client.get("/api/session").json()["expects"] is False
        refused = one.client.post(f"{DEFAULT}/traces/{trace_of(one, LAMP)}/expectation")
    assert refused.status_code == 404
    assert "server.knowledge" in refused.json()["error"]["next"]


def test_it_takes_the_scope_to_write_and_the_name_of_the_key_is_kept(home: Path, tmp_path: Path) -> None:
    file = tmp_path / "knowledge.yaml"
    asks = with_key(home, "ann", Scope.ASK, Scope.READ)
    writes = with_key(home, "mara", Scope.ASK, Scope.WRITE)
    with running(home, server__knowledge=str(file), server__require_key=True) as one:
        trace = trace_of(one, LAMP, **asks)
        path = f"{DEFAULT}/traces/{trace}/expectation"
        assert one.client.post(path, headers=asks).status_code == 403
        assert one.client.post(path, headers=writes).status_code == 404  # another's question
        assert not file.exists()
        own = trace_of(one, FERRY, **writes)
        assert one.client.post(f"{DEFAULT}/traces/{own}/expectation", headers=writes).status_code == 200
    assert [(one.question, one.asked_by) for one in read(file)] == [(FERRY, "mara")]


def test_a_file_that_cannot_be_read_stops_the_start_and_later_the_reply_says_so(home: Path, tmp_path: Path) -> None:
    file = tmp_path / "knowledge.yaml"
    file.write_text("questions:\n  - question: Who?\n", encoding="utf-8")
    with pytest.raises(UsageError, match=r'line 2: "expect" is missing'), running(home, server__knowledge=str(file)):
        pass
    file.unlink()
    with running(home, server__knowledge=str(file)) as one:
        trace = trace_of(one, LAMP)
        file.write_text("questions:\n  - question: Who?\n", encoding="utf-8")
        refused = one.client.post(f"{DEFAULT}/traces/{trace}/expectation")
    assert refused.status_code == 422
    assert "line 2" in refused.json()["error"]["message"]
    assert file.read_text(encoding="utf-8") == "questions:\n  - question: Who?\n"
