"""nDCG with both gains and both ideals, average precision and reciprocal rank against scikit-learn and by hand."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer  # type: ignore[import-untyped, unused-ignore]
from sklearn.metrics import (  # type: ignore[import-untyped, unused-ignore]
    average_precision_score,
    label_ranking_average_precision_score,
    ndcg_score,
)

from thresher.retrieval.wrappers import tfidf
from thresher_evals.dataset import Question
from thresher_evals.metrics.registry import parse
from thresher_evals.rows import Place, Row

DEPTH = 12


def row_of(grades: Sequence[int], found: int) -> Row:
    """Documents in the order of their numbers, of which the first ones are found; each has its grade."""
    labels = {f"d{number}": float(grade) for number, grade in enumerate(grades)}
    return Row(Question("q", "?", grades=labels), "r", "", 0.0, ranking=tuple(map(Place, list(labels)[:found])))


def theirs(gains: Sequence[float], cutoff: int) -> float:
    """scikit-learn's nDCG of documents in their order; its gain is what it is given."""
    order = -np.arange(len(gains), dtype=float)
    return float(ndcg_score([gains], [order], k=cutoff))


@pytest.mark.parametrize("seed", range(20))
def test_ndcg_agrees_with_scikit_learn(seed: int) -> None:
    grades = np.random.default_rng(seed).integers(0, 5, size=DEPTH)
    grades[0] = max(1, grades[0])
    row = row_of(list(grades), found=DEPTH)
    exponential = 2.0**grades - 1
    for cutoff in (3, 10):
        assert parse(f"nDCG@{cutoff}").values([row]) == [pytest.approx(theirs(grades, cutoff))]
        assert parse(f"nDCG_exp@{cutoff}").values([row]) == [pytest.approx(theirs(exponential, cutoff))]
        only = theirs(grades[:cutoff], cutoff)
        assert parse(f"nDCG_retrieved@{cutoff}").values([row]) == [pytest.approx(only)]
        only = theirs(exponential[:cutoff], cutoff)
        assert parse(f"nDCG_retrieved_exp@{cutoff}").values([row]) == [pytest.approx(only)]


@pytest.mark.parametrize("seed", range(20))
def test_average_precision_agrees_with_scikit_learn(seed: int) -> None:
    relevant = np.random.default_rng(seed).integers(0, 2, size=DEPTH)
    relevant[-1] = 1
    row = row_of(list(relevant), found=DEPTH)
    order = -np.arange(DEPTH, dtype=float)
    assert parse("MAP").values([row]) == [pytest.approx(average_precision_score(relevant, order))]
    first = np.zeros(DEPTH, dtype=int)
    first[np.argmax(relevant)] = 1
    assert parse("MRR").values([row]) == [pytest.approx(label_ranking_average_precision_score([first], [order]))]


def test_average_precision_and_reciprocal_rank_by_hand() -> None:
    """Relevant at ranks 2 and 4 of 5 found, and one more not found: (1/2 + 2/4 + 0) / 3."""
    row = row_of([0, 1, 0, 1, 0, 1], found=5)
    assert parse("MAP").values([row]) == [pytest.approx((1 / 2 + 2 / 4) / 3)]
    assert parse("MRR").values([row]) == [0.5]
    nothing = row_of([0, 0, 1], found=2)
    assert parse("MAP").values([nothing]) == parse("MRR").values([nothing]) == [0.0]


def test_the_self_made_ideal_hides_what_was_missed() -> None:
    """Five mediocre documents in their best order, while two excellent ones were not found: 1 against .376."""
    row = row_of([1, 1, 1, 1, 1, 4, 4], found=5)
    assert parse("nDCG_retrieved@5").values([row]) == [pytest.approx(1.0)]
    gained = sum(1 / np.log2(rank + 1) for rank in range(1, 6))
    assert parse("nDCG@5").values([row]) == [pytest.approx(gained / (gained + 3 + 3 / np.log2(3)))]
    assert parse("nDCG@5").values([row])[0] == pytest.approx(0.376, abs=0.0005)


# --- TF-IDF -----------------------------------------------------------------------------------------------------------


TEXTS = [
    "the cat sat on the mat",
    "the cat sat on the mat today",
    "a dog ran in the park",
    "the cat sat on the mat",
    "",
]


def test_tfidf_is_that_of_scikit_learn() -> None:
    vectorizer = TfidfVectorizer(tokenizer=str.split, token_pattern=None, lowercase=False)
    theirs = vectorizer.fit_transform(TEXTS).toarray()
    ours = tfidf(TEXTS, str.split)
    assert ours @ ours.T == pytest.approx(theirs @ theirs.T)
