from __future__ import annotations

import pytest

from thresher.generation.reader import Choice, choice_of

LETTERED = (("A", "Lyon"), ("B", "Paris"), ("C", "Nice"))


@pytest.mark.parametrize(
    "question",
    [
        "Which city is the capital of France? (A) Lyon (B) Paris (C) Nice",
        "Which city is the capital of France?\nA. Lyon\nB. Paris\nC. Nice",
        "Which city is the capital of France? A: Lyon; B: Paris; C: Nice",
        "Which city is the capital of France? A) Lyon, B) Paris, C) Nice",
    ],
)
def test_options_behind_letters_are_found_however_they_are_set(question: str) -> None:
    assert choice_of(question) == Choice("Which city is the capital of France?", LETTERED)


@pytest.mark.parametrize(
    "question",
    [
        "What is the capital of France?",
        "Who wrote Vitamin A: a history?",
        "Is Paris the capital of France?",
        "What does J. B. Priestley say of plan B. ",
        "True or false:",
        "(A) Lyon (B) Paris",
        "What is hepatitis A? B: ",
    ],
)
def test_other_questions_are_answered_in_words(question: str) -> None:
    assert choice_of(question) is None
