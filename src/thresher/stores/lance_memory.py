"""What a process keeps in memory of the tables that it has read, within a bound."""

from __future__ import annotations

from functools import cache, cached_property
from threading import Lock
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    from thresher.stores.memory_index import MemoryIndex

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
