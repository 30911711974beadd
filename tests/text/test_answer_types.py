from __future__ import annotations

import pytest

from thresher.text.answer_types import (
    answer_type,
    asks_for_figure,
    asks_for_name,
    is_figure,
    is_of_type,
    missing_answer,
)
from thresher.text.entities import missing_details


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("How many layers has BERT-base?", "number"),
        ("Since when is the pump in use?", "time"),
        ("In which country was it built?", "place"),
        ("What does Adam stand for?", ""),
        ("Who knows how many there are?", "person"),
    ],
)
def test_the_first_word_that_asks_says_what_for(question: str, kind: str) -> None:
    assert answer_type(question) == kind


def test_an_answer_is_of_the_sort_or_not_and_where_any_may_be_nobody_knows() -> None:
    assert is_of_type("Ann Lee", "person")
    assert not is_of_type("the manager", "person")
    assert is_of_type("in May 1990", "time")
    assert is_of_type("twelve", "number")
    assert is_of_type("anything", "") is None


@pytest.mark.parametrize(
    ("question", "known", "lacks"),
    [
        ("How many layers has BERT-base?", "BERT-large has 24 layers.", ("BERT-base",)),
        ("How many layers has BERT-base?", "BERT base has 12 layers.", ()),
        ("How large is Gemma 3?", "Gemma 2 has 27 billion parameters; there are 3 sizes.", ("Gemma 3",)),
        ("What is the total of PW-24-0415?", "Invoice PW-24-0415: 777.55 to pay.", ()),
        ("What is the total of PW-24-0416?", "Invoice PW-24-0415: 777.55 to pay.", ("PW-24 0416", "PW-24-0416", "416")),
        ("What is its score on AIME 2025?", "It has 79.8 on AIME 2024; published in 2025.", ("AIME 2025",)),
    ],
)
def test_what_a_text_lacks_of_the_names_and_numbers_that_were_asked_for(
    question: str, known: str, lacks: tuple[str, ...]
) -> None:
    assert missing_details(question, known) == lacks


@pytest.mark.parametrize(
    ("question", "figure"),
    [
        ("What top-5 error did the ResNet ensemble reach on the ImageNet test set?", True),
        ("What is the population of Marsham?", True),
        ("What dropout rate did the big Transformer use?", True),
        ("What error message does the pump show?", False),
        ("What is the size of the egg?", False),
    ],
)
def test_a_measure_that_is_told_as_a_number_is_asked_for(question: str, figure: bool) -> None:
    assert asks_for_figure(question) is figure


@pytest.mark.parametrize(
    ("question", "answer", "missing"),
    [
        ("How many eggs does the common gull lay?", "The common gull is smaller and has greenish legs.", "how many"),
        ("When was Salsa turned off?", "Salsa is a collaborative development platform.", "when"),
        ("How many cars are carried to Little Mew?", "No cars are taken to Little Mew.", ""),
        ("How many experts are chosen?", "Two experts are chosen for each token.", ""),
        ("What time is the bus?", "Jane Moss drives the bus.", "when"),
        ("What time zone is it?", "The clocks are those of Oslo.", ""),
        ("When is a note needed?", "A doctor's note is needed from the eighth day.", ""),
        ("When can I leave?", "As soon as the notice has ended.", ""),
        ("When a tree falls, who clears the road?", "The warden clears it.", ""),
        ("How long is the notice period?", "It is as long as the probation.", ""),
    ],
)
def test_a_sentence_without_number_or_time_says_neither_how_many_nor_when(
    question: str, answer: str, missing: str
) -> None:
    assert missing_answer(question, answer) == missing


@pytest.mark.parametrize(
    ("text", "figure"),
    [
        ("9:00 to 12:00", True),
        ("Saturday", True),
        ("12 €", True),
        ("in May", True),
        ("2020-05-11", True),
        ("Pump room 3", False),
        ("page 7", False),
        ("the old barn", False),
        ("no one", False),
        ("M", False),
    ],
)
def test_days_times_and_amounts_are_figures_and_a_place_with_a_number_is_none(text: str, figure: bool) -> None:
    assert is_figure(text) is figure


def test_who_and_where_ask_for_a_name_only_where_a_question_begins_with_them() -> None:
    assert all(map(asks_for_name, ("where do we meet", "In which city is it?", "and who pays?")))
    assert not any(map(asks_for_name, ("Is it open where you live?", "What state is the pump in?")))
