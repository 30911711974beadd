"""The gate: what it counts, what it allows, and what it tells."""

from __future__ import annotations

from dataclasses import replace

import pytest

from benchmarks.quality import short
from benchmarks.quality.plain import WORDS, windows
from benchmarks.quality.rows import Counted, Row, behind, changes, mark_of, marked_in, missed, row_of, stored
from benchmarks.quality.sets import SETS, typed
from benchmarks.questions import rules
from benchmarks.questions.rules import Mark, Question

RIGHT = Row(
    "papers", "p1", answerable=True, verdict="correct", state="answered", first="right", shown="right",
    marked="right",
)  # fmt: skip
WRONG = replace(RIGHT, id="p2", marked="wrong", first="wrong", shown="wrong")
DOUBT = replace(RIGHT, id="p3", state="doubtful", marked="wrong", first="wrong", verdict="ambiguous")
REFUSED = replace(
    RIGHT, id="p4", answerable=False, verdict="incorrect", state="refused", first="refused", shown="refused",
    marked="refused",
)  # fmt: skip
INVENTED = replace(REFUSED, id="p5", state="answered", marked="wrong", first="wrong", shown="wrong")
QUESTION = Question("q", "c", "fact", "How many?", answerable=True, expected=(("12",),), forbidden=("30",))


def told(*shown: str, found: tuple[tuple[float | None, str], ...] = ()) -> dict[str, object]:
    return {
        "shown": shown,
        "found": found,
        "abstained": not shown,
        "reason": "",
        "verdict": "correct",
        "certainty": 0.5,
    }


def test_rows_are_counted_by_what_is_shown_and_by_what_the_judge_knows() -> None:
    knew = replace(WRONG, id="p6", found=True, judged_first=True, judged_three=True)
    found = Counted.of([RIGHT, WRONG, DOUBT, REFUSED, INVENTED, knew])
    assert (found.asked, found.first, found.shown, found.doubtful) == (4, 1, 2, 1)
    assert (found.judged_first, found.judged_three, found.found) == (1, 1, 1)
    assert (found.wrong_under_correct, found.refused_without, found.said_without) == (2, 1, 1)
    assert (found.marked, found.said, found.said_marked) == (1, 3, 1)


def test_marked_is_what_a_person_reads_first() -> None:
    passage = "Here: “It had 30. **It has 12.**” [1]\nAnother document says 30: “It has 30.” [2]"
    assert marked_in(passage) == "It has 12."
    assert marked_in("12 [1]\n“It has **12** wheels.”") == "12 "
    assert marked_in("Here: | wheels | 12 |\n[1]") == "Here: | wheels | 12 |\n"
    assert (
        marked_in("How many?\nHere: “**Twelve.** Red.” [1]\nWhich colour?\nHere: red [2]").split("\n")[0] == "Twelve."
    )
    assert marked_in("“**It has 12.** ~~**It had 30.**~~”") == "It has 12."
    row = row_of("s", QUESTION, told("Here: “It has 12. **It has wheels.**” [1]", "It has 12."))
    assert (row.marked, row.first, row.is_said_wrong) == (Mark.WRONG, Mark.RIGHT, True)


def test_a_set_is_named_where_the_baseline_is_ahead_beyond_chance() -> None:
    baseline = [replace(RIGHT, id=str(n)) for n in range(8)]
    ours = [replace(WRONG, id=str(n)) for n in range(8)]
    assert behind(baseline, baseline) == []
    assert behind(baseline, ours) == [
        "what is marked is right: 8 lost, 0 gained of 8",
        "nothing wrong is said: 8 lost, 0 gained of 8",
    ]


def test_windows_of_the_baseline_are_whole_sentences_of_some_eighty_words() -> None:
    text = " ".join(f"Sentence {n} has exactly six words." for n in range(40))
    found = list(windows(text))
    assert "".join(found) == text
    assert all(60 <= len(one.split()) <= WORDS for one in found[:-1])


def test_the_ceiling_is_of_the_candidates_in_the_order_of_the_judge() -> None:
    found = ((1.0, "It has 30."), (3.0, "It has wheels."), (2.0, "It has 12."), (None, "Of 12 kinds."))
    row = row_of("s", QUESTION, told("It has wheels.", "It has 12.", found=found))
    assert (row.first, row.shown) == (Mark.WRONG, Mark.RIGHT)
    assert (row.found, row.judged_first, row.judged_three) == (True, False, True)


def test_what_is_forbidden_counts_where_it_is_asserted() -> None:
    assert mark_of(QUESTION, "“**It has 12.** The old one had 30.”") == Mark.RIGHT
    assert mark_of(QUESTION, "“It has 12. **The old one had 30.**”") == Mark.WRONG
    assert mark_of(QUESTION, "It had 30 and has 12.") == Mark.RIGHT
    assert mark_of(QUESTION, "It had 30.") == Mark.WRONG
    assert mark_of(replace(QUESTION, expected=(("the 12 wheels",),)), "“It has the **12** wheels.”") == Mark.RIGHT


@pytest.mark.parametrize(
    ("lost", "gained", "loses"), [(0, 0, False), (3, 0, False), (4, 0, True), (12, 8, False), (18, 8, True)]
)
def test_the_gate_allows_no_loss_beyond_chance(lost: int, gained: int, loses: bool) -> None:
    was = [replace(RIGHT, id=f"l{n}") for n in range(lost)] + [replace(DOUBT, id=f"g{n}") for n in range(gained)]
    now = [replace(DOUBT, id=f"l{n}") for n in range(lost)] + [replace(RIGHT, id=f"g{n}") for n in range(gained)]
    assert missed(was, now) == (
        [
            f"{what}: {lost} lost, {gained} gained of {lost + gained}"
            for what in ("what is marked is right", "the first passage is right")
        ]
        * loses
    )


def test_every_question_that_came_out_otherwise_is_named() -> None:
    worse = replace(RIGHT, state="doubtful", marked="wrong", first="wrong")
    assert list(changes([RIGHT, WRONG], [worse, WRONG])) == [
        "p1: answered, marked right, first right, shown right -> doubtful, marked wrong, first wrong, shown right"
    ]


def test_stored_rows_are_of_known_sets() -> None:
    assert {row.set for row in stored()} <= set(SETS)


def test_in_short_documents_subject_and_value_stand_in_different_paragraphs() -> None:
    documents = list(short.documents())
    assert len({document.text for document in documents}) == 40
    for document in documents:
        for question, answer in document.asked:
            names = (*short.PEOPLE, *short.FIRMS, *short.CLUBS, document.name.partition("-")[2].partition(".")[0])
            subject = next(name for name in names if name in question)
            with_answer = [each for each in document.text.split("\n\n") if rules.states(each, answer[0])]
            assert with_answer
            assert subject in document.text
            assert not any(subject in each for each in with_answer), question


def test_typed_questions_are_put_as_people_type_them_and_half_of_them_are_put_aside() -> None:
    asked = typed().questions
    assert len([one for one in asked if one.answerable]) >= 60
    assert all(one.question == one.question.lower() and "?" not in one.question for one in asked)
    parts = [{one.id for one in typed(part).questions} for part in ("choose", "final")]
    assert parts[0].isdisjoint(parts[1])
    assert parts[0] | parts[1] == {one.id for one in asked}
