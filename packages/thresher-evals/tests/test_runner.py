"""A run keeps one row a question, survives being killed, and never mixes two measurements."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from thresher.errors import MissingExtra, StoreError, ThresherError, UsageError
from thresher.types import Step
from thresher_evals.asker import written_by
from thresher_evals.datasets.registry import load
from thresher_evals.rows import read_rows, run_log
from thresher_evals.runner import run

Scripted = Callable[..., Any]
HITS = {"question 1": ["b", "a"], "question 2": ["x"], "question 4": ["e"]}


def kept(path: Path) -> list[dict[str, Any]]:
    """The rows without what time does to them."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    costs = ("seconds", "search_seconds", "cpu_seconds", "memory_mib")
    return [{**row, **dict.fromkeys(costs)} for row in rows]


def forget(out: Path, key: str) -> None:
    """Leave run.json as a version wrote it that did not know the key."""
    described = json.loads((out / "run.json").read_text())
    del described[key]
    (out / "run.json").write_text(json.dumps(described))


def test_a_ranking_is_kept_with_spans_scores_and_other_sources(scripted: Scripted, beir: Path, tmp_path: Path) -> None:
    asker = scripted(HITS, others={"B": ("b-copy",)})
    report = run(asker, load(f"beir:{beir}"), ["rag", "hybrid", "rag"], tmp_path / "out")
    assert report.asked == {"rag": 3, "hybrid": 3}
    assert asker.limits == {100}
    assert {what for what, _, _ in asker.asked} == {"search"}
    row = kept(tmp_path / "out" / "rows" / "hybrid.jsonl")[0]
    span = {"page": None, "start": 10, "end": 15}
    assert row["ranking"][0] == {"source": "b", "also": ["b-copy"], **span, "score": 1.0, "scale": "cosine [-1, 1]"}
    assert row["grades"] == {"a": 3, "b": 1, "c": 0}
    assert (row["answer"], row["error"], row["degraded"]) == (None, None, ["no language model"])


def test_an_answer_is_kept_beside_a_ranking(scripted: Scripted, qa: Path, tmp_path: Path) -> None:
    asker = scripted(
        {"Who?": ["/x/ada.pdf"]}, {"Who?": "Ada Lovelace [1]"}, pages={"Who?": 2}, others={"/X/ADA.PDF": ("c",)}
    )
    run(asker, load(f"qa:{qa}"), ["rag"], tmp_path / "out")
    first, second, third = kept(tmp_path / "out" / "rows" / "rag.jsonl")
    answer = first["answer"]
    assert (answer["text"], answer["abstained"], answer["usage"]["llm_calls"]) == ("Ada Lovelace [1]", False, 3)
    assert answer["confidence"] is None  # it was not a number
    assert (answer["citations"][0]["page"], answer["citations"][0]["also"]) == (2, ["c"])
    assert answer["steps"] == [
        {"name": "judge", "seconds": 0.1, "considered": 3, "kept": 2, "detail": {"unreadable": 2}}
    ]
    assert (first["unreadable"], first["timed_out"], first["category"]) == (2, False, "people")
    assert (second["ranking"], second["answer"]["abstained"]) == ([], True)
    assert third["ranking"] is None  # no gold: not searched
    assert asker.limits == {5}


def test_an_error_is_a_row_and_the_run_goes_on(
    scripted: Scripted, failure: ThresherError, qa: Path, tmp_path: Path
) -> None:
    asker = scripted({"Where?": failure}, {"Who?": failure, "Where?": "late"})
    report = run(asker, load(f"qa:{qa}"), ["rag"], tmp_path / "out")
    first, second, third = read_rows(tmp_path / "out", "rag")
    assert first.error == "ThresherError: the model fell over; start it again"
    assert (first.reply, first.ranking, first.timed_out) == (None, (), False)
    assert (second.reply is not None, second.ranking, second.timed_out) == (True, None, True)
    assert third.error is None
    assert report.failed == {"rag": 2}


@pytest.mark.parametrize(
    "error", [UsageError("unknown recipe"), MissingExtra("openai", extra="llm"), RuntimeError("bug")]
)
def test_what_every_question_would_meet_ends_the_run(
    scripted: Scripted, qa: Path, tmp_path: Path, error: Exception
) -> None:
    with pytest.raises(type(error)):
        run(scripted(answers={"Who?": error}), load(f"qa:{qa}"), ["rag"], tmp_path / "out")
    assert read_rows(tmp_path / "out", "rag") == []


@pytest.mark.parametrize("together", [False, True])
@pytest.mark.parametrize("calls", [0, 1, 2, 4, 5])
def test_a_killed_run_resumed_equals_one_that_was_not(
    scripted: Scripted, qa: Path, tmp_path: Path, calls: int, together: bool
) -> None:
    hits, answers = {"Who?": ["ada.pdf"], "Where?": ["x"]}, {"Who?": "Ada", "Where?": "Paris"}
    dataset, recipes = load(f"qa:{qa}"), ["rag", "hybrid"]
    run(scripted(hits, answers), dataset, recipes, tmp_path / "whole")
    with pytest.raises(KeyboardInterrupt):
        run(scripted(hits, answers, die_after=calls), dataset, recipes, tmp_path / "killed", together=together)
    finished: list[int] = []
    again = scripted(hits, answers)
    report = run(again, dataset, recipes, tmp_path / "killed", resume=True, together=together, progress=finished.append)
    for recipe in recipes:
        assert kept(tmp_path / "killed" / "rows" / f"{recipe}.jsonl") == kept(
            tmp_path / "whole" / "rows" / f"{recipe}.jsonl"
        )
        assert report.asked[recipe] + report.skipped[recipe] == 3
    assert sum(finished) == 6
    asked = [call for call in again.asked if call[0] == "ask"]
    assert len(asked) == sum(report.asked.values())


def test_a_folder_is_never_overwritten(scripted: Scripted, beir: Path, tmp_path: Path) -> None:
    dataset, out = load(f"beir:{beir}"), tmp_path / "out"
    out.mkdir()
    run(scripted(HITS), dataset, ["rag"], out)
    before = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    with pytest.raises(UsageError, match="already holds something"):
        run(scripted(), dataset, ["rag"], out)
    foreign = tmp_path / "foreign"
    foreign.mkdir()
    (foreign / "thesis.txt").write_text("mine")
    with pytest.raises(UsageError, match="no run in it"):
        run(scripted(), dataset, ["rag"], foreign, resume=True)
    assert before == {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    assert [path.name for path in foreign.iterdir()] == ["thesis.txt"]


def test_another_measurement_is_not_mixed_in_and_it_says_what_differs(
    scripted: Scripted, beir: Path, tmp_path: Path
) -> None:
    dataset, out = load(f"beir:{beir}"), tmp_path / "out"
    run(scripted(HITS), dataset, ["rag"], out, settings={"rag": {"k": 5, "rerank": None}})
    with pytest.raises(UsageError, match=r"settings of rag: k \(was 5, now 6\)"):
        run(scripted(), dataset, ["rag"], out, resume=True, settings={"rag": {"k": 6, "rerank": None}})
    same = {"rag": {"k": 5, "rerank": None}}
    with pytest.raises(UsageError, match=r"limit \(was 100, now 7\)"):
        run(scripted(), dataset, ["rag"], out, resume=True, limit=7, settings=same)
    with pytest.raises(UsageError, match="the questions asked"):
        run(scripted(), load(f"beir:{beir}", sample=2), ["rag"], out, resume=True, settings=same)
    with (beir / "qrels.tsv").open("a") as stream:
        stream.write("4\tf\t1\n")
    with pytest.raises(UsageError, match="the dataset's files"):
        run(scripted(), load(f"beir:{beir}"), ["rag"], out, resume=True, settings=same)


def test_where_recipes_may_look_outside_is_kept_and_not_changed_on_the_way(
    scripted: Scripted, popqa: Path, tmp_path: Path
) -> None:
    dataset, out = load(f"routing:{popqa}"), tmp_path / "out"
    with pytest.raises(KeyboardInterrupt):
        run(scripted(die_after=1), dataset, ["rag"], out, outside="collection:x")
    described = json.loads((out / "run.json").read_text())
    assert described["outside"] == "collection:x"
    assert (described["dataset"]["categories"], described["dataset"]["split"]) == ({"inside": 1, "outside": 1}, "all")
    assert described["dataset"]["note"] == dataset.note
    with pytest.raises(UsageError, match=r"look outside \(was collection:x, now none\)"):
        run(scripted(), dataset, ["rag"], out, resume=True)
    assert run(scripted(), dataset, ["rag"], out, outside="collection:x", resume=True).asked == {"rag": 1}
    again = run(scripted(), dataset, ["rag"], out, outside="collection:x", resume=True)
    assert (again.asked, again.skipped) == ({"rag": 0}, {"rag": 2})


def test_a_recipe_can_be_added_to_a_run(scripted: Scripted, beir: Path, tmp_path: Path) -> None:
    dataset, out = load(f"beir:{beir}"), tmp_path / "out"
    run(scripted(HITS), dataset, ["rag"], out)
    report = run(scripted(HITS), dataset, ["hybrid"], out, resume=True, settings={"hybrid": {"k": 8}})
    assert report.asked == {"hybrid": 3}
    described = json.loads((out / "run.json").read_text())
    assert (described["recipes"], described["settings"]) == (["rag", "hybrid"], {"rag": {}, "hybrid": {"k": 8}})


@pytest.mark.parametrize("together", [False, True])
@pytest.mark.parametrize("parallel", [2, 5])
def test_rows_keep_the_order_of_the_questions_however_many_are_asked_at_a_time(
    scripted: Scripted, write_lines: Callable[..., Path], tmp_path: Path, parallel: int, together: bool
) -> None:
    lines = [{"id": str(number), "question": f"question {number}", "answers": ["yes"]} for number in range(12)]
    dataset = load(f"qa:{write_lines(tmp_path / 'questions.jsonl', lines)}")
    run(scripted(), dataset, ["rag", "hybrid"], tmp_path / "out", parallel=parallel, together=together)
    for recipe in ("rag", "hybrid"):
        rows = [json.loads(line) for line in (tmp_path / "out" / "rows" / f"{recipe}.jsonl").read_text().splitlines()]
        assert [(row["id"], row["recipe"]) for row in rows] == [(str(number), recipe) for number in range(12)]
        assert all(row["cpu_seconds"] is None for row in rows)


# --- question by question ---------------------------------------------------------------------------------------------


def test_a_run_of_an_earlier_version_was_asked_recipe_by_recipe(scripted: Scripted, beir: Path, tmp_path: Path) -> None:
    dataset, out = load(f"beir:{beir}"), tmp_path / "out"
    run(scripted(HITS), dataset, ["rag"], out)
    forget(out, "together")
    assert run(scripted(), dataset, ["rag"], out, resume=True).skipped == {"rag": 3}
    with pytest.raises(UsageError, match="order of asking"):
        run(scripted(), dataset, ["rag"], out, resume=True, together=True)


# --- at the same time -------------------------------------------------------------------------------------------------


def test_two_processes_do_not_add_rows_to_one_folder(scripted: Scripted, qa: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    run(scripted(), load(f"qa:{qa}"), ["rag"], out)
    before = (out / "rows" / "rag.jsonl").read_bytes()
    with run_log(out).locked(), pytest.raises(StoreError, match="another process is writing into it"):
        run(scripted(), load(f"qa:{qa}"), ["rag", "hybrid"], out, resume=True)
    assert (out / "rows" / "rag.jsonl").read_bytes() == before
    assert run(scripted(), load(f"qa:{qa}"), ["rag"], out, resume=True).asked == {"rag": 0}


@pytest.mark.parametrize(
    ("detail", "name"),
    [
        ({"reader": "grounded", "model": "model-a"}, "model-a"),
        ({"reader": "spans", "model": "thresher-reader-int8@1"}, "reader"),
        ({"reader": "table"}, "reader"),
    ],
)
def test_the_reader_that_answered_is_an_outcome_and_no_other_generator(detail: dict[str, str], name: str) -> None:
    assert written_by([Step("generate", 0.1, 1, 1, detail)]) == name
