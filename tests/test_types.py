"""What travels between the parts, and what it looks like as JSON."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import fields, replace

from hypothesis import given
from hypothesis import strategies as st

from thresher.answer import Answer
from thresher.types import NO_NOTES, UNIT, ChunkTrace, Citation, Hit, Notes, Origin, Score, Step, Usage, Verdict

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


# --- JSON -------------------------------------------------------------------------------------------------------------


def test_json_has_the_keys_of_the_contract_in_their_order(make_hit: Callable[..., Hit]) -> None:
    score = Score(0.5, UNIT)
    hit = replace(make_hit("c1", text="some words"), scores={"judge": score}, origin=Origin.OUTSIDE, fetched="2026")
    citation = Citation(1, "d1", "d1.txt", "Title", 3, 0, 10, "some words", score, Origin.OUTSIDE, "2026", "page 3")
    cited = citation.to_dict()
    keys = "marker source title page locator start end quote score scale origin fetched"
    assert list(cited) == keys.split()
    assert (cited["score"], cited["scale"], cited["origin"]) == (0.5, "relevance [0, 1]", "outside")
    fate = ChunkTrace(hit, False, "judge", "off topic", ("c2",)).to_dict()
    assert list(fate) == (
        "id source page start end origin text scores kept dropped_by reason stood_for".split()  # noqa: SIM905
    )
    assert (fate["scores"], fate["stood_for"]) == ({"judge": {"value": 0.5, "scale": "relevance [0, 1]"}}, ["c2"])
    assert list(hit.to_dict()) == "rank score scale source title page start end text".split()  # noqa: SIM905
    step = Step("judge", 0.1, 3, 2, {"cut": 0.3}, value=citation).to_dict()
    assert list(step) == ["name", "seconds", "considered", "kept", "detail"]


def test_an_answer_is_plain_json_with_its_chunks_only_where_they_are_asked_for(make_hit: Callable[..., Hit]) -> None:
    fate = ChunkTrace(make_hit("c1"), True, None, "near")
    usage = Usage(1, 10, 2, 0, ("localhost",))
    answer = Answer(
        "Q?", "rag", "x", verdict=Verdict.CORRECT, confidence=0.9, conflicts=((1, 2),), usage=usage, degraded=("a",),
        trace="t", chunks=(fate,),
    )  # fmt: skip
    told = answer.to_dict()
    assert list(told) == [one.name for one in fields(Answer) if one.name not in ("chunks", "removed", "certificate")]
    assert answer.to_dict(chunks=True) == {**told, "chunks": [fate.to_dict()]}
    assert json.loads(json.dumps(told)) == told
    assert (told["verdict"], told["conflicts"], told["usage"]["hosts"]) == ("correct", [[1, 2]], ["localhost"])
