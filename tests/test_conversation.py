from __future__ import annotations

import pytest

from thresher.asking import courtesy, polite


@pytest.mark.parametrize(
    "said",
    [
        "thanks",
        "Thank you very much!",
        "Great, thanks a lot.",
        "hello",
        "Hi there!",
        "good morning",
        "Who are you?",
        "hi, who are you?",
        "What can you do?",
        "bye",
    ],
)
def test_what_is_said_to_be_polite_gets_a_line(said: str) -> None:
    assert courtesy(said)


@pytest.mark.parametrize(
    "question",
    [
        "What is thanks for?",
        "Who are you allowed to invite?",
        "ok",
        "help",
        "",
        "?",
        "Hello Kitty",
        "Thank you for 5512",
        "What does the morning shift do?",
        "and you?",
        "What can you do with a late order?",
        "all",
        "42",
        "And LP-203?",
    ],
)
def test_whatever_else_is_said_is_a_question(question: str) -> None:
    assert courtesy(question) == ""


def test_a_line_has_no_steps_and_no_trace() -> None:
    answer = polite("thanks", "corrective", courtesy("thanks"))
    assert (answer.steps, answer.trace, answer.usage.llm_calls, answer.abstained) == ((), "", 0, False)
    assert answer.to_dict()["text"] == "You are welcome."
