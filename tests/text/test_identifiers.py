"""What is an identifier by its form."""

from __future__ import annotations

import pytest

from thresher.text.entities import heads_in, identifiers_in


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
