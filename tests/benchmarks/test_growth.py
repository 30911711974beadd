"""The benchmark of growth: its exact lists are those of a store that compares everything."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.growth_rows import BATCH, DIMENSION, KIND, Exact, Synthetic, changes
from thresher.protocols import ChunkTable
from thresher.types import Comparison
from thresher_testing.memory_store import MemoryStore

ROWS = Synthetic()


@pytest.fixture
def table(tmp_path: Path) -> ChunkTable:
    store = MemoryStore(tmp_path)
    store.create("chunks_growth", dimension=DIMENSION)
    table = store.open("chunks_growth")
    table.append(ROWS.batch(0))
    return table


def test_the_exact_lists_are_those_of_a_store_that_compares_everything(table: ChunkTable) -> None:
    agree(table, changed=False)


def test_the_exact_lists_follow_the_changes(table: ChunkTable) -> None:
    planned = changes(ROWS, BATCH)
    table.append(planned.added)
    table.delete([planned.deleted, planned.replaced])
    table.append(planned.replacing)
    agree(table, changed=True)


def agree(table: ChunkTable, *, changed: bool) -> None:
    exact, asked = Exact(ROWS, BATCH, changed=changed), ROWS.questions()[:3]
    exact.check()
    nearest, of_kind, words = exact.neighbours(), exact.neighbours(kind=KIND), exact.best_by_words()
    for at, question in enumerate(asked):
        assert set(nearest[at]) == {chunk.id for chunk, _ in table.nearest(question.vector, limit=10)}
        found = table.nearest(question.vector, limit=10, where=Comparison("kind", "=", KIND))
        assert set(of_kind[at]) == {chunk.id for chunk, _ in found}
        best = dict(list(words[at].items())[:10])
        assert best == pytest.approx({chunk.id: score for chunk, score in table.matching(question.text, limit=10)})
