from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from research.checker_data import SUPPORTED, Row
from research.claim_contrasts.base import Made, Passage, Small
from research.claim_contrasts.clauses import Clauses, conditional
from research.claim_contrasts.markers import Balance, Markers
from research.claim_contrasts.published import family_of, readable
from research.claim_contrasts.swaps import differing, parts_of
from research.claim_contrasts.tables import Tables
from research.claim_contrasts.wording import Wording

TEXT = "The committee refused to sell the mill. The old mill was built by the miller Anton Gruber in 1890."
TABLE = """wells.
name: Aldo; depth: 30 m; owner: Kern
name: Brod; depth: 45 m; owner: Lang
name: Cort; depth: 60 m; owner: Hahn"""


def wording(seed: int = 1) -> Wording:
    return Wording(Small([TEXT, "the if it you"]), random.Random(seed))


def passage(text: str) -> Passage:
    return Passage("some", "", text)


def rows(made: Iterator[Made]) -> list[Row]:
    return [row for number, group in enumerate(made) for row in group.rows(number)]


@pytest.mark.parametrize("seed", range(6))
def test_a_false_claim_has_a_true_twin_over_the_same_text(seed: int) -> None:
    made = list(Markers(wording(seed), random.Random(seed)).of(passage(TEXT)))
    (refused,) = [one for one in made if one.kind == "planned"]
    refusing = ("refused to", "declined to", "not agree", "didn't agree", "not willing", "wasn't willing")
    assert {label == SUPPORTED for _, label in refused.claims} == {True, False}
    for claim, label in refused.claims:
        assert any(word in claim for word in refusing) == (label == SUPPORTED)


def test_a_word_is_told_as_often_truly_as_falsely() -> None:
    balance = Balance(random.Random(1))
    for _ in range(4):
        balance.took(balance.choose(["must"], true=True), true=True)
    assert balance.choose(["must"], true=True) == ""
    assert balance.choose(["must", "has to"], true=True) == "has to"
    assert balance.choose(["must", "has to"], true=False) == "must"


def test_roles_are_exchanged_in_both_voices() -> None:
    clauses = Clauses(wording(), wording().small, random.Random(1))
    found = dict(clauses.passive("The mill was founded by the miller Anton Gruber in 1890."))
    assert found["The miller Anton Gruber founded the mill in 1890."] == SUPPORTED
    assert found["The mill founded the miller Anton Gruber in 1890."] != SUPPORTED


def test_both_sides_of_than_are_told_by_the_converse() -> None:
    clauses = Clauses(wording(), wording().small, random.Random(1))
    found = dict(clauses.than("The old mill is larger than the new mill."))
    assert found["The new mill is smaller than the old mill."] == SUPPORTED
    assert found["The new mill is larger than the old mill."] != SUPPORTED


def test_the_condition_of_one_branch_with_the_consequence_of_the_other_is_false() -> None:
    text = "If the gate is open, the bus stops at the mill. If the gate is closed, the bus stops at the school."
    (branch,) = [
        one for one in Clauses(wording(), wording().small, random.Random(2)).of(passage(text)) if one.kind == "branch"
    ]
    for claim, label in branch.claims:
        assert (("open" in claim) == ("mill" in claim)) == (label == SUPPORTED)


@pytest.mark.parametrize(
    ("sentence", "parts"),
    [
        (
            "Unless the gate is open, the bus waits at the school.",
            ("unless", "the gate is open", "the bus waits at the school"),
        ),
        ("The bus stops at the mill if the gate is open.", ("if", "the gate is open", "The bus stops at the mill")),
        ("The bus stops even if the gate is closed.", None),
        ("The bus stops at the mill and the school.", None),
    ],
)
def test_conditions_are_found(sentence: str, parts: tuple[str, str, str] | None) -> None:
    assert conditional(sentence) == parts


def test_a_cell_of_another_row_is_false() -> None:
    cells = {"Aldo": ("30 m", "Kern"), "Brod": ("45 m", "Lang"), "Cort": ("60 m", "Hahn")}
    made = [row for seed in range(4) for row in rows(Tables(random.Random(seed)).of([TABLE]))]
    single = [row for row in made if sum(name in row["claim"] for name in cells) == 1 and " and " not in row["claim"]]
    assert len(single) > 8
    for row in single:
        (own,) = (values for name, values in cells.items() if name in row["claim"])
        assert any(cell in row["claim"] for cell in own) == (row["label"] == SUPPORTED)


def test_a_group_with_one_side_gives_no_rows() -> None:
    assert list(Made("some", passage(TEXT), TEXT, (("The mill is old enough.", SUPPORTED),)).rows(1)) == []


def test_what_decides_stays_when_a_sentence_is_worded_otherwise() -> None:
    for seed in range(30):
        assert "1890" in wording(seed).again("The mill (built in 1890) stands, which is rare.", "1890")


def test_subjects_and_differences() -> None:
    assert parts_of("The old mill was built in 1890.") == ("The old mill", "was", " was built in 1890")
    assert parts_of("In spring, the old mill was built.") is None
    assert differing("It was built in 1890.", "It was built in 1910.") == ("1890", "1910")


def test_what_is_held_back_together() -> None:
    assert readable("The Block -LRB-album-RRB-") == "The Block (album)"
    assert family_of("sharc", {"text": "A rule.\n\nThe case: I am old", "group": "sharc/1"}) == "A rule."
    assert family_of("vitaminc_real", {"title": "Mills", "group": "x"}) == family_of(
        "vitaminc_synthetic", {"title": "Mills", "group": "y"}
    )
