"""A long table: the words of its rows are encoded, what repeats once and figures not at all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from thresher.chunking.hierarchical import HierarchicalChunker
from thresher.indexing.index_config import LONG_TABLE, IndexConfig, encode
from thresher.protocols import Progress
from thresher.testing.fakes import HashEncoder
from thresher.types import Document, Table

if TYPE_CHECKING:
    from thresher.types import Vectors


@dataclass
class Noting:
    """A hash encoder that notes what it reads."""

    inner: HashEncoder = field(default_factory=HashEncoder)
    read: list[str] = field(default_factory=list)
    name, dimension, max_tokens = "noting", 64, 512

    def encode(self, texts: Sequence[str], *, progress: Progress | None = None) -> Vectors:
        self.read += texts
        return self.inner.encode(texts, progress=progress)

    def encode_query(self, text: str) -> Vectors:
        return self.inner.encode_query(text)

    def warm_up(self) -> None: ...


def sheet(rows: int) -> Document:
    """A name of three, a place of two, and numbers that never repeat."""
    names, places = ("pump", "valve", "kettle"), ("Hull", "Ely")
    cells = [f"| A-{n:05d} | {names[n % 3]} | {places[n % 2]} | {n * 7}.50 |" for n in range(rows)]
    text = "\n".join(cells)
    spans: list[tuple[int, int]] = []
    for cell in cells:
        start = spans[-1][1] + 1 if spans else 0
        spans.append((start, start + len(cell)))
    return Document("d", "assets.xlsx", "Assets", text, "xlsx", tables=(Table(0, len(text), tuple(spans)),))


def test_of_a_long_table_each_combination_of_words_is_read_once_and_no_figure() -> None:
    encoder, counted = Noting(), list[int]()
    config = IndexConfig(HierarchicalChunker(), encoder, ("chunk", "subchunk"), by_parts=True)
    document = sheet(LONG_TABLE + 500)
    made = encode(config, [document], {}, counted.append)[document.id]
    assert sorted(encoder.read) == sorted(
        f"Assets\n{name} {place}" for name in ("pump", "valve", "kettle") for place in ("Hull", "Ely")
    )
    assert sum(counted) == len(made)
    asked = encoder.encode_query("Assets kettle Hull")
    subchunks = [(chunk, vector) for chunk, vector in made if chunk.level == "subchunk"]
    assert all(chunk.text in document.text for chunk, _ in subchunks)
    assert min(float(vector @ asked) for _, vector in subchunks) > 0.5
    np.testing.assert_allclose([np.linalg.norm(vector) for _, vector in made], 1, atol=1e-5)


def test_a_shorter_table_is_read_as_it_stands() -> None:
    encoder = Noting()
    document = sheet(LONG_TABLE)
    made = encode(IndexConfig(HierarchicalChunker(), encoder, ("subchunk",)), [document], {})[document.id]
    assert sorted(encoder.read) == sorted(chunk.titled for chunk, _ in made)
    assert any("A-00999" in text for text in encoder.read)
