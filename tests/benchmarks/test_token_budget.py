"""The benchmark of budgets: what it asks, and when it calls answers equal."""

from __future__ import annotations

import pytest

from benchmarks import token_budget
from benchmarks.machine import DATA
from thresher_evals.answerer_worth import Share

needs_data = pytest.mark.skipif(not (DATA / "squad").is_dir(), reason=f"no SQuAD in {DATA}; set THRESHER_DATA")


@pytest.mark.parametrize(
    ("only_whole", "only_cut", "equal"), [(0, 0, True), (6, 2, True), (12, 3, False), (3, 12, False), (4, 4, True)]
)
def test_answers_are_equal_where_neither_is_known_to_be_better(only_whole: int, only_cut: int, equal: bool) -> None:
    share = Share(50, 100)
    assert token_budget.Compared(100, share, share, only_whole, only_cut).equal is equal


@needs_data
@pytest.mark.parametrize("name", ["squad", "nq", "papers"])
def test_every_question_has_an_answer_and_none_is_asked_twice(name: str) -> None:
    asked = token_budget.SETS[name]()
    assert 60 <= len(asked) <= token_budget.NUMBER
    assert all(answers and all(answers) for _, answers in asked)
    assert len({question for question, _ in asked}) == len(asked)


def test_the_order_of_the_questions_is_nobodys_choice() -> None:
    rows = [{"id": "a"}, {"id": "b"}, {"id": "c"}]
    assert token_budget.in_order(rows) == token_budget.in_order(reversed(rows))
