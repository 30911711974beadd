from __future__ import annotations

import pytest

from thresher.structure.enumerations import enumerated

MINUTES = """Present: Ana Silva (chair), Bo Chen, Dr. Carl Weiss.
Absent: Dora Lang.

The group approved the budget. The kit holds a pump, a patch set and two levers. We train the models for a week, on two
cards, and with a rate of 3. The boat weighs 4 tonnes, as before."""


@pytest.mark.parametrize(
    ("question", "items"),
    [
        ("Who was present?", "Ana Silva (chair), Bo Chen, Dr. Carl Weiss"),
        ("Who attended the meeting?", "Ana Silva (chair), Bo Chen, Dr. Carl Weiss"),
        ("Who was at the meeting?", "Ana Silva (chair), Bo Chen, Dr. Carl Weiss"),
        ("Who was absent?", "Dora Lang"),
        ("What does the kit hold?", "a pump, a patch set and two levers"),
        ("What is in the kit?", "a pump, a patch set and two levers"),
        ("What does the kit contain?", "a pump, a patch set and two levers"),
        ("Who was present at the wedding?", None),
        ("Who was not present?", None),
        ("What is the kit?", None),
        ("What does the boat hold?", None),
        ("Which models were trained?", None),
        ("What trains the models?", None),
        ("What does the first kit hold?", None),
        ("How many levers does the kit hold?", None),
        ("What does the repair kit hold?", None),
    ],
)
def test_the_items_are_those_behind_what_the_question_says(question: str, items: str | None) -> None:
    found = [MINUTES[one.low : one.high] for one in enumerated(MINUTES, question)]
    assert found == ([] if items is None else [items])


def test_several_labels_may_stand_on_one_line_and_a_model_reads_a_sentence() -> None:
    (one,) = enumerated("Present: Ana, Bo. Absent: Dora.", "Who was present?")
    assert one.told == "Present: Ana, Bo. Ana and Bo were present. Ana and Bo attended the meeting."
