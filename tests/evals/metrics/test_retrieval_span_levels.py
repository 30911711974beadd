"""Hits against gold places: by character span, or by document and page."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thresher.types import Origin
from thresher_evals.dataset import Gold, Question
from thresher_evals.metrics.registry import parse
from thresher_evals.metrics.retrieval import counts
from thresher_evals.rows import Place, Row
from thresher_evals.stats import Counts

MakeRow = Callable[..., Row]
TWO_SPANS = Question("q", "?", gold=(Gold("a.pdf", page=1, start=10, end=20), Gold("a.pdf", page=3, start=90, end=99)))


def hit(source: str, start: int, end: int, page: int | None = None) -> Place:
    """A chunk of a document."""
    return Place(source, page=page, start=start, end=end)


def test_a_hit_is_relevant_when_it_shares_a_character_with_a_gold_span(make_row: MakeRow) -> None:
    ranking = [
        hit("/x/a.pdf", 0, 10, 1),  # ends where the span begins
        hit("/x/a.pdf", 0, 11, 1),
        hit("/x/a.pdf", 19, 40, 2),  # the same span once more
        hit("b.pdf", 90, 99, 3),
        hit("/x/a.pdf", 20, 90, 1),  # between the two spans, on a gold page
        hit("/x/a.pdf", 91, 92, 3),  # sixth
    ]
    row = make_row(TWO_SPANS, ranking=ranking)
    assert counts(row, 5, "span") == Counts(relevant=2, hits=5, met=1, gold=2)
    assert counts(row, 6, "span") == Counts(relevant=3, hits=6, met=2, gold=2)
    assert counts(row, 5, "chunk") == Counts(relevant=3, hits=5, met=1, gold=2)
    assert parse("span_P@5").values([row]) == [2 / 5]
    assert parse("span_R@5").values([row]) == [1 / 2]
    assert parse("span_F1@5").values([row]) == [pytest.approx(2 * 0.4 * 0.5 / 0.9)]
    assert parse("chunk_P@5").values([row]) == [3 / 5]
    assert parse("chunk_R@6").values([row]) == [1.0]


def test_without_offsets_the_document_is_the_span_and_without_a_page_it_is_the_page(make_row: MakeRow) -> None:
    row = make_row(Question("q", "?", gold=(Gold("a", page=2), Gold("b"))), ranking=[hit("a", 0, 9, 1), hit("b", 0, 9)])
    assert counts(row, 5, "span") == Counts(2, 5, 2, 2)
    assert counts(row, 5, "chunk") == Counts(1, 5, 1, 2)


def test_places_outside_the_collection_cannot_be_found_and_do_not_count(make_row: MakeRow) -> None:
    outside = Gold("a", origin=Origin.OUTSIDE)
    assert counts(make_row(Question("q", "?", gold=(outside,)), ranking=["a"]), 5, "span") is None
    assert counts(make_row(Question("q", "?", gold=(outside, Gold("b"))), ranking=["a"]), 5, "span") == Counts(
        0, 5, 0, 1
    )


def test_graded_documents_are_places_where_there_are_no_others(make_row: MakeRow) -> None:
    question = Question("q", "?", grades={"a": 2, "b": 0})
    assert counts(make_row(question, ranking=[hit("a", 0, 5), hit("b", 0, 5)]), 5, "span") == Counts(1, 5, 1, 1)


def test_a_failed_search_finds_nothing_and_a_question_without_gold_is_not_measured(make_row: MakeRow) -> None:
    assert counts(make_row(TWO_SPANS), 5, "span") == Counts(0, 5, 0, 2)
    assert parse("span_F1@5").values([make_row(TWO_SPANS), make_row(Question("q", "?"))]) == [0.0, None]


PLACES = st.builds(
    lambda source, start, length: hit(source, start, start + length),
    st.sampled_from("ab"),
    st.integers(0, 40),
    st.integers(1, 20),
)


@given(st.lists(PLACES, max_size=8), st.lists(PLACES, min_size=1, max_size=4))
def test_spans_are_met_as_their_characters_are(ranking: list[Place], gold: list[Place]) -> None:
    def characters(place: Place) -> set[tuple[str, int]]:
        return {(place.source, at) for at in range(place.start or 0, place.end or 0)}

    question = Question("q", "?", gold=tuple(Gold(one.source, None, one.start, one.end) for one in gold))
    first, distinct = ranking[:5], set(gold)
    counted = counts(Row(question, "r", "", 0.0, ranking=tuple(ranking)), 5, "span")
    assert counted == Counts(
        sum(any(characters(place) & characters(one) for one in distinct) for place in first),
        5,
        sum(any(characters(place) & characters(one) for place in first) for one in distinct),
        len(distinct),
    )
