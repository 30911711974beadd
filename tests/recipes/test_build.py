"""Parts as recipes put them together."""

from __future__ import annotations

from tests.indexing.making import ENCODER, row
from thresher.recipes.build import redundancy
from thresher.recipes.settings import RedundancySettings
from thresher.types import UNIT, Hit, Score
from thresher_testing.memory_store import MemoryChunkTable


def test_a_chunk_whose_document_was_replaced_since_it_was_found_is_no_copy_of_another() -> None:
    table = MemoryChunkTable(ENCODER.dimension)
    texts = {"c1": "A mill", "c2": "A mill", "c3": "A tower"}
    rows = [row(id_, text, document_id=f"d{id_}") for id_, text in texts.items()]
    table.append(rows)
    hits = [Hit(one.chunk, Score(1.0, UNIT), rank) for rank, one in enumerate(rows, start=1)]
    apart = redundancy(RedundancySettings(threshold=0.99), table)
    assert [hit.chunk.id for hit in apart(hits).kept] == ["c1", "c3"]
    table.delete(["dc1"])
    assert [hit.chunk.id for hit in apart(hits).kept] == ["c1", "c2", "c3"]
