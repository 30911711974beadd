from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as some

from thresher.text.entities import heads_in, identifiers_in, missing_name, names_in, namesake, whole_names


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("The Semmering railway was designed by Carl von Ghega.", ["Semmering", "Carl", "Ghega"]),
        ("Albert Einstein was born in Ulm.", ["Albert", "Einstein", "Ulm"]),
        ("Previous IPCC reports said so.", ["IPCC"]),
        ("It says GPT-4 and mRNA.", ["GPT-4", "mRNA"]),
        ("On Monday I saw it.", []),
    ],
)
def test_names_are_told_by_their_capitals(text: str, names: list[str]) -> None:
    assert names_in(text) == names


@pytest.mark.parametrize(
    ("claim", "evidence", "missing"),
    [
        ("It was founded by Cha.", "CHA founded it.", ""),
        ("It is a German town.", "It is a town in Germany.", ""),
        ("It was led by the WHO.", "The World Health Organization led it.", ""),
        ("It was led by the World Health Organization.", "The WHO led it.", ""),
        ("It treats HIV-positive people.", "It treats people with HIV.", ""),
        ("It raises CO2.", "It raises CO 2.", ""),
        ("It was in the U.S. then.", "It was in the US then.", ""),
        ("He lives in Zürich.", "He lives in Zurich.", ""),
        ("It began on 5 March 1947.", "It began on 1947-03-05.", ""),
        ("It was designed by Otto Wagner.", "It was designed by Carl von Ghega.", "Otto"),
        ("It lies in Austria.", "It lies in Australia.", "Austria"),
        ("It uses GPT-4.", "It uses GPT-3.", "GPT-4"),
    ],
)
def test_a_name_is_known_in_another_form_or_missing(claim: str, evidence: str, missing: str) -> None:
    assert missing_name(claim, evidence) == missing


@given(some.text(max_size=120))
def test_no_text_lacks_its_own_names(text: str) -> None:
    assert missing_name(text, text) == ""


def test_words_before_a_name_make_nobody_a_namesake() -> None:
    assert namesake("With Batch Normalization training is faster.", "Batch Normalization makes it faster.") == ""
    assert namesake("An Orrin X is installed there.", "The sensor is an Orrin X.") == ""


def test_names_that_follow_each_other_are_one_wherever_the_text_begins_and_ends() -> None:
    assert list(whole_names("In Ulm Albert Einstein met Emmy Noether ")) == ["Ulm Albert Einstein", "Emmy Noether"]
    assert list(whole_names("BERT and ELMo ")) == ["BERT", "ELMo"]


# --- identifiers ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("What does E-0401 mean?", ["e0401"]),
        ("0x80070643 and A71, not A17.", ["0x80070643", "a71", "a17"]),
        ("What does § 12a say?", ["§12a"]),
        ("version 2.10.0 (issue #4471)", ["2.10.0", "#4471"]),
        ("D22-R costs 6.30 euros since mid-2023 and 01.02.2024, 2024-05-06", ["d22r"]),
        ("the 3rd of 40 kW, Q3, 1980s, 12 %, 1,250 metres", []),
    ],
)
def test_letters_before_digits_levels_and_signs_make_an_identifier(text: str, keys: list[str]) -> None:
    assert [one.key for one in identifiers_in(text)] == keys


@pytest.mark.parametrize("asked", ["§ 12a", "§12a", "paragraph 12a", "Section 12a"])
def test_a_paragraph_sign_stands_for_its_word(asked: str) -> None:
    assert {one.key for one in heads_in(asked)} == {"§12a"}


def test_what_may_stand_in_one_list_has_one_shape() -> None:
    shapes = {one.shape for one in identifiers_in("E-0401 A71 D22-R PPR-9087")}
    assert shapes == {"a9"}
    assert {one.shape for one in identifiers_in("§ 12 § 12a")} == {"§9"}


def test_a_word_with_a_number_and_a_decimal_are_identifiers_at_the_head_of_an_entry_alone() -> None:
    assert not list(identifiers_in("Article 12 and 5.4"))
    assert {one.key for one in heads_in("Article 12 and 5.4")} == {"article12", "and5.4", "5.4"}
