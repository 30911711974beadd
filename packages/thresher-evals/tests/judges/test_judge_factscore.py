"""FActScore: what is read of replies, what is shown, what is counted."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thresher.models.replies import Unreadable
from thresher_evals.dataset import Question
from thresher_evals.judges.base import Case, Outcome
from thresher_evals.judges.factscore import Knowledge, checked_facts, factscore
from thresher_evals.judges.llm import read_facts, read_verdict
from thresher_evals.rows import Reply, Row

ADA = ("Ada Moor was a Danish painter. She was born in 1900.", "The Ada Moor was a ship. It sank in 1931.")


def case(text: str, references: Sequence[str] = ADA) -> Case:
    """A long answer about Ada Moor."""
    asked = Question("q", "Who was Ada Moor?", topic="Ada Moor")
    return Case(Row(asked, "rag", "c0ffee", 1.0, reply=Reply(text, False)), references)


def by_words(topic: str, fact: str, passages: Sequence[str]) -> bool:
    """Supported where a passage holds the fact's words."""
    return any(fact.strip(".") in passage for passage in passages)


@pytest.mark.parametrize(
    ("reply", "supported"),
    [
        ("True", True),
        ("true.", True),
        ("False", False),
        ("The statement is FALSE because he is a cook.", False),
        ("False at first sight, but it is true", True),
        ("True? No: false", False),
        ("True or False? True", True),
        ("Yes, she was a painter", True),
        ("She was not", False),
        ("It cannot be said", False),
        ("This is unknown.", False),
        ("There is no information, I think", False),
        ("It is notable", True),
        ("", True),
    ],
)
def test_a_reply_to_true_or_false_is_read_as_factscore_reads_it(reply: str, supported: bool) -> None:
    assert read_verdict(reply) is supported


@pytest.mark.parametrize(
    ("reply", "facts"),
    [
        ('{"facts": ["Ada was Danish.", " Ada painted. "]}', ["Ada was Danish.", "Ada painted."]),
        ('```json\n{"facts": ["Sure, here they are", "Ada was Danish."]}\n```', ["Ada was Danish."]),
        ('{"facts": []}', []),
        ("- Ada was Danish.\n- Ada painted.", ["Ada was Danish.", "Ada painted."]),
    ],
)
def test_facts_are_read_of_an_object_or_of_bullets(reply: str, facts: list[str]) -> None:
    assert read_facts(reply) == facts


@pytest.mark.parametrize("reply", ["", "Ada was Danish.", '{"facts": "Ada"}', '{"facts": [1]}', '{"claims": []}', "[]"])
def test_other_replies_have_no_readable_facts(reply: str) -> None:
    with pytest.raises(Unreadable):
        read_facts(reply)


def test_a_sentence_may_state_several_facts_or_none() -> None:
    facts = {"Here are two facts.": ["never asked"], "Ada Moor was a Danish painter.": ["Ada Moor", "a Danish painter"]}
    told = checked_facts(case(" ".join([*facts, "Hm 1."])), lambda one: facts.get(one, []), by_words)
    assert (told.detail["supported"], told.detail["facts"]) == (2, 2)


def test_a_sentence_that_cannot_be_cut_leaves_the_answer_without_a_score() -> None:
    told = checked_facts(case("She was born in 1900."), lambda one: None, by_words)
    assert told == Outcome({"responded": 1.0}, {"unreadable": 1}, failed=True)


def test_the_best_passage_stands_last_and_five_are_shown() -> None:
    shown: list[Sequence[str]] = []

    def verify(topic: str, fact: str, passages: Sequence[str]) -> bool:
        shown.append(passages)
        return True

    texts = [f"Ada Moor painted picture {number}." for number in range(8)]
    checked_facts(case("Ada Moor painted picture 7.", texts), lambda one: [one], verify)
    assert len(shown[0]) == 5
    assert shown[0][-1] == texts[7]


def test_passages_are_packed_from_whole_sentences_and_stay_in_their_text() -> None:
    held = Knowledge(["One two three. Four five. Six seven eight nine.", "Ten."], words=5)
    assert held.passages == ("One two three. Four five.", "Six seven eight nine.", "Ten.")
    assert held.nearest("nine", limit=1) == ["Six seven eight nine."]
    assert Knowledge([]).nearest("nine") == []


# --- the penalty ------------------------------------------------------------------------------------------------------


def test_three_facts_keep_a_tenth_of_their_precision_and_ten_all_of_it() -> None:
    assert factscore(3, 3) == pytest.approx(0.097, abs=0.0005)
    assert factscore(3, 3) == pytest.approx(math.exp(1 - 10 / 3))
    assert factscore(2, 3) == pytest.approx(2 / 3 * math.exp(1 - 10 / 3))
    assert factscore(10, 10) == 1
    assert factscore(9, 12) == 0.75
    assert factscore(0, 0) == 0


def test_more_facts_cannot_be_supported_than_there_are() -> None:
    with pytest.raises(ValueError, match="4 of 3"):
        factscore(4, 3)


@given(st.integers(0, 40), st.integers(0, 40), st.floats(0, 30))
def test_the_score_is_never_above_the_precision(supported: int, others: int, gamma: float) -> None:
    facts = supported + others
    assert 0 <= factscore(supported, facts, gamma) <= (supported / facts if facts else 0) + 1e-12
