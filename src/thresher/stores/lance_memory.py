"""What a process keeps in memory of the tables that it has read, within a bound.

The rows of a small chunk table are kept whole: searched by one product of matrices, and exact.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, partial, reduce
from threading import Lock
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from thresher.filters import IDS
from thresher.types import And, Filter, In

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

    from thresher.types import Vectors

    Positions = np.ndarray[tuple[int], np.dtype[np.int64]]

MEGABYTES = 1024
"""A quarter of it for rows, some 87,000 chunks with vectors of 384 dimensions. The rest for indexes: with 220 MB a
question of a million chunks read them anew each time, and took twice as long as with 450."""

ROWS_SHARE = 4
"""Rows in memory save a small table's index; beyond, indexes need the room."""

ROW_BYTES = 1400
"""Of a row besides its vector: a chunk of 1,000 characters, its source, title and ids."""

METADATA_SHARE = 8
"""Of what is kept of indexes an eighth is for manifests and schemas, which are small."""

_MEGABYTE = 1_000_000


class Memory:
    """One bound for all tables of a process: the rows of those used last, and what Lance has read of indexes."""

    def __init__(self, megabytes: int = MEGABYTES) -> None:
        self._of_rows = megabytes * _MEGABYTE // ROWS_SHARE
        self._of_indexes = megabytes * _MEGABYTE - self._of_rows
        self._kept: WeakKeyDictionary[Any, MemoryIndex] = WeakKeyDictionary()
        self._changing = Lock()

    @cached_property
    def session(self) -> Any:
        """The session that every database of the process is connected with."""
        import lancedb

        metadata = self._of_indexes // METADATA_SHARE
        return lancedb.Session(index_cache_size_bytes=self._of_indexes - metadata, metadata_cache_size_bytes=metadata)

    def rows(self, dimension: int) -> int:
        """How many rows a table may have that is kept whole."""
        return self._of_rows // (ROW_BYTES + 4 * dimension)

    def of(self, table: Any) -> MemoryIndex | None:
        """The rows of a table, where they are kept."""
        return self._kept.get(table)

    def keep(self, table: Any, index: MemoryIndex) -> None:
        """Keep the rows of a table; those of tables that were not kept as recently go where the bound is reached."""
        with self._changing:
            self._kept.pop(table, None)
            left = self._of_rows - index.bytes
            for other, kept in reversed(list(self._kept.items())):
                left -= kept.bytes
                if left < 0:
                    self._kept.pop(other, None)
            self._kept[table] = index

    def forget(self, table: Any) -> None:
        """Let go of the rows of a table."""
        with self._changing:
            self._kept.pop(table, None)


of_process = cache(Memory)
"""The one memory of this process for a setting."""


@dataclass(frozen=True)
class MemoryIndex:
    """All rows of one version of a table."""

    version: int
    matrix: Vectors
    """(n_rows, dimension) float32, rows of unit length."""
    columns: pa.Table
    """The other columns, those of `filters.IDS` and `_rowid` among them."""

    @classmethod
    def read(cls, version: int, batches: Iterable[pa.RecordBatch], rows: int, dimension: int) -> MemoryIndex | None:
        """From batches with `vector` and those columns; None where they are not as many rows as were counted."""
        import numpy as np
        import pyarrow as pa

        matrix = np.empty((rows, dimension), np.float32)
        columns: list[pa.RecordBatch] = []
        held = 0
        for batch in batches:
            if held + batch.num_rows > rows:
                return None
            flat = batch["vector"].flatten().to_numpy(zero_copy_only=False)
            matrix[held : held + batch.num_rows] = flat.reshape(-1, dimension)
            columns.append(batch.drop_columns(["vector"]))
            held += batch.num_rows
        return cls(version, matrix, pa.Table.from_batches(columns).combine_chunks()) if held == rows and rows else None

    @property
    def bytes(self) -> int:
        """What it takes."""
        return int(self.matrix.nbytes + self.columns.nbytes)

    def nearest(
        self, vector: Vectors, limit: int, among: Positions | None = None
    ) -> list[tuple[dict[str, Any], float]]:
        """The nearest rows (of those at the positions `among`) and their cosines, best first; ties by id."""
        import numpy as np

        cosines = (self.matrix if among is None else self.matrix[among]) @ np.asarray(vector, np.float32)
        candidates = np.arange(len(cosines))
        if limit < len(cosines):
            candidates = np.flatnonzero(cosines >= np.partition(cosines, -limit)[-limit])
        rows = self._rows(candidates if among is None else among[candidates])
        scored = sorted(zip(rows, cosines[candidates].tolist(), strict=True), key=lambda one: (-one[1], one[0]["id"]))
        return scored[:limit]

    def vectors(self, ids: Sequence[str]) -> Vectors:
        """(n_ids, dimension) float32 in the order of `ids`; KeyError for an id that is not there."""
        found = self._holding("id", ids)
        at = dict(zip(self.columns["id"].take(found).to_pylist(), found.tolist(), strict=True))
        return self.matrix[[at[id_] for id_ in ids]]

    def positions_of(self, where: Filter) -> Positions | None:
        """Where the rows stand for which a filter on ids holds, in order; None for any other filter."""
        import numpy as np

        if isinstance(where, In) and where.field in IDS:
            return self._holding(where.field, where.values)
        if not isinstance(where, And) or not where.operands:
            return None
        found = [self.positions_of(operand) for operand in where.operands]
        known = [positions for positions in found if positions is not None]
        return reduce(partial(np.intersect1d, assume_unique=True), known) if len(known) == len(found) else None

    def _holding(self, column: str, values: Iterable[Any]) -> Positions:
        """Positions of the rows with one of the values, in order."""
        import numpy as np
        import pyarrow as pa
        import pyarrow.compute as pc

        wanted = pa.array(dict.fromkeys(map(str, values)), pa.string())
        return np.flatnonzero(pc.is_in(self.columns[column], wanted).to_numpy())

    @cached_property
    def _by_row_id(self) -> tuple[Positions, Positions]:
        """The row ids sorted, and the position of each."""
        import numpy as np

        row_ids = self.columns["_rowid"].to_numpy().astype(np.int64)
        order = np.argsort(row_ids, kind="stable")
        return row_ids[order], order

    def get(self, row_ids: Iterable[int]) -> list[dict[str, Any]] | None:
        """Rows by their row ids, in that order; None when one of them is not of this version."""
        import numpy as np

        wanted = np.fromiter(row_ids, np.int64)
        known, order = self._by_row_id
        at = np.minimum(np.searchsorted(known, wanted), len(known) - 1)
        return self._rows(order[at]) if bool((known[at] == wanted).all()) else None

    def _rows(self, positions: Positions) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = self.columns.take(positions).to_pylist()
        return rows
