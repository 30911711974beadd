"""The judgements beside the rows: kept, merged, told apart by judge, and never of another answer."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from thresher.errors import UsageError
from thresher_evals.dataset import Question
from thresher_evals.judges.judgements import (
    Judgement,
    answer_of,
    judgement_log,
    judgements_of,
    read_judgements,
    remember_judge,
)
from thresher_evals.rows import Reply, Row, rows_path, written


def make_row(id: str = "q1", text: str = "Paris") -> Row:
    """A row with an answer."""
    return Row(Question(id, "Where?", ("Paris",)), "rag", "c0ffee", 1.0, reply=Reply(text, False))


def said(row: Row, judge: str = "one", **values: float) -> Judgement:
    """A judgement of a row's answer."""
    return Judgement(row.question.id, judge, "1", answer_of(row), tuple(values), values)


def add(run: Path, judgement: Judgement) -> None:
    """Add a judgement as another process would."""
    judgement_log(run).add(judgement, "rag")


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A folder with the rows q1 and q2 of `rag`."""
    path = rows_path(tmp_path, "rag")
    path.parent.mkdir()
    path.write_bytes(b"".join(written(make_row(id).to_dict()) for id in ("q1", "q2")))
    return tmp_path


def test_what_was_written_is_read_again(run: Path) -> None:
    row = make_row()
    judgement = replace(said(row, unsupported=0.5), detail={"unsupported": {"sentences": 2}}, failed=("likert",))
    add(run, judgement)
    assert judgements_of(run, "rag") == [judgement]
    assert read_judgements(run, "rag") == {"q1": {"unsupported": 0.5, "judge_failed": 1.0}}


def test_later_lines_add_measures_to_earlier_ones(run: Path) -> None:
    row = make_row()
    add(run, said(row, unsupported=0.5))
    add(run, said(row, judged_correct=1.0))
    assert read_judgements(run, "rag")["q1"] == {"unsupported": 0.5, "judged_correct": 1.0, "judge_failed": 0.0}


def test_numbers_of_two_prompts_are_never_mixed(run: Path) -> None:
    row = make_row()
    add(run, said(row, unsupported=0.5))
    add(run, replace(said(row, judged_correct=1.0), prompts="2"))
    assert read_judgements(run, "rag")["q1"] == {"judged_correct": 1.0, "judge_failed": 0.0}


def test_the_judge_that_was_asked_last_counts(run: Path) -> None:
    remember_judge(run, "one", {"kind": "llm"})
    add(run, said(make_row("q1"), "one", unsupported=0.25))
    add(run, said(make_row("q1"), "two", unsupported=0.75))
    add(run, said(make_row("q2"), "two", unsupported=1.0))
    assert read_judgements(run, "rag") == {"q1": {"unsupported": 0.25, "judge_failed": 0.0}}
    remember_judge(run, "two", {"kind": "offline"})
    assert {id: values["unsupported"] for id, values in read_judgements(run, "rag").items()} == {"q1": 0.75, "q2": 1.0}


def test_a_judgement_of_an_answer_that_is_no_longer_there_is_left_out(run: Path) -> None:
    add(run, said(make_row("q1", text="London"), judged_correct=0.0))
    assert read_judgements(run, "rag") == {}


@pytest.mark.parametrize("line", ["[]", "{}", '{"id": 1', '{"id": "q1", "judge": "one", "values": {"a": "b"}}'])
def test_a_damaged_line_is_named(run: Path, line: str) -> None:
    path = judgement_log(run).path("rag")
    path.parent.mkdir()
    path.write_text(f"{line}\n", encoding="utf-8")
    with pytest.raises(UsageError, match=r"rag\.jsonl:1: not a row of a judge"):
        read_judgements(run, "rag")
