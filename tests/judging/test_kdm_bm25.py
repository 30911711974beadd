from __future__ import annotations

import random
from math import log

import pytest
from hypothesis import given
from hypothesis import strategies as some
from rank_bm25 import BM25Okapi

from thresher.judging.kdm import bm25, ceiling, idf, retrieved_statistics

TERMS = "abcdefgh"
texts = some.lists(some.lists(some.sampled_from(TERMS), min_size=1, max_size=12), min_size=1, max_size=8)
queries = some.lists(some.sampled_from(TERMS + "z"), min_size=1, max_size=4, unique=True)


def scores(query: list[str], corpus: list[list[str]], **more: object) -> list[float]:
    counted = retrieved_statistics(corpus)
    return [
        bm25(
            query,
            text,
            frequencies=counted.frequencies,
            total=counted.total,
            average_length=counted.average_length,
            **more,  # type: ignore[arg-type]
        )
        for text in corpus
    ]


def test_the_rarity_of_a_term_in_both_forms() -> None:
    assert idf(1, 4) == pytest.approx(log(1 + 3.5 / 1.5))
    assert idf(1, 4, "okapi") == pytest.approx(log(3.5 / 1.5))


def test_in_okapis_form_a_term_in_half_of_the_texts_is_worth_nothing_and_a_commoner_one_less() -> None:
    assert idf(2, 4, "okapi") == 0
    assert idf(3, 4, "okapi") < 0 < idf(4, 4)


def test_one_text_of_average_length_by_hand() -> None:
    # One term once in a text of average length: idf x 1 x 2.2 / (1 + 1.2) = idf.
    corpus = [["tower", "x"], ["y", "z"]]
    assert scores(["tower"], corpus) == pytest.approx([idf(1, 2), 0])


@pytest.mark.parametrize("k1", [1.2, 1.5])
def test_okapi_gives_the_scores_of_rank_bm25(k1: float) -> None:
    chance = random.Random(5)
    words = [f"w{n}" for n in range(60)]
    corpus = [chance.choices(words, k=chance.randint(3, 15)) for _ in range(40)]
    theirs = BM25Okapi(corpus, k1=k1, b=0.75)
    rare = [word for word in words if 0 < retrieved_statistics(corpus).frequencies.get(word, 0) < 20]
    for _ in range(20):
        query = chance.sample(rare, k=3)  # rank_bm25 gives common terms a rarity of its own making
        assert scores(query, corpus, k1=k1, kind="okapi") == pytest.approx(list(theirs.get_scores(query)))


@given(queries, texts)
def test_no_text_reaches_the_ceiling(query: list[str], corpus: list[list[str]]) -> None:
    counted = retrieved_statistics(corpus)
    highest = ceiling(query, frequencies=counted.frequencies, total=counted.total)
    assert highest > 0
    assert all(0 <= score < highest for score in scores(query, corpus))


@given(queries, texts)
def test_a_text_that_shares_no_term_scores_nothing(query: list[str], corpus: list[list[str]]) -> None:
    for text, score in zip(corpus, scores(query, corpus), strict=True):
        assert (score > 0) == bool(set(query) & set(text))


def test_the_ceiling_is_nearly_reached_by_a_text_full_of_the_term() -> None:
    counted = retrieved_statistics([["a"], ["b"]])
    most = ceiling(["a"], frequencies=counted.frequencies, total=counted.total)
    full = bm25(["a"], ["a"] * 1000, frequencies=counted.frequencies, total=2, average_length=1000)
    assert 0.99 * most < full < most


def test_statistics_of_what_was_retrieved() -> None:
    counted = retrieved_statistics([["a", "a", "b"], ["a"]])
    assert (dict(counted.frequencies), counted.total, counted.average_length) == ({"a": 2, "b": 1}, 2, 2.0)
    nothing = retrieved_statistics([])
    assert (nothing.total, nothing.average_length) == (0, 0)


def test_a_common_term_lowers_no_ceiling_in_okapis_form() -> None:
    assert ceiling(["a", "b"], frequencies={"a": 9, "b": 1}, total=10, kind="okapi") == pytest.approx(
        2.2 * idf(1, 10, "okapi")
    )
