from __future__ import annotations

from collections import Counter

import pytest

from benchmarks.questions import documents, rules
from benchmarks.questions.rules import Mark, Question

ASKED = Question(
    id="reports-99",
    collection="reports",
    kind="parts",
    question="How many employees and what deposits?",
    answerable=True,
    expected=(("15", "fifteen"), ("97.5",)),
    forbidden=("61.2",),
)
UNANSWERABLE = Question("reports-98", "reports", "who", "Who ran it in 1950?", answerable=False)


@pytest.mark.parametrize(
    ("text", "mark"),
    [
        ("It has fifteen employees and 97.5 million pounds.", Mark.RIGHT),
        ("It has 15 employees.", Mark.PARTLY),
        ("It has 150 employees and 97.55 million.", Mark.WRONG),
        ("It has 15 employees and 97.5 million, or 61.2.", Mark.WRONG),
    ],
)
def test_an_answer_is_right_when_it_states_every_group_and_nothing_forbidden(text: str, mark: Mark) -> None:
    assert rules.marked(ASKED, text, abstained=False).mark is mark


@pytest.mark.parametrize(
    ("text", "wanted", "there"),
    [
        ("2,350.0 euros", "2350", True),
        ("a total of 1,750,000 pounds", "1750000", True),
        ("version 5.0.1", "5", False),
        ("Quillon Electronics delivers", "Quillon Electric", False),
        ("cold-\nstart data", "coldstart", True),
        ("Cold–Start", "cold-start", True),
        ("the score is 28.4.", "28.4", True),
        ("28.41", "28.4", False),
    ],
)
def test_what_is_wanted_stands_as_words_of_its_own(text: str, wanted: str, there: bool) -> None:
    assert rules.states(text, wanted) is there


def test_a_refusal_is_right_only_where_there_is_no_answer() -> None:
    assert rules.marked(UNANSWERABLE, "Sorry.", abstained=True).why == "rightly"
    assert rules.marked(ASKED, "Sorry.", abstained=True).why.startswith("wrongly")
    assert rules.marked(UNANSWERABLE, "In 1950 it was Ada.", abstained=False).mark is Mark.WRONG


def test_evidence_holds_an_answer_when_its_pieces_together_do() -> None:
    assert rules.holds(ASKED, ["15 employees", "97.5 million"])
    assert not rules.holds(ASKED, ["15 employees"])
    assert rules.holds(UNANSWERABLE, ["anything"]) is None


def test_the_set_is_what_its_readme_says() -> None:
    questions = rules.load()
    assert len({question.id for question in questions}) == 150
    assert sum(not question.answerable for question in questions) == 40
    assert Counter(question.collection for question in questions) == {
        "papers": 46,
        "office": 48,
        "reports": 20,
        "invoices": 18,
        "records": 18,
    }
    assert {question.collection for question in questions} == set(documents.COLLECTIONS)
    assert all(question.answerable == bool(question.expected) for question in questions)
