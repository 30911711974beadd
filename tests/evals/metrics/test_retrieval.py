"""Chunks become documents, each once, and labels mean any source of a document."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thresher_evals.dataset import Question
from thresher_evals.metrics.registry import parse
from thresher_evals.metrics.retrieval import documents
from thresher_evals.rows import Place, Row

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


def test_precision_divides_by_five_even_when_fewer_were_returned(make_row: MakeRow) -> None:
    rows = [make_row(LABELLED, ranking=["a", "b"])]
    assert parse("P@5").values(rows) == [pytest.approx(2 / 5)]
    assert parse("R@5").values(rows) == [pytest.approx(2 / 3)]
    assert parse("F1@5").values(rows) == [pytest.approx(2 * (2 / 5) * (2 / 3) / (2 / 5 + 2 / 3))]


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
