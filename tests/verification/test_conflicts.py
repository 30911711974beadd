from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.verification.pairs import AGREE, CONTRADICT, MISSED, OBVIOUS, SAME
from thresher.types import Evidence
from thresher.verification.conflicts import find_conflicts

Make = Callable[..., Evidence]


@pytest.fixture
def pair(make_evidence: Make) -> Callable[..., list[Evidence]]:
    def make(one: str, other: str, **more: object) -> list[Evidence]:
        return [
            make_evidence(one, id="c1", document="d1", **more),
            make_evidence(other, id="c2", document="d2", **more),
        ]

    return make


def found(evidence: list[Evidence]) -> tuple[tuple[int, int], ...]:
    return find_conflicts(evidence)


A_NAME_SAYS_IT_TOO = ("Reed City is a city in Michigan.", "Reed City is not a city in Michigan.")


@pytest.mark.parametrize(
    ("pairs", "title", "conflicts"),
    [
        pytest.param(CONTRADICT, "", ((1, 2),), id="what contradicts is found"),
        pytest.param([*OBVIOUS, A_NAME_SAYS_IT_TOO], "The matter", ((1, 2),), id="what is obvious, under one title"),
        pytest.param(SAME, "The matter", (), id="what says the same is found under no title"),
        pytest.param(AGREE, "", (), id="what does not contradict is left alone"),
        pytest.param(MISSED, "", (), id="other words are beyond the rules"),
    ],
)
def test_pairs_of_sentences(
    pair: Callable[..., list[Evidence]],
    pairs: list[tuple[str, str]],
    title: str,
    conflicts: tuple[tuple[int, int], ...],
) -> None:
    for one, other in pairs:
        assert found(pair(one, other, title=title)) == conflicts, (one, other)
        assert found(pair(other, one, title=title)) == conflicts, (other, one)


@pytest.mark.parametrize(
    ("titles", "texts"),
    [
        (("Branch report: Alderton", "Branch report: Fernby"), ("The branch has 12 employees.", "The branch has 15.")),
        (("Branch report: Alderton", "branch-fernby"), ("The branch opened in 1969.", "The branch opened in 1990.")),
        (("Invoice PW-24-0415", "Invoice PW-24-1212"), ("The total is 80 pounds.", "The total is 95 pounds.")),
    ],
)
def test_documents_of_a_series_are_about_different_things(
    make_evidence: Make, titles: tuple[str, str], texts: tuple[str, str]
) -> None:
    pair = zip(titles, texts, strict=True)
    assert not found([make_evidence(text, id=title, document=title, title=title) for title, text in pair])


def test_one_document_does_not_contradict_itself_and_tables_are_left_out(
    make_evidence: Make, pair: Callable[..., list[Evidence]]
) -> None:
    assert found([make_evidence(text, id=str(n)) for n, text in enumerate(CONTRADICT[0])]) == ()
    assert found(pair(*CONTRADICT[0], kind="table")) == ()


def test_the_same_title_tells_which_tower_is_meant(pair: Callable[..., list[Evidence]]) -> None:
    sentences = ("It was completed in 1889.", "It was completed in 1894.")
    assert found(pair(*sentences)) == ()
    assert found(pair(*sentences, title="Eiffel Tower")) == ((1, 2),)


@pytest.mark.parametrize(
    ("sentences", "titles", "conflict"),
    [
        (("The per capita income for the county was $17,174.", "The per capita income for the county was $16,603."),
         ("McLennan County, Texas", "Van Buren County, Arkansas"), False),
        (("On Metacritic, the film has a score of 74 of 100.", "On Metacritic, the film has a score of 80 of 100."),
         ("Beast", "Big Night"), False),
        (("The notice period for employees is 3 months.", "The notice period for employees is 4 months."),
         ("Handbook 2023", "Handbook 2024"), True),
        (("The Kõpu lighthouse was built in 1531.", "The Kõpu lighthouse was built in 1532."),
         ("Lighthouses", "Hiiumaa"), True),
        (("Aspirin is safe during pregnancy.", "Aspirin is not safe during pregnancy."),
         ("Aspirin leaflet", "Drugs and children"), True),
    ],
)  # fmt: skip
def test_titles_tell_what_a_sentence_is_about(
    make_evidence: Make, sentences: tuple[str, str], titles: tuple[str, str], conflict: bool
) -> None:
    evidence = [
        make_evidence(text, id=title, document=title, title=title)
        for text, title in zip(sentences, titles, strict=True)
    ]
    assert bool(found(evidence)) is conflict


def test_positions_are_those_of_the_evidence(make_evidence: Make) -> None:
    texts = [
        "Nothing of it. BERT-base has 12 layers.",
        "Cheese ripens.",
        "BERT-base has 24 layers.",
        "BERT-base has 12 layers.",
    ]
    evidence = [make_evidence(text, id=str(n), document=str(n)) for n, text in enumerate(texts)]
    assert found(evidence) == ((1, 3), (3, 4))
