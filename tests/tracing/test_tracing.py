from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from thresher.answer import Answer
from thresher.errors import StoreError, UsageError
from thresher.home.places import LocalFiles
from thresher.tracing.traces import KEPT, LEFT, Request, Traces, replay
from thresher.types import ChunkTrace, Hit, Usage

REQUEST = Request("crag", {"upper": 0.7}, None, None, "2026-01-15", {"hash": [{"reply": "yes"}]})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "traces"


@pytest.fixture
def traces(folder: Path) -> Traces:
    return Traces(LocalFiles(folder))


@pytest.fixture
def answer(make_hit: Callable[..., Hit]) -> Callable[[str], Answer]:
    """An answer that touched one chunk of a source."""

    def make(source: str, recipe: str = "crag") -> Answer:
        fate = ChunkTrace(make_hit("c1", document=source.removesuffix(".txt"), label="Doc1-Chunk1"), True, None, "near")
        return Answer(f"Of {source}?", recipe, "x", chunks=(fate,))

    return make


def test_a_trace_is_found_by_its_id_and_as_the_last_one(traces: Traces, answer: Callable[[str], Answer]) -> None:
    first, second = (traces.stored(answer(source), REQUEST) for source in ("a.txt", "b.txt"))
    assert traces.load(first.trace) == first.to_dict(chunks=True)
    assert traces.labels(first.trace) == {"c1": "Doc1-Chunk1"}
    assert traces.load() == second.to_dict(chunks=True)
    assert traces.request() == REQUEST


def test_the_same_question_of_the_same_settings_has_the_same_id(traces: Traces, answer: Callable[..., Answer]) -> None:
    one, again, other, otherwise = (
        traces.stored(answer("a.txt", recipe), request).trace
        for recipe, request in [
            ("crag", REQUEST),
            ("crag", replace(REQUEST, today="2027-01-15")),
            ("rag", REQUEST),
            ("crag", replace(REQUEST, settings={"upper": 0.8})),
        ]
    )
    assert one == again
    assert len({one, other, otherwise}) == 3
    assert len(one) == 12


def test_an_answer_that_cannot_be_stored_is_still_an_answer_and_says_so(
    tmp_path: Path, answer: Callable[[str], Answer]
) -> None:
    (tmp_path / "traces").write_text("a file where a folder belongs", encoding="utf-8")
    stored = Traces(LocalFiles(tmp_path / "traces")).stored(answer("a.txt"), REQUEST)
    assert (stored.text, stored.trace, stored.degraded) == (
        "x",
        "",
        ("trace: not stored (cannot be written: File exists)",),
    )


@pytest.mark.parametrize("name", ["zz", "../../etc/passwd", "", "aa.json", ".last"])
def test_a_trace_that_is_not_there_is_an_error(traces: Traces, answer: Callable[[str], Answer], name: str) -> None:
    with pytest.raises(UsageError, match="no question was asked"):
        traces.load()
    traces.stored(answer("a.txt"), REQUEST)
    with pytest.raises(UsageError, match="no such trace"):
        traces.load(name)


def test_forgetting_a_source_removes_the_traces_that_quote_it(traces: Traces, answer: Callable[[str], Answer]) -> None:
    first, second = (traces.stored(answer(source), REQUEST).trace for source in ("a.txt", "b.txt"))
    assert traces.forget(["a.txt"]) == 1
    assert traces.load(second)
    with pytest.raises(UsageError):
        traces.load(first)
    traces.forget(["b.txt"])
    with pytest.raises(UsageError):
        traces.load()


@pytest.mark.parametrize("damage", ["", "{", "[]", "{}", '{"answer": 1}'])
def test_a_damaged_trace_is_told_and_forgotten_with_the_next_source(
    folder: Path, traces: Traces, answer: Callable[[str], Answer], damage: str
) -> None:
    first = traces.stored(answer("a.txt"), REQUEST).trace
    (folder / f"{first}.json").write_text(damage, encoding="utf-8")
    with pytest.raises(StoreError, match="damaged"):
        traces.load(first)
    assert traces.forget(["other.txt"]) == 1


def test_the_oldest_traces_go_first(folder: Path, traces: Traces, answer: Callable[[str], Answer]) -> None:
    for number in range(KEPT):
        file = folder / f"t{number:04}.json"
        folder.mkdir(exist_ok=True)
        file.write_text("{}", encoding="utf-8")
        os.utime(file, (number, number))
    new = traces.stored(answer("a.txt"), REQUEST).trace
    left = {file.name for file in folder.glob("*.json")}
    assert len(left) == LEFT
    assert f"{new}.json" in left
    assert f"t{KEPT - LEFT:04}.json" not in left
    assert f"t{KEPT - LEFT + 1:04}.json" in left


def test_a_trace_that_kept_no_replies_says_so(folder: Path, traces: Traces, answer: Callable[[str], Answer]) -> None:
    identifier = traces.stored(answer("a.txt"), REQUEST).trace
    file = folder / f"{identifier}.json"
    file.write_text(file.read_text(encoding="utf-8").replace('"asking"', '"other"'), encoding="utf-8")
    assert traces.load(identifier)["text"] == "x"
    with pytest.raises(UsageError, match="kept no replies; ask the question again"):
        traces.request(identifier)


def test_a_replay_names_what_differs_beyond_rounding(traces: Traces, answer: Callable[[str], Answer]) -> None:
    stored = traces.stored(replace(answer("a.txt"), confidence=0.5), REQUEST)
    asked: list[tuple[str, Request]] = []

    def again(**changes: object) -> list[str]:
        def ask(question: str, request: Request) -> Answer:
            asked.append((question, request))
            return replace(stored, trace="", **changes)  # type: ignore[arg-type]

        repeated, differences = replay(traces, stored.trace, ask)
        assert repeated.trace == stored.trace
        return differences

    assert again(confidence=0.5 + 1e-6, usage=Usage(3)) == []
    assert asked == [("Of a.txt?", REQUEST)]
    assert again(confidence=0.6, chunks=()) == ["confidence", "chunks"]
