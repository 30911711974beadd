"""Fusion of ranked lists against a calculation with fractions and tables."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from thresher.retrieval.search import reciprocal_rank_fusion, weighted_fusion
from thresher.types import BM25, COSINE, Chunk, Hit, Score

RANKINGS = st.lists(st.lists(st.sampled_from("abcdefgh"), unique=True, max_size=8), min_size=1, max_size=3)


def hits(ids: list[str], values: list[float] | None = None, name: str = "dense") -> list[Hit]:
    scale = COSINE if name == "dense" else BM25
    values = values or [1 / rank for rank in range(1, len(ids) + 1)]
    scores = [Score(value, scale) for value in values]
    return [
        Hit(Chunk(id_, "d", "s", "", 0, 1, id_), score, rank, scores={name: score})
        for rank, (id_, score) in enumerate(zip(ids, scores, strict=True), start=1)
    ]


def test_cormacks_sum_worked_by_hand() -> None:
    fused = reciprocal_rank_fusion([hits(["a", "b", "c"]), hits(["c", "a"], name="bm25")])
    assert [(hit.chunk.id, hit.rank) for hit in fused] == [("a", 1), ("c", 2), ("b", 3)]
    assert [hit.score.value for hit in fused] == pytest.approx([1 / 61 + 1 / 62, 1 / 63 + 1 / 61, 1 / 62])
    assert set(fused[0].scores) == {"dense", "bm25", "fused"}


@given(RANKINGS, st.data())
def test_reciprocal_ranks_equal_exact_fractions(rankings: list[list[str]], data: st.DataObject) -> None:
    weights = data.draw(st.lists(st.integers(1, 5), min_size=len(rankings), max_size=len(rankings)))
    exact: dict[str, Fraction] = {}
    for weight, ranking in zip(weights, rankings, strict=True):
        for rank, id_ in enumerate(ranking, start=1):
            exact[id_] = exact.get(id_, Fraction(0)) + Fraction(weight, 60 + rank)
    fused = reciprocal_rank_fusion([hits(ids) for ids in rankings], weights=weights)
    assert {hit.chunk.id: hit.score.value for hit in fused} == pytest.approx({k: float(v) for k, v in exact.items()})
    values = [exact[hit.chunk.id] for hit in fused]
    assert all(first >= second or float(first) == pytest.approx(float(second)) for first, second in pairwise(values))
    assert [hit.rank for hit in fused] == list(range(1, len(exact) + 1))


@given(RANKINGS, st.data())
def test_the_weighted_sum_equals_a_table_of_normalised_scores(rankings: list[list[str]], data: st.DataObject) -> None:
    every = sorted({id_ for ids in rankings for id_ in ids})
    weights = np.array(data.draw(st.lists(st.integers(1, 5), min_size=len(rankings), max_size=len(rankings))), float)
    lists, columns = [], []
    for ids in rankings:
        values = sorted(data.draw(st.lists(st.integers(-20, 20), min_size=len(ids), max_size=len(ids))), reverse=True)
        lists.append(hits(ids, [float(value) for value in values]))
        column = np.full(len(every), np.nan)
        column[[every.index(id_) for id_ in ids]] = values
        if ids:
            spread = np.nanmax(column) - np.nanmin(column)
            column = np.where(spread == 0, column * 0 + 1, (column - np.nanmin(column)) / (spread or 1))
        columns.append(np.nan_to_num(column))
    expected = (np.array(columns).T @ weights) / weights.sum() if every else np.array([])
    fused = weighted_fusion(lists, weights=list(weights))
    assert {hit.chunk.id: hit.score.value for hit in fused} == pytest.approx(dict(zip(every, expected, strict=True)))
    assert all(0 <= hit.score.value <= 1 + 1e-12 for hit in fused)
