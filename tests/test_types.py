"""What travels between the parts, and what it looks like as JSON."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from thresher.types import NO_NOTES, Notes

WORDS = st.sampled_from(["rerank: down", "judge: slow", "verify: spent"])
NOTES = st.builds(
    Notes,
    st.lists(WORDS, unique=True).map(tuple),
    st.integers(0, 5),
    st.dictionaries(st.sampled_from("abc"), st.integers(0, 5)),
)


# --- notes ------------------------------------------------------------------------------------------------------------


@given(NOTES, NOTES, NOTES)
def test_notes_add_up_in_any_grouping_and_no_notes_add_nothing(one: Notes, two: Notes, three: Notes) -> None:
    assert (one + two) + three == one + (two + three)
    assert one + NO_NOTES == NO_NOTES + one == one


@given(st.lists(NOTES))
def test_no_degradation_is_lost_and_none_told_twice(each: list[Notes]) -> None:
    together = sum(each, NO_NOTES)
    told = [lack for notes in each for lack in notes.degraded]
    assert list(together.degraded) == list(dict.fromkeys(told))
    assert together.unreadable == sum(notes.unreadable for notes in each)


def test_of_two_facts_with_one_name_the_later_one_counts() -> None:
    both = Notes(("slow",), 1, {"model": "a", "lists": [3]}) + Notes(("down", "slow"), 2, {"model": "b"})
    assert both == Notes(("slow", "down"), 3, {"model": "b", "lists": [3]})
    assert both.without_facts == Notes(("slow", "down"), 3)


def test_a_step_tells_the_facts_and_unreadable_replies_where_there_were_any() -> None:
    assert Notes(("slow",), 2, {"model": "a"}).to_dict() == {"model": "a", "unreadable": 2}
    assert Notes(("slow",), facts={"model": "a"}).to_dict() == {"model": "a"}
