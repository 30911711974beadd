from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

from thresher.retrieval.wrappers import SecondLookRetriever
from thresher.types import Hit, Judged, Judgement, Notes, Query

ASKED = Query("question", "question")


@pytest.fixture
def library(make_hit: Callable[..., Hit]) -> Callable[[Query], Judged]:
    """Finds other hits for other words."""
    by_words = {"question": "ab", "other words": "bc"}

    def retrieve(query: Query) -> Judged:
        hits = [make_hit(id_, 0.9, rank) for rank, id_ in enumerate(by_words[query.search], start=1)]
        return Judged(tuple(Judgement(hit, keep=True) for hit in hits), Notes(("retrieve: half of it is gone",)))

    return retrieve


def rewriting(search: str, *degraded: str) -> Callable[[Query], Query]:
    return lambda query: replace(query, search=search, notes=Notes(degraded))


def never(query: Query, hits: Sequence[Hit]) -> bool:
    return False


def ids(judged: Judged) -> list[str]:
    return [hit.chunk.id for hit in judged.kept]


def refuse(query: Query) -> Query:
    raise AssertionError("rewritten")


def test_what_suffices_is_not_looked_for_again(library: Callable[[Query], Judged]) -> None:
    looking = SecondLookRetriever(library, refuse, lambda query, hits: [hit.chunk.id for hit in hits] == ["a", "b"])
    assert looking(ASKED) == library(ASKED)


def test_both_searches_count_and_what_both_found_comes_first(library: Callable[[Query], Judged]) -> None:
    found = SecondLookRetriever(library, rewriting("other words"), never)(ASKED)
    assert ids(found) == ["b", "a", "c"]
    assert found.notes.facts["second_search"] == "other words"


def test_a_rewriting_that_changes_nothing_searches_once(library: Callable[[Query], Judged]) -> None:
    searched: list[str] = []

    def counting(query: Query) -> Judged:
        searched.append(query.search)
        return library(query)

    found = SecondLookRetriever(counting, rewriting("question"), never)(ASKED)
    assert (ids(found), searched) == (["a", "b"], ["question"])


def test_what_the_rewriter_and_either_search_lacked_is_told(library: Callable[[Query], Judged]) -> None:
    for words in ("question", "other words"):
        found = SecondLookRetriever(library, rewriting(words, "rewrite: out of order"), never)(ASKED)
        assert {"retrieve: half of it is gone", "rewrite: out of order"} == set(found.notes.degraded)
