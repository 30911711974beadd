"""The approximate index of the vectors of a large chunk table: IVF with RaBitQ codes, the best compared exactly.

Gao and others 2024 (RaBitQ, extended to several bits): a million vectors of 384 dimensions are 192 MB.
"""

from __future__ import annotations

from typing import Any

from thresher.stores import lance_upkeep

NAME = "vector_idx"
COLUMN = "vector"

KIND = "IvfRq"

BITS = 4
"""Of a dimension. With one bit 400 candidates have to be read to hold the ten nearest, which takes longer than finding
them; with four 100 do (docs/decisions.md)."""

PROBES = 64
"""Partitions that are looked in, of about 4,096 rows each: of 244, 32 found 96.8 % of the ten nearest where rows are
near to each other (benchmarks/growth.py); 64 take 1.5 ms more."""

CANDIDATES = 100
"""The best by their codes that are compared exactly."""

REFINED = 2
"""And at least so many times as are asked for."""

TRAINED_ON = "thresher.trained_rows"
"""Metadata of the column: how many rows the partitions were made for."""

OUTGROWN = 4
"""A table that has grown so many times gets new partitions: a search of them takes as many times as long."""


def searched(query: Any, limit: int, *, filtered: bool) -> Any:
    """A query of lancedb as it is put to the index; with a filter more partitions are looked in until enough pass."""
    query = query.refine_factor(max(REFINED, -(-CANDIDATES // limit)))
    return query.minimum_nprobes(PROBES).maximum_nprobes(0) if filtered else query.nprobes(PROBES)


def is_wanted(table: Any, rows: int, ann_rows: int, kind: str | None) -> bool:
    """Whether an index has to be built: none is there, or another kind, or it was made for a much smaller table."""
    if rows < ann_rows:
        return False
    metadata = table.schema.field(COLUMN).metadata or {}
    return kind != KIND or rows >= OUTGROWN * int(metadata.get(TRAINED_ON.encode(), 0))


def build(table: Any) -> None:
    """Build it from all rows; questions are answered meanwhile, by the old one or by all vectors."""
    from lancedb.index import IvfRq

    rows = int(table.count_rows())
    table.create_index(COLUMN, config=IvfRq(distance_type="dot", num_bits=BITS), replace=True)
    table.update_field_metadata({"path": COLUMN, "metadata": {TRAINED_ON: str(rows)}})


def bring_up(table: Any) -> None:
    """Add the rows that came since, in the partitions there are."""
    lance_upkeep.bring_up(table, [NAME])
