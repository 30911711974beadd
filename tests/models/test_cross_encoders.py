from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from thresher.models.cross_encoders import SPAN_TOKENS, BundledJudge
from thresher.types import LOGIT

PARIS = "Paris is the capital and largest city of France, with about two million inhabitants."
LYON = "Lyon is the third-largest city of France and lies where the Rhône meets the Saône."
TREES = "A decision tree splits the data by the feature that lowers the impurity of the leaves most."
QUESTION = "What is the capital of France?"


@pytest.fixture(scope="module")
def judge() -> BundledJudge:
    return BundledJudge()


def test_the_text_that_answers_is_more_relevant_than_one_about_the_same_matter_and_that_than_a_strange_one(
    judge: BundledJudge,
) -> None:
    paris, lyon, trees = judge(QUESTION, [PARIS, LYON, TREES])
    assert paris.value > lyon.value > trees.value
    assert paris.value > 0 > trees.value
    assert paris.scale == LOGIT
    (reading,) = judge.read(QUESTION, [PARIS])
    assert PARIS[reading.start : reading.end] == "Paris"
    assert judge.read(QUESTION, []) == []
    claims = ("Paris is the capital of France.", "Paris is not the capital of France.")
    itself, denial = (judge.read(claim, [PARIS])[0].support for claim in claims)
    assert itself > denial


def test_an_answer_crosses_no_blank_line_and_is_no_longer_than_twenty_words_or_so(judge: BundledJudge) -> None:
    listing = "Members\n\nThe members are " + ", ".join(f"Member{number}" for number in range(80)) + "."
    (reading,) = judge.read("Who are the members?", [listing])
    assert "\n" not in listing[reading.start : reading.end]
    assert len(listing[reading.start : reading.end].split()) <= SPAN_TOKENS


def test_a_reading_does_not_depend_on_what_else_is_read_nor_on_the_threads(judge: BundledJudge) -> None:
    together = BundledJudge(threads=2).read(QUESTION, [PARIS, LYON, TREES, PARIS])
    alone = [BundledJudge(threads=1).read(QUESTION, [text])[0] for text in (PARIS, LYON, TREES, PARIS)]
    assert together == alone


def test_a_title_counts_and_holds_no_answer(judge: BundledJudge) -> None:
    text = "It is the largest city of the country and its seat of government."
    titled = judge.read(QUESTION, [text], ["Paris"])[0]
    assert titled != judge.read(QUESTION, [text])[0]
    assert 0 <= titled.start <= titled.end <= len(text)


def test_an_answer_at_the_end_of_a_long_text_is_found(judge: BundledJudge) -> None:
    long = " ".join([TREES] * 40) + " " + PARIS
    (reading,) = judge.read(QUESTION, [long])
    assert long[reading.start : reading.end] == "Paris"
    assert reading.relevance > judge.read(QUESTION, [" ".join([TREES] * 40)])[0].relevance


@settings(max_examples=10)
@example("Where \ud800?", "", "")
@given(st.text(max_size=20), st.text(max_size=60), st.text(max_size=10))
def test_any_text_is_read_and_its_place_lies_inside(judge: BundledJudge, question: str, text: str, title: str) -> None:
    (reading,) = judge.read(question, [text], [title])
    assert 0 <= reading.start <= reading.end <= len(text)
    assert 0 <= reading.certainty <= 1 + 1e-6
    assert np.isfinite([reading.relevance, reading.support]).all()
