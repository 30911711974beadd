from __future__ import annotations

import random

import pytest

from research.contrasts import Asked, Exchanges, exchanged, neighbours, pairs

LIFTS = (
    "The house has two lifts. The right lift carries eight persons. The left lift carries six persons. Dogs may ride."
)


def asked(question: str, answer: str, text: str = LIFTS, title: str = "") -> Asked:
    return Asked("some", question, title, text, (answer,), text.index(answer))


def exchanges(one: Asked) -> dict[str, str]:
    return {each.kind: exchanged(one.question, each) for each in Exchanges([one], random.Random(1)).of(one)}


def test_a_word_is_exchanged_for_its_opposite() -> None:
    found = exchanges(asked("How many persons does the right lift carry?", "eight"))
    assert found == {"opposite": "How many persons does the left lift carry?"}


def test_a_name_and_a_year_are_exchanged_for_others_of_the_passage() -> None:
    text = (
        "In Vienna the pianist Anna Maurer played for Clara Wieck in 1838. "
        "In Prague, the singer Clara Sommer and the pianist Peter Lang heard Robert Franck in 1841."
    )
    found = exchanges(asked("For whom did the pianist Anna Maurer play in 1838?", "Clara Wieck", text))
    assert found["number"] == "For whom did the pianist Anna Maurer play in 1841?"
    assert found["name"] in {
        f"For whom did the pianist {name} play in 1838?" for name in ("Peter Lang", "Robert Franck")
    }


def test_an_exchange_that_was_asked_itself_is_left_out() -> None:
    right = asked("How many persons does the right lift carry?", "eight")
    left = asked("How many persons does the left lift carry?", "six")
    assert not Exchanges([right, left], random.Random(1)).of(right)


def test_a_number_after_more_than_stays() -> None:
    text = "The town had more than 300 mills. The county had 412 farms."
    assert "number" not in exchanges(asked("Which place had more than 300 mills?", "The town", text))


def test_a_row_is_exchanged_and_the_others_are_not_shown() -> None:
    table = " | 2019 | 2018\nMexico | 90,795 | 12,186\nGermany | 33,021 | 17,404\nFrance | 10,811 | 44,902"
    (found,) = pairs([asked("What were the sales in Mexico in 2018?", "12,186", table)], random.Random(1))
    assert found["kind"] == "row"
    assert found["exchanged"] in {f"What were the sales in {name} in 2018?" for name in ("Germany", "France")}
    assert found["text"] == "| 2019 | 2018\nMexico | 90,795 | 12,186"


@pytest.mark.parametrize("seed", range(8))
def test_what_the_exchanged_question_asks_is_not_shown(seed: int) -> None:
    one = asked("How many persons does the right lift carry?", "eight")
    (found,) = pairs([one], random.Random(seed))
    ((start, end),) = found["spans"]
    assert found["text"][start:end] == "eight"
    assert "left" not in found["text"]


def test_the_sentence_that_answers_stands_against_those_beside_it() -> None:
    (found,) = neighbours([asked("How many persons does the right lift carry?", "eight")], random.Random(3))
    (right,) = found["positives"]
    assert [right["text"][slice(*span)] for span in right["spans"]] == ["eight"]
    assert any("left lift" in wrong["text"] for wrong in found["negatives"])
    assert not any("eight" in wrong["text"] for wrong in found["negatives"])
