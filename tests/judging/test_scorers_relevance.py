from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thresher.judging.scorers import LocalRelevance, Parts
from thresher.protocols import Progress
from thresher.testing.fakes import HashEncoder

if TYPE_CHECKING:
    from thresher.types import Vectors

CAPITAL = "Paris is the capital of France. It has two million inhabitants and many bridges."


def terms(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def rarity(question: str) -> Mapping[str, float]:
    return {term: 3.0 if term == "paris" else 1.0 for term in terms(question)}


def spans(text: str) -> list[tuple[int, int]]:
    return [(found.start(), found.end()) for found in re.finditer(r"[^. ][^.]*\.?", text)]


@dataclass
class Counting:
    """Remembers what was encoded, call by call."""

    inner: HashEncoder = field(default_factory=lambda: HashEncoder(dimension=256))
    calls: list[list[str]] = field(default_factory=list)
    name: str = "counting"
    dimension: int = 256
    max_tokens: int = 1_000_000

    def encode(self, texts: Sequence[str], *, progress: Progress | None = None) -> Vectors:
        self.calls.append(list(texts))
        return self.inner.encode(texts, progress=progress)

    def encode_query(self, text: str) -> Vectors:
        return self.inner.encode_query(text)

    def warm_up(self) -> None:
        pass


@pytest.fixture
def encoder() -> Counting:
    return Counting()


@pytest.fixture
def relevance(encoder: Counting) -> LocalRelevance:
    return LocalRelevance(encoder, terms, rarity, spans)


def test_relevance_is_a_half_where_the_support_is_in_the_middle() -> None:
    judge = LocalRelevance(HashEncoder(), terms, rarity, middle=0.65, slope=10)
    assert judge.relevance(Parts(sentence=0.5, terms=1.0, start=0, end=1)) == pytest.approx(0.5)  # .7 * .5 + .3 * 1
    assert judge.relevance(Parts(sentence=1.0, terms=1.0, start=0, end=1)) == pytest.approx(0.9707, abs=1e-4)
    assert judge.relevance(Parts(sentence=0.0, terms=0.0, start=0, end=1)) == pytest.approx(0.0015, abs=1e-4)


def test_terms_count_by_their_rarity_and_those_of_the_title_count_too(relevance: LocalRelevance) -> None:
    text = "It has many old bridges over the river."
    assert relevance.parts("paris bridges", text)["terms"] == pytest.approx(0.25)
    assert relevance.parts("paris bridges", text, "Paris")["terms"] == pytest.approx(1.0)


def test_the_best_sentence_speaks_for_the_text_and_its_place_is_known(relevance: LocalRelevance) -> None:
    (parts,) = relevance.judged("capital of France", [CAPITAL])
    assert CAPITAL[parts.start : parts.end] == "Paris is the capital of France."
    alone, _ = relevance(
        "capital of France", ["Paris is the capital of France.", "An unrelated sentence about cheese."]
    )
    assert relevance.relevance(parts) == pytest.approx(alone)


def test_a_text_that_answers_is_more_relevant_than_one_about_something_else(relevance: LocalRelevance) -> None:
    high, low = relevance("capital of France", [CAPITAL, "Gouda ripens for twelve months in a cool cellar."])
    assert 0 <= low < high <= 1


def test_only_the_sentences_that_share_most_with_the_question_are_encoded(encoder: Counting) -> None:
    text = (
        "The first sentence is padding. The second is about Paris. The third is padding again. Paris has a long river."
    )
    LocalRelevance(encoder, terms, rarity, spans, sentences=2)("Where is Paris", [text])
    assert encoder.calls == [["The second is about Paris.", "Paris has a long river."]]


def test_all_texts_are_encoded_in_one_call_and_a_shared_sentence_once(
    relevance: LocalRelevance, encoder: Counting
) -> None:
    first, second = relevance("capital", [CAPITAL, CAPITAL])
    assert first == second
    assert [len(call) for call in encoder.calls] == [2]


def test_the_known_cosine_of_a_single_sentence_is_not_computed_again(
    relevance: LocalRelevance, encoder: Counting
) -> None:
    (parts,) = relevance.judged("capital", ["Paris is the capital of France."], cosines=[0.8])
    assert parts.sentence == 0.8
    assert encoder.calls == []


def test_without_sentences_a_text_is_judged_whole(encoder: Counting) -> None:
    judge = LocalRelevance(encoder, terms, rarity)
    assert judge.judged("capital", [CAPITAL], cosines=[0.6])[0] == Parts(0.6, 1.0, 0, len(CAPITAL))
    assert encoder.calls == []


def test_a_long_table_is_read_by_its_lines(encoder: Counting) -> None:
    table = "\n".join(f"row {number} with some cells in it" for number in range(40)) + "\nParis is named in this row"
    LocalRelevance(encoder, terms, rarity, lambda text: [(0, len(text))], sentences=1)("Paris", [table])
    assert encoder.calls == [["Paris is named in this row"]]


@pytest.mark.parametrize("text", ["", "x", "Oh. No."])
def test_a_text_without_a_proper_sentence_is_judged_all_the_same(relevance: LocalRelevance, text: str) -> None:
    (value,) = relevance("capital of France", [text])
    assert 0 <= value <= 1


def test_no_texts_have_no_relevance(relevance: LocalRelevance, encoder: Counting) -> None:
    assert relevance("capital", []) == []
    assert encoder.calls == []


@given(st.text(max_size=40), st.lists(st.text(max_size=200), max_size=4))
def test_relevance_lies_between_0_and_1_and_does_not_depend_on_the_other_texts(question: str, texts: list[str]) -> None:
    judge = LocalRelevance(HashEncoder(), terms, rarity, spans)
    together = judge(question, texts)
    assert all(0 <= value <= 1 for value in together)
    assert together == pytest.approx([judge(question, [text])[0] for text in texts])
