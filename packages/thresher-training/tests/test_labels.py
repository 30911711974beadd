from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thresher.errors import UsageError
from thresher.tracing.feedback import Label, LabelledPassage
from thresher_training.labels import Group, Labelled, Passage, of_feedback, parted, read_labels


def file(folder: Path, *rows: Any) -> Path:
    path = folder / "labels.jsonl"
    path.write_text("\n".join(row if isinstance(row, str) else json.dumps(row) for row in rows), encoding="utf-8")
    return path


def test_the_lines_of_a_question_are_taken_together(tmp_path: Path) -> None:
    path = file(
        tmp_path,
        {"question": "Who built it?", "passage": "Ann built it.", "title": "Barn", "relevant": True},
        "",
        {"question": "who built it?", "passage": "It is red.", "relevant": 0},
        {"question": "Since when?", "answers": ["1500", "MD"]},
        {"question": "Why?", "answerable": False},
    )
    assert read_labels(path) == [
        Labelled("Who built it?", (Passage("Barn", "Ann built it."),), (Passage("", "It is red."),)),
        Labelled("Since when?", answers=("1500", "MD")),
        Labelled("Why?"),
    ]


def test_a_passage_that_is_labelled_both_ways_is_left_out(tmp_path: Path) -> None:
    rows = [{"question": "q", "passage": text, "relevant": label} for text, label in (("a", 1), ("a", 0), ("b", 1))]
    assert read_labels(file(tmp_path, *rows)) == [Labelled("q", (Passage("", "b"),))]


@pytest.mark.parametrize(
    "row",
    [
        "{",
        "[]",
        {"question": "", "passage": "a", "relevant": True},
        {"question": "q"},
        {"question": "q", "passage": "a", "relevant": "yes"},
        {"question": "q", "passage": " ", "relevant": True},
        {"question": "q", "answers": ["a", 7]},
        {"question": "q", "answers": [" "]},
        {"question": "q", "answerable": True},
    ],
)
def test_a_line_that_is_no_label_is_named_with_the_form_it_should_have(tmp_path: Path, row: Any) -> None:
    path = file(tmp_path, {"question": "q", "answers": ["a"]}, row)
    with pytest.raises(UsageError, match=r"line 2: is no label; write \{\"question\""):
        read_labels(path)


# --- parts ------------------------------------------------------------------------------------------------------------


def groups(number: int) -> list[Group]:
    return [Group(f"q{at}", (Passage("", f"right {at}"),), (Passage("", f"wrong {at}"),)) for at in range(number)]


def test_three_fifths_are_learned_from_one_is_tuned_on_and_one_held_out() -> None:
    assert Counter(group.part for group in parted(groups(150))) == {"train": 90, "tune": 30, "held out": 30}


@given(st.randoms(use_true_random=False))
def test_the_part_of_a_question_does_not_depend_on_the_order(draw: Any) -> None:
    given_ = groups(100)
    usual = {group.question: group.part for group in parted(given_)}
    draw.shuffle(given_)
    assert {group.question: group.part for group in parted(given_)} == usual


def test_questions_that_one_passage_answers_are_in_one_part() -> None:
    shared = [Group(f"again {at}", (Passage("", "right 3"),), (Passage("", "x"),)) for at in range(9)]
    parts = {group.part for group in parted([*groups(100), *shared]) if group.relevant[0].text == "right 3"}
    assert len(parts) == 1


def test_too_few_labels_are_counted() -> None:
    with pytest.raises(UsageError, match=r"99 of 99 questions have a passage that answers them: too few .* 100"):
        parted(groups(99))


def test_labels_of_one_kind_alone_are_told() -> None:
    only_right = [Group(f"q{at}", (Passage("", f"right {at}"),), ()) for at in range(120)]
    with pytest.raises(UsageError, match="0 of 120 questions have a passage that does not answer them"):
        parted(only_right)
    only_wrong = [Group(f"q{at}", (), (Passage("", f"wrong {at}"),)) for at in range(120)]
    with pytest.raises(UsageError, match="0 of 120 questions have a passage that answers them"):
        parted(only_wrong)


def said(question: str, cited: str = "", *, right: bool, abstained: bool = False, answer: str | None = None) -> Label:
    passages = (LabelledPassage("pumps.txt", "Pumps", 0, len(cited), cited),) if cited else ()
    return Label(question, question, right, answer, abstained, passages, "2026-01-01")


def test_chunks_of_right_answers_answer_and_those_of_wrong_ones_do_not() -> None:
    labels = [
        said("a?", "The seal is rubber.", right=True),
        said("b?", right=True, abstained=True),
        said("c?", "Lunch is at noon.", right=False),
        said("d?", "Lunch is at noon.", right=False, answer="rubber"),
        said("e?", right=False, abstained=True),
    ]
    assert of_feedback(labels) == [
        Labelled("a?", (Passage("Pumps", "The seal is rubber."),)),
        Labelled("b?"),
        Labelled("c?", (), (Passage("Pumps", "Lunch is at noon."),)),
        Labelled("d?", (), (Passage("Pumps", "Lunch is at noon."),), ("rubber",)),
    ]
