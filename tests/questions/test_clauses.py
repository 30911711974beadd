from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thresher.questions.clauses import MOST_CLAUSES, descriptions_of
from thresher.questions.intent import read_intent

LONG = (
    "Which company, as reported by Trade Weekly, sells lighting towers to airports, "
    "was sued over late deliveries in Rotterdam, and plans a second assembly hall near its harbour site?"
)


def test_each_description_of_one_thing_is_a_question_of_its_own() -> None:
    assert descriptions_of(LONG) == (
        "Which company sells lighting towers to airports?",
        "Which company was sued over late deliveries in Rotterdam?",
        "Which company plans a second assembly hall near its harbour site?",
    )


def test_a_long_question_is_searched_for_each_description_too() -> None:
    assert read_intent(LONG).searches == (LONG, *descriptions_of(LONG))


@pytest.mark.parametrize(
    "question",
    [
        "Who wrote it?",
        "Which company makes the pump, and when was it founded?",
        "What is the budget for marketing in the third quarter of 2024 in thousand euros?",
        "Who is the manager of the branch in Oakridge that was opened in 1998?",
    ],
)
def test_a_short_question_is_left_whole(question: str) -> None:
    assert descriptions_of(question) == ()


@given(st.text(alphabet="abc ,;?.'ABC", max_size=300), st.sampled_from(("Which company", "Who", "")))
def test_any_text_gives_at_most_so_many_clauses(text: str, start: str) -> None:
    found = descriptions_of(f"{start} {text}")
    assert len(found) <= MOST_CLAUSES
    assert all(clause.strip() for clause in found)
