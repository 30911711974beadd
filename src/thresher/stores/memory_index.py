"""The rows of a small chunk table in memory: searched by one product of matrices, whole and exact."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from thresher.filters import IDS, And, Filter, In

if TYPE_CHECKING:
    import pyarrow as pa

    from thresher.types import Vectors

MAX_ROWS = 100_000
"""About 300 MB with vectors of 384 dimensions and chunks of 1,000 characters, and 10 ms a question on two cores.
Larger tables are searched where they lie."""


@dataclass(frozen=True)
class MemoryIndex:
    """All rows of one version of a table."""

    version: int
    matrix: Vectors
    """(n_rows, dimension) float32, rows of unit length."""
    columns: pa.Table
    """The other columns, `id` and `_rowid` among them."""
    ids: Sequence[str]
    positions: Mapping[int, int]
    """Row id to position."""

    @classmethod
    def read(cls, version: int, rows: pa.Table) -> MemoryIndex:
        """From a table with `id`, `_rowid`, `vector` and what else is wanted."""
        import numpy as np

        flat = rows["vector"].combine_chunks().flatten().to_numpy(zero_copy_only=False)
        matrix = np.ascontiguousarray(flat.reshape(rows.num_rows, rows["vector"].type.list_size), np.float32)
        columns = rows.drop_columns(["vector"]).combine_chunks()
        positions = {row_id: at for at, row_id in enumerate(columns["_rowid"].to_pylist())}
        return cls(version, matrix, columns, columns["id"].to_pylist(), positions)

    def nearest(
        self, vector: Vectors, limit: int, among: Sequence[int] | None = None
    ) -> list[tuple[dict[str, Any], float]]:
        """The nearest rows (of those at the positions `among`) and their cosines, best first; ties by id."""
        import numpy as np

        positions = range(len(self.ids)) if among is None else among
        cosines = (self.matrix if among is None else self.matrix[list(among)]) @ np.asarray(vector, np.float32)
        candidates: Iterable[int] = range(len(cosines))
        if limit < len(cosines):
            lowest = np.partition(cosines, -limit)[-limit]
            candidates = np.flatnonzero(cosines >= lowest).tolist()
        best = sorted(candidates, key=lambda at: (-cosines[at], self.ids[positions[at]]))[:limit]
        return list(zip(self._rows([positions[at] for at in best]), cosines[best].tolist(), strict=True))

    def vectors(self, ids: Sequence[str]) -> Vectors:
        """(n_ids, dimension) float32 in the order of `ids`; KeyError for an id that is not there."""
        places = self._places["id"]
        return self.matrix[[at for id_ in ids for at in places[id_]]]

    def positions_of(self, where: Filter) -> Sequence[int] | None:
        """Where the rows stand for which a filter on ids holds, in order; None for any other filter."""
        if isinstance(where, In) and where.field in IDS:
            places = self._places[where.field]
            return sorted({at for value in where.values for at in places.get(str(value), ())})
        if isinstance(where, And) and where.operands:
            found = [self.positions_of(operand) for operand in where.operands]
            sets = [set(positions) for positions in found if positions is not None]
            return sorted(set.intersection(*sets)) if len(sets) == len(found) else None
        return None

    @cached_property
    def _places(self) -> Mapping[str, Mapping[str, Sequence[int]]]:
        """For each column of ids the positions of each value."""
        places: dict[str, dict[str, list[int]]] = {name: {} for name in IDS}
        for name, of_value in places.items():
            for at, value in enumerate(self.columns[name].to_pylist()):
                of_value.setdefault(value, []).append(at)
        return places

    def get(self, row_ids: Iterable[int]) -> list[dict[str, Any]] | None:
        """Rows by their row ids, in that order; None when one of them is not of this version."""
        try:
            return self._rows([self.positions[row_id] for row_id in row_ids])
        except KeyError:
            return None

    def _rows(self, positions: Sequence[int]) -> list[dict[str, Any]]:
        import pyarrow as pa

        rows: list[dict[str, Any]] = self.columns.take(pa.array(positions, pa.int64())).to_pylist()
        return rows
