"""Chunks become documents, each once, and labels mean any source of a document."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thresher.types import Origin
from thresher_evals.dataset import Gold, Question, matches, matching
from thresher_evals.metrics.registry import parse
from thresher_evals.metrics.retrieval import counts, documents
from thresher_evals.rows import Place, Row
from thresher_evals.stats import Counts

MakeRow = Callable[..., Row]
LABELLED = Question("q", "?", grades={"a": 1, "b": 1, "c": 1, "d": 0})


def test_two_labels_of_one_document_are_one_relevant_document() -> None:
    grades, scores = documents([Place("a", also=("b",))], {"a": 1, "b": 3, "c": 1})
    assert grades == {"a": 3, "c": 1}
    assert scores == {"a": 1.0}


def test_two_documents_under_one_label_are_one_result() -> None:
    _, scores = documents([Place("/x/a.pdf"), Place("/y/a.pdf"), Place("/x/b.pdf")], {"a.pdf": 1, "b.pdf": 1})
    assert scores == {"a.pdf": 2.0, "b.pdf": 1.0}


def test_a_document_named_like_a_label_of_another_is_not_that_label() -> None:
    grades, scores = documents([Place("x/a"), Place("unlabelled:z")], {"a": 1})
    assert grades == {"a": 1}
    assert len(scores) == 2


def test_a_question_with_no_result_counts_as_zero(make_row: MakeRow) -> None:
    rows = [make_row(LABELLED, ranking=[]), make_row(LABELLED), make_row(LABELLED, ranking=["z", "d"])]
    for name in ("nDCG@10", "P@5", "R@5", "F1@5", "MRR"):
        assert parse(name).values(rows) == [0.0, 0.0, 0.0]


@given(
    st.lists(st.sampled_from("abcdefgh"), max_size=12), st.dictionaries(st.sampled_from("abcdxy"), st.integers(-1, 4))
)
def test_measures_stay_between_zero_and_one_and_copies_change_nothing(
    ranking: list[str], grades: dict[str, int]
) -> None:
    question = Question("q", "?", grades=grades)
    rows = [
        Row(question, "r", "", 0.0, ranking=tuple(Place(source) for source in sources))
        for sources in (ranking, [source for source in ranking for _ in range(3)])
    ]
    for name in ("nDCG@10", "P@5", "R@5", "F1@5", "MRR"):
        once, thrice = parse(name).values(rows)
        assert once == thrice
        assert once is None or 0 <= once <= 1 + 1e-12
        assert (once is None) == (not grades)


# --- labels -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("gold", "source", "also", "same"),
    [
        ("184", "184", (), True),
        ("184", "1184", (), False),
        ("BERT.pdf", "/x/papers/BERT.pdf", (), True),
        ("papers/BERT.pdf", "/x/papers/BERT.pdf", (), True),
        ("./papers/BERT.pdf", "/x/papers/BERT.pdf", (), True),
        ("../data/papers/BERT.pdf", "/x/data/papers/BERT.pdf", (), True),
        ("BERT.pdf", "/x/papers/RoBERT.pdf", (), False),
        ("BERT.pdf", "/x/BERT.pdf/notes.txt", (), False),
        ("BERT.pdf", "/x/bert.pdf", (), False),
        ("/x/BERT.pdf", "/y/x/BERT.pdf", (), False),
        ("copy.pdf", "/x/BERT.pdf", ("/y/copy.pdf",), True),
        ("BERT.pdf", r"C:\papers\BERT.pdf", (), True),
        ("c.pdf", "https://example.org/a/c.pdf", (), True),
    ],
)
def test_a_gold_source_names_a_document(gold: str, source: str, also: tuple[str, ...], same: bool) -> None:
    assert matches(gold, source, also) is same


def test_a_label_that_equals_a_source_goes_before_ends_of_paths() -> None:
    assert matching(["b.pdf", "a/b.pdf"], "a/b.pdf") == ["a/b.pdf"]
    assert matching(["b.pdf", "c.pdf"], "a/b.pdf", ["x/c.pdf"]) == ["b.pdf", "c.pdf"]


# --- gold passages ----------------------------------------------------------------------------------------------------


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
