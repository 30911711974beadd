"""nDCG, precision, recall and reciprocal rank through ir-measures against formulas written out here."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thresher_evals.dataset import Question
from thresher_evals.metrics.registry import parse
from thresher_evals.rows import Place, Row

DOCUMENTS = [f"d{number}" for number in range(15)]
CASES = st.lists(
    st.tuples(
        st.lists(st.sampled_from(DOCUMENTS), unique=True, max_size=15),
        st.dictionaries(st.sampled_from([*DOCUMENTS, "unfound"]), st.integers(-1, 4), min_size=1),
    ),
    min_size=1,
    max_size=6,
)


def ndcg(ranking: Sequence[str], grades: Mapping[str, int], cutoff: int) -> float:
    """Sum of gain / log2(rank + 1), linear gain, over the same sum for the best order of all judged documents."""

    def discounted(gains: Sequence[int]) -> float:
        return sum(max(0, gain) / math.log2(rank + 1) for rank, gain in enumerate(gains[:cutoff], start=1))

    best = discounted(sorted(grades.values(), reverse=True))
    return discounted([grades.get(document, 0) for document in ranking]) / best if best else 0.0


def relevant(documents: Sequence[str], grades: Mapping[str, int]) -> int:
    return sum(grades.get(document, 0) > 0 for document in documents)


def reciprocal_rank(ranking: Sequence[str], grades: Mapping[str, int]) -> float:
    return next((1 / rank for rank, document in enumerate(ranking, start=1) if grades.get(document, 0) > 0), 0.0)


@given(CASES)
def test_measures_equal_their_formulas(cases: list[tuple[list[str], dict[str, int]]]) -> None:
    rows = [
        Row(Question(str(number), "?", grades=grades), "r", "", 0.0, ranking=tuple(Place(name) for name in ranking))
        for number, (ranking, grades) in enumerate(cases)
    ]
    precision = [relevant(ranking[:5], grades) / 5 for ranking, grades in cases]
    recall = [
        relevant(ranking[:5], grades) / all_relevant if (all_relevant := relevant(list(grades), grades)) else 0.0
        for ranking, grades in cases
    ]
    assert parse("nDCG@10").values(rows) == pytest.approx([ndcg(ranking, grades, 10) for ranking, grades in cases])
    assert parse("nDCG@3").values(rows) == pytest.approx([ndcg(ranking, grades, 3) for ranking, grades in cases])
    assert parse("P@5").values(rows) == pytest.approx(precision)
    assert parse("R@5").values(rows) == pytest.approx(recall)
    assert parse("MRR").values(rows) == pytest.approx([reciprocal_rank(ranking, grades) for ranking, grades in cases])
    assert parse("F1@5").values(rows) == pytest.approx(
        [2 * p * r / (p + r) if p + r else 0.0 for p, r in zip(precision, recall, strict=True)]
    )


def test_the_textbook_example_of_graded_gain() -> None:
    """Gains 3 2 3 0 1 2: DCG 6.861, ideal 7.141 (3 3 2 2 1 0), nDCG .961 (Wikipedia, "Discounted cumulative gain")."""
    grades = {f"d{number}": grade for number, grade in enumerate((3, 2, 3, 0, 1, 2))}
    row = Row(Question("q", "?", grades=grades), "r", "", 0.0, ranking=tuple(Place(name) for name in grades))
    assert parse("nDCG@6").values([row]) == [pytest.approx(0.961, abs=0.0005)]
