"""What time a question asks about, and when a sentence says that something holds."""

from __future__ import annotations

from datetime import date

import pytest

from thresher.structure.versions import AskedTime, Period, asked_time, period_of

TODAY = date(2026, 11, 26)


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        ("What was the fee in 2022?", AskedTime("What was the fee?", Period(date(2022, 1, 1), date(2022, 12, 31)))),
        (
            "What was the fee as of 1 March 2022?",
            AskedTime("What was the fee?", Period(date(2022, 3, 1), date(2022, 3, 1))),
        ),
        ("What was the fee before July 2023?", AskedTime("What was the fee?", Period(None, date(2023, 6, 30)))),
        ("What is the current fee?", AskedTime("What is the fee?", "now")),
        ("What was the fee before the change?", AskedTime("What was the fee?", "before")),
        ("How did the fee rise from 2020 to 2022?", AskedTime("How did the fee rise from 2020 to 2022?", None)),
        ("What is the fee?", AskedTime("What is the fee?", None)),
    ],
)
def test_the_time_of_a_question_is_taken_out_of_it(question: str, asked: AskedTime) -> None:
    assert asked_time(question) == asked


@pytest.mark.parametrize(
    ("sentence", "period"),
    [
        ("Until 30 June 2023 the fee was 25 euros.", Period(None, date(2023, 6, 30))),
        ("Since 1 July 2023 the fee is 40 euros.", Period(date(2023, 7, 1))),
        ("Valid from 01.04.2021 to 31.03.2023.", Period(date(2021, 4, 1), date(2023, 3, 31))),
        ("Effective: 2024-01-15", Period(date(2024, 1, 15))),
        ("Sales were 12 in 2020 and 13 in 2021.", None),
    ],
)
def test_a_sentence_holds_from_a_day_until_a_day_or_says_nothing_of_it(sentence: str, period: Period | None) -> None:
    assert period_of(sentence) == period


@pytest.mark.parametrize(
    ("question", "allowed"),
    [
        ("What was the fee in 2022?", [True, False]),
        ("What is the fee now?", [False, True]),
        ("What is the fee?", [True, True]),
    ],
)
def test_a_sentence_about_another_time_is_not_allowed(question: str, allowed: list[bool]) -> None:
    sentences = ("Until 30 June 2023 the fee was 25 euros.", "Since 1 July 2023 the fee is 40 euros.")
    assert [asked_time(question).allows(one, TODAY) for one in sentences] == allowed
