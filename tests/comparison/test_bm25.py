"""BM25 of the store against bm25s, an independent library."""

from __future__ import annotations

import random
from pathlib import Path

import bm25s
import numpy as np
import pytest

from thresher.stores.lance import LanceStore
from thresher.text.terms import chunk_terms
from thresher.types import Chunk, ChunkRow

WORDS = [
    f"{start}{end}" for start in ("gran", "tel", "mor", "bex", "lun") for end in ("o", "ax", "ivo", "und", "ekk", "yp")
]


@pytest.fixture(scope="module")
def chunks() -> list[Chunk]:
    chance = random.Random(7)
    frequent = [1 / (rank + 1) for rank in range(len(WORDS))]  # as words are: few often, many rarely
    return [
        Chunk(
            f"c{n:03}",
            f"d{n // 3}",
            "s",
            " ".join(chance.choices(WORDS, k=2)) if n % 4 else "",
            0,
            1,
            " ".join(chance.choices(WORDS, frequent, k=chance.randint(3, 80))),
        )
        for n in range(300)
    ]


def test_the_store_and_bm25s_give_the_same_scores(chunks: list[Chunk], tmp_path: Path) -> None:
    store = LanceStore(tmp_path)
    store.create("chunks_c", dimension=2)
    table = store.open("chunks_c")
    vector = np.array([1, 0], dtype=np.float32)
    for at in range(0, len(chunks), 100):
        table.append([ChunkRow(chunk, "text", "2024", None, vector) for chunk in chunks[at : at + 100]])
        table.maintain()
    left = [chunk for chunk in chunks if chunk.document_id not in ("d3", "d50")]
    table.delete(["d3", "d50"])
    table.maintain()

    theirs = bm25s.BM25(method="lucene", k1=1.2, b=0.75)
    theirs.index([chunk_terms(chunk.title, chunk.text) for chunk in left], show_progress=False)
    chance = random.Random(11)
    for _ in range(20):
        query = chance.sample(WORDS, k=chance.randint(1, 5))
        stemmed = chunk_terms("", " ".join(query))
        scores = theirs.get_scores(stemmed)
        ours = {chunk.id: score for chunk, score in table.matching(" ".join(query), limit=len(chunks))}
        # bm25s leaves out the constant factor k1 + 1, as Lucene does since version 8.
        expected = {chunk.id: score * 2.2 for chunk, score in zip(left, scores, strict=True) if score > 0}
        assert ours == pytest.approx(expected, rel=1e-4)
