from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from thresher.errors import StoreError, UsageError
from thresher.tracing import KEPT, LEFT, Traces, trace_id


def described(source: str, text: str = "x") -> dict[str, Any]:
    return {"text": text, "chunks": [{"source": source}], "citations": []}


@pytest.fixture
def traces(tmp_path: Path) -> Traces:
    return Traces(tmp_path / "traces")


def test_a_trace_is_found_by_its_id_and_as_the_last_one(traces: Traces) -> None:
    traces.save("aa", described("a.txt"), labels={"c1": "Doc1-Chunk1"})
    traces.save("bb", described("b.txt"))
    assert traces.load("aa") == described("a.txt")
    assert traces.labels("aa") == {"c1": "Doc1-Chunk1"}
    assert traces.load() == described("b.txt")


def test_the_same_question_of_the_same_settings_has_the_same_id() -> None:
    assert trace_id("q", "hybrid", "{}") == trace_id("q", "hybrid", "{}") != trace_id("q", "hybri", "d{}")
    assert len(trace_id("q")) == 12


@pytest.mark.parametrize("name", ["zz", "../../etc/passwd", "", "aa.json", ".last"])
def test_a_trace_that_is_not_there_is_an_error(traces: Traces, name: str) -> None:
    traces.save("aa", described("a.txt"))
    with pytest.raises(UsageError, match="no such trace"):
        traces.load(name)


def test_before_the_first_question_there_is_no_last_trace(traces: Traces) -> None:
    with pytest.raises(UsageError, match="no question was asked"):
        traces.load()


def test_forgetting_a_source_removes_the_traces_that_quote_it(traces: Traces) -> None:
    traces.save("aa", described("a.txt"))
    traces.save("bb", described("b.txt"))
    assert traces.forget(["a.txt"]) == 1
    assert traces.load("bb")
    with pytest.raises(UsageError):
        traces.load("aa")


def test_a_last_trace_that_was_forgotten_is_an_error_in_words(traces: Traces) -> None:
    traces.save("aa", described("a.txt"))
    traces.forget(["a.txt"])
    with pytest.raises(UsageError):
        traces.load()


@pytest.mark.parametrize("damage", ["", "{", "[]", "{}", '{"answer": 1}'])
def test_a_damaged_trace_is_told_and_forgotten_with_the_next_source(traces: Traces, damage: str) -> None:
    traces.save("aa", described("a.txt"))
    (traces.folder / "aa.json").write_text(damage, encoding="utf-8")
    with pytest.raises(StoreError, match="damaged"):
        traces.load("aa")
    assert traces.forget(["other.txt"]) == 1


def test_the_oldest_traces_go_first(traces: Traces) -> None:
    for number in range(KEPT):
        file = traces.folder / f"t{number:04}.json"
        traces.folder.mkdir(exist_ok=True)
        file.write_text("{}", encoding="utf-8")
        os.utime(file, (number, number))
    traces.save("new", described("a.txt"))
    left = {file.name for file in traces.folder.glob("*.json")}
    assert len(left) == LEFT
    assert "new.json" in left
    assert f"t{KEPT - LEFT:04}.json" not in left
    assert f"t{KEPT - LEFT + 1:04}.json" in left


def test_nothing_unfinished_is_left_behind(traces: Traces) -> None:
    traces.save("aa", described("a.txt"))
    assert {file.name for file in traces.folder.iterdir()} == {"aa.json", "last"}


def test_what_is_needed_to_ask_again_is_kept_beside_the_answer(traces: Traces) -> None:
    traces.save("aa", described("a.txt"), asking={"recipe": "crag", "exchanges": {"hash": [{"reply": "yes"}]}})
    assert traces.asking("aa")["exchanges"] == {"hash": [{"reply": "yes"}]}
    assert traces.load("aa") == described("a.txt")


def test_a_trace_that_kept_no_replies_says_so(traces: Traces) -> None:
    traces.save("aa", described("a.txt"))
    with pytest.raises(UsageError, match="kept no replies; ask the question again"):
        traces.asking("aa")
