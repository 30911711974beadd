"""Which documents are versions of one, and which of them is in force."""

from __future__ import annotations

from datetime import date
from typing import Literal

import pytest

from thresher.structure.versions import AskedTime, Period, are_versions, asked_time, period_of, timed, versions_of
from thresher.types import Document

TODAY = date(2026, 11, 26)
OLD = "This policy is effective from 1 March 2022.\n\nThe allowance for meals is 38 euros.\n"
NEW = "This policy is effective from 15 January 2024 and replaces that of 1 March 2022.\n\nThe allowance is 46 euros.\n"


def document(text: str, name: str, title: str = "Travel policy", day: str | None = None) -> Document:
    return Document(name, f"{name}.md", title, text, "markdown", date=day)


def test_a_document_that_says_that_it_replaces_another_one_is_its_next_version() -> None:
    ((older, newer),) = versions_of([document(NEW, "new"), document(OLD, "old", "Travel")])
    assert (older.document.id, newer.document.id) == ("old", "new")
    assert older.days == "from 1 March 2022 until 14 January 2024"
    assert newer.days == "from 15 January 2024"


def test_two_of_one_title_that_say_from_when_they_hold_are_versions_and_two_dated_reports_are_none() -> None:
    old, new = ("Valid from 1 {} 2020.\n\nA day ticket costs {} euros, a locker 1 euro.".format(*values)
                for values in (("January", "4.50"), ("June", "5.80")))  # fmt: skip
    assert are_versions(document(old, "a", "Charges"), document(new, "b", "Charges"))
    reports = [document(f"In {year} the mill had 412 members.", str(year), f"Report {year}", f"{year + 1}-02-18")
               for year in (2022, 2023)]  # fmt: skip
    assert not versions_of(reports)


def test_a_day_that_a_document_replaces_something_of_says_nothing_of_other_documents_of_that_day() -> None:
    prices = document("Valid from 1 January 2026.\n\nA probe costs 4,850 pounds.", "prices", "Price list 2026")
    plan = "Version 1.3, 16 March 2026.\n\nThe new probe replaces the old one, which is not sold after 2026."
    assert not are_versions(prices, document(plan, "plan", "Project plan"))
    leave = document("In force from 1 March 2022.\n\nLeave is 27 days.", "leave", "Leave policy")
    assert not are_versions(leave, document(NEW, "new"))


@pytest.mark.parametrize(
    ("question", "answering"),
    [
        ("What is the allowance?", {"new"}),
        ("What is the allowance now?", {"new"}),
        ("What was the allowance before the change?", {"old"}),
        ("What was the allowance in 2023?", {"old"}),
        ("What was the allowance before 2024?", {"old"}),
        ("What was the allowance in 2024?", {"old", "new"}),
        ("What was the allowance in 2019?", set()),
    ],
)
def test_the_version_in_force_at_the_time_asked_about_answers(question: str, answering: set[str]) -> None:
    documents = [document(OLD, "old"), document(NEW, "new"), document("Bring a lamp.", "other")]
    time = timed(asked_time(question), documents, TODAY)
    assert time.answering == answering
    assert "other" not in time.versions


@pytest.mark.parametrize("name", ["effective", "valid_from", "in force"])
def test_a_field_of_the_front_matter_says_from_when_a_document_holds(name: str) -> None:
    fields = ({name: "2021-09-01"}, {name: "2024-05-01"})
    documents = [Document(str(at), f"{at}.md", "Rules", "Two days at home.", "markdown", metadata=one)
                 for at, one in enumerate(fields)]  # fmt: skip
    ((_, newer),) = versions_of(documents)
    assert newer.days == "from 1 May 2024"


def test_a_version_that_is_not_in_force_yet_does_not_answer() -> None:
    documents = [document(OLD, "old"), document(NEW, "new")]
    assert timed(asked_time("What is the allowance?"), documents, date(2023, 5, 1)).answering == {"old"}


# --- times ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("question", "rest", "period", "old", "new"),
    [
        ("What was the fee in 2022?", "What was the fee?", Period(date(2022, 1, 1), date(2022, 12, 31)), True, False),
        ("What was it as of 1 May 2022?", "What was it?", Period(date(2022, 5, 1), date(2022, 5, 1)), True, False),
        ("What was the fee before July 2023?", "What was the fee?", Period(None, date(2023, 6, 30)), True, False),
        ("What is the current fee?", "What is the fee?", "now", False, True),
        ("What was the fee before the change?", "What was the fee?", "before", True, False),
        ("How did it rise from 2020 to 2022?", "How did it rise from 2020 to 2022?", None, True, True),
        ("What is the fee?", "What is the fee?", None, True, True),
    ],
)
def test_the_time_of_a_question_is_taken_out_of_it_and_sentences_about_another_one_are_not_allowed(
    question: str, rest: str, period: Period | Literal["now", "before"] | None, old: bool, new: bool
) -> None:
    asked = asked_time(question)
    assert asked == AskedTime(rest, period)
    assert asked.allows("Until 30 June 2023 the fee was 25 euros.", TODAY) is old
    assert asked.allows("Since 1 July 2023 the fee is 40 euros.", TODAY) is new


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
