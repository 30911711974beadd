from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from thresher.stores.lance import LanceChunkTable, LanceStore
from thresher.stores.lance_table import LanceRecords


class Large(LanceStore):
    """Keeps every table up as one of many rows."""

    def records(self, name: str, *, key: str, columns: Mapping[str, str]) -> LanceRecords:
        made = super().records(name, key=key, columns=columns)
        made.large_rows = 0
        return made

    def _chunk_table(self, table: Any) -> LanceChunkTable:
        made = super()._chunk_table(table)
        made.large_rows = 0
        return made


small_and_large = pytest.mark.parametrize("store", [LanceStore, Large], indirect=True)
"""For tests of upkeep: by lancedb alone, and by increments."""
