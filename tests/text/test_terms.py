"""Text to terms."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thresher.text.terms import chunk_terms, index_terms, query_terms


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("The Cats are RUNNING", ["cat", "run"]),
        ("Crème brûlée, naïve", ["creme", "brule", "naiv"]),
        ("BERT-base has 12 layers", ["bert", "base", "12", "layer"]),
        ("ＡＢＣ ﬁle ℡", ["abc", "file", "tel"]),
        ("東京都", ["東京", "京都"]),
        ("ガラス", ["ガラ", "ラス"]),
        ("한국어", ["한국", "국어"]),
        ("the of and", []),
        ("", []),
    ],
)
def test_terms_are_folded_stemmed_and_without_stop_words(text: str, terms: list[str]) -> None:
    assert index_terms(text) == terms


def test_a_composed_and_a_decomposed_text_have_the_same_terms() -> None:
    assert index_terms("e\u0301tude ã¯ \u1112\u1161\u11ab") == index_terms("étude ã¯ 한")


def test_the_terms_of_a_chunks_title_count_twice() -> None:
    assert chunk_terms("Harbour lights", "harbour") == ["harbour", "light", "harbour", "light", "harbour"]


def test_a_query_has_each_term_once_in_order() -> None:
    assert query_terms("tall trees and a tall house") == ["tall", "tree", "hous"]


@given(st.text(max_size=60))
def test_no_term_is_empty_or_holds_a_blank(text: str) -> None:
    terms = index_terms(text)
    assert all(term and not any(mark.isspace() for mark in term) for term in terms)
    assert index_terms(" ".join([text, text])) == terms * 2
