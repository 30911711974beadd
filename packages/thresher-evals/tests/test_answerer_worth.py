from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import pytest

from thresher.answer import Answer
from thresher_evals.answerer_worth import AnswererWorth, Share, answerer_worth, is_right, labelled_answers, measured

ANSWER = Answer("Q?", "corrective", "", trace="t")


def said(text: str, *, abstained: bool = False) -> Answer:
    return replace(ANSWER, text=text, abstained=abstained)


@pytest.mark.parametrize(
    ("right", "n", "low", "high"),
    [(0, 10, 0.0, 0.277533), (7, 10, 0.396778, 0.892209), (10, 10, 0.722467, 1.0), (45, 90, 0.398837, 0.601163)],
)
def test_the_interval_of_a_share_is_wilsons(right: int, n: int, low: float, high: float) -> None:
    share = Share(right, n)
    assert (share.value, share.low, share.high) == pytest.approx((right / n, low, high), abs=1e-6)


@pytest.mark.parametrize(
    ("text", "answers", "right"),
    [
        ("It is the Eiffel Tower. [1]", ["Eiffel tower"], True),
        ("“The mean range is 4.1 metres.” [1]", ["4.1 metres"], True),
        ("“Paris–Lyon” [1]", ["Paris"], True),
        ("It is 35 m.", ["3.5 m"], False),
        ("It is 12. [1]", ["12"], True),
        ("It is 120. [1]", ["12"], False),
        ("Nobody knows.", [], False),
    ],
)
def test_an_answer_is_right_where_it_holds_one_of_the_labels(text: str, answers: list[str], right: bool) -> None:
    assert is_right(said(text), answers) is right


def test_a_refusal_is_right_where_there_is_no_answer_alone() -> None:
    assert is_right(said("No.", abstained=True), [])
    assert not is_right(said("Paris", abstained=True), ["Paris"])


def worth(model_right: int, reader_right: int, of: int = 40) -> AnswererWorth:
    questions = [(f"question {number}", ["yes"]) for number in range(of)]

    def ask(question: str, by_model: bool) -> Answer:
        number = int(question.split()[1])
        return said("yes" if number < (model_right if by_model else reader_right) else "no")

    return measured("m", questions, ask)


def test_a_model_that_is_worse_is_told_with_the_setting_that_changes_it() -> None:
    found = worth(10, 30)
    assert (found.by_model.right, found.by_reader.right, found.only_reader, found.worse) == (10, 30, 20, True)
    assert "answer.by=reader" in str(found)
    assert "right answers: m 10 of 40 (0.25 [0.14, 0.40]); without a chat model 30 of 40" in str(found)


@pytest.mark.parametrize(("model", "reader"), [(30, 10), (30, 30), (29, 30)])
def test_a_model_that_is_not_known_to_be_worse_gets_no_advice(model: int, reader: int) -> None:
    assert "answer.by=reader" not in str(worth(model, reader))


def test_only_rows_that_can_be_judged_count() -> None:
    rows = [
        {"question": "a", "answers": ["x"]},
        {"question": "b", "answerable": False},
        {"question": "c", "answerable": True},
    ]
    assert labelled_answers(rows) == [("a", ["x"]), ("b", [])]


class Asked:
    """Of a collection as much as is needed: with a model it answers, without one it refuses."""

    def __init__(self, model: str | None) -> None:
        self.model = model

    def settings(self, recipe: str, settings: Mapping[str, Any]) -> dict[str, Any]:
        return {"llm.model": self.model}

    def ask(self, question: str, *, recipe: str, settings: Mapping[str, Any]) -> Answer:
        return said("yes", abstained=settings["answer.by"] == "reader")


@pytest.mark.parametrize(("model", "rows"), [("m", 20), ("m", 19), (None, 20)])
def test_the_rows_of_a_file_are_asked_twice_where_there_is_a_model_and_enough_of_them(
    model: str | None, rows: int
) -> None:
    done: list[int] = []
    given = [{"question": f"{at}?", "answers": ["yes"]} for at in range(rows)]
    found = answerer_worth(
        Asked(model),  # type: ignore[arg-type]
        given,
        recipe="rag",
        settings={},
        counting=lambda total, what: nullcontext(done.append),
    )
    assert (found is not None) == (model is not None and rows == 20)
    assert len(done) == (0 if found is None else 2 * rows)
    assert found is None or (found.by_model.right, found.by_reader.right) == (20, 0)
