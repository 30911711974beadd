"""Words of answers against gold answers, with examples of the papers and of known complaints."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thresher_evals.metrics.answers import exact_match, f1, match, match_norm, unquoted, without_markers

TEXTS = st.text(alphabet="ab aTthe.,é\n", max_size=30)


def test_match_is_a_substring_letter_by_letter() -> None:
    assert match("He was a politician.", ["politician", "pol"])
    assert match("Metropolitan", ["pol"])  # published behaviour: no word boundary
    assert not match("True", ["true"])  # the case that cost CRAG its PubHealth score
    assert not match("anything", [])


def test_match_norm_wants_whole_words_in_any_case() -> None:
    assert match_norm("It was TRUE.", ["true"])
    assert match_norm("in the 'United States' of America", ["The United States"])
    assert not match_norm("Metropolitan", ["pol"])
    assert not match_norm("untrue", ["true"])
    assert not match_norm("words", ["the"])


def test_exact_match_forgives_case_punctuation_and_articles() -> None:
    assert exact_match("The Eiffel Tower.", ["Eiffel tower"])
    assert not exact_match("the Eiffel Tower in Paris", ["Eiffel tower"])


@pytest.mark.parametrize(
    ("text", "golds", "expected"),
    [
        ("gravity", ["gravity"], 1.0),
        ("by the force of gravity", ["gravity"], 2 * 1 / (4 + 1)),
        ("a cat sat", ["cat sat down", "dog"], 2 * 2 / (2 + 3)),
        ("cat cat", ["cat"], 2 * 1 / (2 + 1)),
        ("", ["cat"], 0.0),
        ("cat", [], 0.0),
    ],
)
def test_f1_counts_each_word_as_often_as_it_occurs(text: str, golds: list[str], expected: float) -> None:
    assert f1(text, golds) == pytest.approx(expected)


def test_citation_markers_are_not_words_but_other_brackets_are() -> None:
    assert without_markers("Paris [1], since [2, 3] long.", [1, 2, 3]) == "Paris, since long."
    assert without_markers("see [7] and [1]", [1]) == "see [7] and"


def test_quotation_marks_of_a_citation_are_not_letters_and_others_stay() -> None:
    assert unquoted("“Ben is a cook.” [1] “He said “no”.” [2]") == "Ben is a cook. [1] He said “no”. [2]"
    assert unquoted("the “Iron Duke” fell [1]") == "the “Iron Duke” fell [1]"


@given(TEXTS, st.lists(TEXTS, max_size=3))
def test_measures_agree_with_each_other(text: str, golds: list[str]) -> None:
    assert 0 <= f1(text, golds) <= 1
    if exact_match(text, golds):
        assert f1(text, golds) == 1
    if match_norm(text, golds):
        assert f1(text, golds) > 0


@given(TEXTS)
def test_a_text_answers_itself(text: str) -> None:
    assert exact_match(text, [text])
    assert f1(text, [text]) == 1
    assert match(text, [text])
