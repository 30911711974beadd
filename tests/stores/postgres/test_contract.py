"""The store on PostgreSQL does what every store has to do."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

import pytest

from thresher.protocols import Store
from thresher.testing.store_contract import StoreContract


class TestPostgres(StoreContract):
    @pytest.fixture(autouse=True)
    def _server(self, dsn: str) -> None:
        self.dsn = dsn

    def open_store(self, folder: Path) -> Store:
        from thresher.stores.postgres.store import PostgresStore

        return PostgresStore(self.dsn, f"contract_{sha256(str(folder).encode()).hexdigest()[:16]}")
