"""Rows are added whole, also after a kill and by several threads; those of earlier versions are read and scored."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from thresher.errors import UsageError
from thresher.types import Origin, Verdict
from thresher_evals.dataset import Gold, Question
from thresher_evals.rows import Context, Row, RowLog, read_rows, read_run, run_log
from thresher_evals.score import score

OLD_RUN = Path(__file__).with_name("old_run")
"""Three questions of `routing:` put to two recipes, as version 0.1.0 wrote them."""


@pytest.fixture
def log(tmp_path: Path) -> RowLog[dict[str, Any]]:
    """A log of JSON objects."""
    return RowLog(tmp_path / "out", dict, head="run.json", lines="rows/{}.jsonl", what="run")


# --- the log ----------------------------------------------------------------------------------------------------------


def test_a_torn_line_is_no_row_and_is_cut_before_more_is_added(log: RowLog[dict[str, Any]]) -> None:
    log.write_head({})
    log.add({"id": 1}, "a/b")
    with log.path("a/b").open("ab") as stream:
        stream.write(b'{"id": 2, "to')
    assert log.rows("a/b") == [{"id": 1}]
    again = RowLog(log.folder, dict, head="run.json", lines="rows/{}.jsonl", what="run")
    again.add({"id": 3, "share": float("nan")}, "a/b")
    assert log.path("a/b").read_bytes() == b'{"id": 1}\n{"id": 3, "share": null}\n'
    assert log.path("a/b").name == "a%2Fb.jsonl"


def test_threads_do_not_mix_their_lines(log: RowLog[dict[str, Any]]) -> None:
    log.write_head({})
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: log.add({"id": number, "text": "word " * 5000}, "rag"), range(40)))
    assert sorted(row["id"] for row in log.rows("rag")) == list(range(40))


def test_a_damaged_line_is_named(log: RowLog[dict[str, Any]]) -> None:
    log.write_head({})
    log.add({"id": 1}, "rag")
    log.path("rag").write_bytes(b"[]\n" + log.path("rag").read_bytes())
    with pytest.raises(UsageError, match=r"rag\.jsonl:1: not a row of a run; delete the line"):
        log.rows("rag")


def test_what_a_killed_process_left_of_the_description_is_nothing_to_go_on_with(log: RowLog[dict[str, Any]]) -> None:
    log.folder.mkdir()
    for name in (".unfinished-a", ".unfinished-b"):
        (log.folder / name).touch()
    assert not log.is_begun(resume=False)
    (log.folder / "thesis.txt").touch()
    with pytest.raises(UsageError, match="already holds something; give another `out`"):
        log.is_begun(resume=False)
    assert log.is_begun(resume=True)


# --- rows -------------------------------------------------------------------------------------------------------------


def test_a_row_is_read_as_it_was_written(make_row: Callable[..., Row], tmp_path: Path) -> None:
    question = Question("q", "\ud800?", ("a",), gold=(Gold("b", 2), Gold("c", origin=Origin.OUTSIDE)), grades={"d": 2})
    row = replace(
        make_row(question, text="a [1]", ranking=["b"]),
        context=(Context("b", 0, 9, "In Paris.", origin=Origin.OUTSIDE),),
        judged={"unsupported": 1.0},
    )
    log = run_log(tmp_path)
    log.add(row, "rag")
    assert read_rows(tmp_path, "rag") == [replace(row, judged={})]


def test_rows_of_an_earlier_version_are_read_and_scored(tmp_path: Path) -> None:
    assert read_run(OLD_RUN)["recipes"] == ["rag", "corrective"]
    kept, refused, went_outside = read_rows(OLD_RUN, "corrective")
    assert (kept.question.category, refused.question.gold[0].origin) == ("inside", Origin.OUTSIDE)
    assert (kept.reply is not None, refused.reply is not None, went_outside.reply is not None) == (True, True, True)
    assert (kept.reply.verdict, refused.reply.abstained) == (Verdict.CORRECT, True)  # type: ignore[union-attr]
    assert isinstance(kept.reply.told("decide", "lower"), float)  # type: ignore[union-attr]
    line = json.loads(run_log(OLD_RUN).path("corrective").read_text(encoding="utf-8").splitlines()[0])
    assert kept.to_dict()["answer"].keys() == line["answer"].keys()
    scored = score(OLD_RUN)
    assert {name: value["value"] for name, value in scored["recipes"]["corrective"].items() if name in SCORED} == SCORED

    older = tmp_path / "older"
    shutil.copytree(OLD_RUN, older)
    path = run_log(older).path("corrective")
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    added = ("options", "topic", "group", "context", "cpu_seconds", "memory_mib", "generator", "judge")
    for line in lines:
        for name in added:
            del line[name]
        del line["answer"]["conflicts"]
        line["what_a_later_version_adds"] = 1
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    first = read_rows(older, "corrective")[0]
    assert (first.context, first.generator, first.question.options) == (None, "", ())
    assert score(older, measures=["match"])["recipes"]["corrective"]["match"]["n"] == 3


SCORED = {"match": 2 / 3, "abstained": 1 / 3, "verdict_accuracy": 1.0}


@pytest.mark.parametrize("name", ["id", "question", "recipe", "config", "seconds"])
def test_a_row_without_what_is_needed_is_none(tmp_path: Path, make_row: Callable[..., Row], name: str) -> None:
    line = make_row(text="x").to_dict()
    del line[name]
    path = run_log(tmp_path).path("rag")
    path.parent.mkdir()
    path.write_text(json.dumps(line) + "\n", encoding="utf-8")
    with pytest.raises(UsageError, match=r"rag\.jsonl:1: not a row of a run"):
        read_rows(tmp_path, "rag")
