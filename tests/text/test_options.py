from __future__ import annotations

import pytest

from thresher.text.options import Choice, choice_of, is_option, labels_of

METALS = "Which metal rusts? (A) gold (B) iron (C) tin"
CLAIM = "Claim: Salt is blue.\nIs it right?\nAnswer with one of these labels: true, false, not enough info."
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


def test_labels_stand_behind_one_of() -> None:
    assert labels_of(CLAIM) == ("true", "false", "not enough info")
    assert labels_of("Which one of the two is heavier?") == ()


@pytest.mark.parametrize("said", ["B", "(B)", "iron.", "B) iron", "B. Iron", "(B) iron"])
def test_an_option_is_its_letter_its_text_or_both(said: str) -> None:
    assert is_option(METALS, said)


@pytest.mark.parametrize("said", ["copper", "Iron rusts in wet air.", "D", "A iron"])
def test_what_is_not_among_the_options_or_says_more_is_none(said: str) -> None:
    assert not is_option(METALS, said)
    assert choice_of(METALS) is not None


def test_a_label_is_an_option_and_a_statement_is_not() -> None:
    assert is_option(CLAIM, "True.")
    assert is_option(CLAIM, "not enough info")
    assert not is_option(CLAIM, "Salt is not blue.")
    assert not is_option("Is salt blue?", "true")
