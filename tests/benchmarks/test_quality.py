"""The gate: what it allows, and what it tells."""

from __future__ import annotations

from dataclasses import replace

import pytest

from benchmarks.quality import SETS, Counted, Row, changes, missed, stored

RIGHT = Row("papers", "p1", answerable=True, verdict="correct", first="right", shown="right")
WRONG = replace(RIGHT, id="p2", first="wrong", shown="wrong")
REFUSED = replace(RIGHT, id="p3", answerable=False, verdict="incorrect", first="refused", shown="refused")
INVENTED = replace(REFUSED, id="p4", verdict="ambiguous", first="wrong", shown="wrong")


def test_rows_are_counted_by_what_is_shown() -> None:
    found = Counted.of([RIGHT, replace(RIGHT, first="wrong"), WRONG, REFUSED, INVENTED])
    assert (found.asked, found.right, found.first_right) == (5, 2, 1)
    assert (found.wrong_under_correct, found.answered_without) == (1, 1)


@pytest.mark.parametrize(
    ("now", "told"),
    [
        (Counted(9, 4, 4, 2, 3), []),
        (Counted(9, 3, 3, 0, 0), ["right 3, 6 before: at most 2 fewer"]),
        (Counted(9, 6, 6, 3, 0), ["wrong under correct 3, 1 before"]),
        (Counted(9, 6, 6, 0, 4), ["answered without an answer 4, 0 before"]),
    ],
)
def test_the_gate_allows_little(now: Counted, told: list[str]) -> None:
    assert missed(Counted(9, 6, 6, 1, 0), now) == told


def test_every_question_that_came_out_otherwise_is_named() -> None:
    worse = replace(RIGHT, first="wrong", shown="wrong")
    assert list(changes([RIGHT, WRONG], [worse, WRONG])) == ["p1: right, shown right -> wrong, shown wrong"]


def test_stored_rows_are_of_known_sets() -> None:
    assert {row.set for row in stored()} <= set(SETS)
