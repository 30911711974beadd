from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as some

from thresher.text.measured import measured


@pytest.mark.parametrize(
    ("question", "of_each", "more"),
    [
        ("Which branch has more employees, Coldmere or Fernby?", "How many employees does {} have?", True),
        ("Who has fewer customers: Coldmere or Fernby", "How many customers does {} have?", False),
        ("Who has higher deposits, Coldmere or Fernby?", "What are the deposits of {}?", True),
        ("Which has the shorter delivery time, Coldmere or Fernby?", "What is the delivery time of {}?", False),
        ("Which of Coldmere and Fernby has the larger total?", "What is the total of {}?", True),
        ("Which invoice is lower, Coldmere or Fernby?", "What is the total of {}?", False),
        ("Which tower is taller, Coldmere or Fernby?", "How tall is {}?", True),
        ("What is cheaper in June, Coldmere or Fernby?", "How much does {} cost in June?", False),
    ],
)
def test_which_of_two_has_more_asks_the_same_of_each(question: str, of_each: str, more: bool) -> None:
    asked = measured(question)
    assert asked is not None
    assert asked.things == ("Coldmere", "Fernby")
    assert asked.questions == (of_each.format("Coldmere"), of_each.format("Fernby"))
    assert (asked.more, asked.yes_or_no) == (more, False)


def test_whether_one_is_higher_than_the_other_is_a_yes_or_no() -> None:
    asked = measured("Is the total of PW-1 higher than that of PW-2?")
    assert asked is not None
    assert (asked.questions[1], asked.more, asked.yes_or_no) == ("What is the total of PW-2?", True, True)


@pytest.mark.parametrize(
    "question",
    [
        "Who is better at chess, Ada or Bo?",
        "What is the difference between Coldmere and Fernby?",
        "Which branch has the most employees?",
        "Is Coldmere older?",
        "Which is longer?",
    ],
)
def test_other_questions_measure_nothing(question: str) -> None:
    assert measured(question) is None


@given(some.text(max_size=80))
def test_any_text_is_measured_or_not_without_a_failure(question: str) -> None:
    asked = measured(question)
    assert asked is None or all(asked.questions)
