"""What is asked for and what is not."""

from __future__ import annotations

import pytest

from thresher.verification.contradiction import tells_opposite


@pytest.mark.parametrize(
    ("question", "sentence"),
    [
        ("What does the plan not cover?", "The plan covers fillings."),
        ("What does the plan cover?", "The plan does not cover braces."),
        ("What does the rate exclude?", "The rate includes breakfast."),
        ("What goes into the bio bin?", "Bones do not belong in the bio bin."),
    ],
)
def test_a_sentence_that_says_it_is_so_does_not_answer_what_is_not_nor_the_reverse(
    question: str, sentence: str
) -> None:
    assert tells_opposite(question, sentence)


@pytest.mark.parametrize(
    ("question", "sentence"),
    [
        ("What does the plan not cover?", "The plan does not cover braces."),
        ("What is not covered by the warranty?", "The warranty does not apply to seals."),
        ("Which repairs are not paid?", "All repairs are paid except those of tyres."),
        ("What is excluded from the plan?", "Braces are not included in the plan."),
        ("Does the plan cover braces?", "The plan does not cover braces."),
        ("What happens if the pump does not start?", "The pump starts after ten seconds."),
        ("Why is the museum not open?", "The museum opens after the repairs."),
    ],
)
def test_what_denies_the_same_makes_an_exception_or_was_asked_under_a_condition_may_answer(
    question: str, sentence: str
) -> None:
    assert not tells_opposite(question, sentence)
