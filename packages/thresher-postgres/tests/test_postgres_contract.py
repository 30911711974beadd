"""The store on PostgreSQL and its files do what all have to do; what is found has one order whatever the limit."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

import pytest

from thresher.protocols import Files, Store
from thresher_testing.files_contract import FilesContract
from thresher_testing.store_contract import StoreContract
from thresher_testing.store_samples import ENCODER, compared_rows, filled, questions, row


class TestPostgres(StoreContract):
    @pytest.fixture(autouse=True)
    def _server(self, dsn: str) -> None:
        self.dsn = dsn

    def open_store(self, folder: Path) -> Store:
        from thresher_postgres.store import PostgresStore

        return PostgresStore(self.dsn, f"contract_{sha256(str(folder).encode()).hexdigest()[:16]}")

    def test_a_short_list_is_the_beginning_of_the_long_one(self, store: Store) -> None:
        table = filled(store, compared_rows())
        for question in questions()[:10]:
            whole = table.matching(question, limit=300)
            for limit in (1, 2, 5, 20):
                assert table.matching(question, limit=limit) == whole[:limit]

    def test_equal_scores_at_the_end_of_a_list_are_in_the_order_of_their_ids(self, store: Store) -> None:
        """Where Lance cuts a list between equal scores it keeps the earlier rows."""
        table = filled(store, [row(id_, "exactly the same") for id_ in ("z", "a", "m")])
        assert [chunk.id for chunk, _ in table.matching("exactly", limit=2)] == ["a", "m"]
        vector = ENCODER.encode_query("exactly the same")
        assert [chunk.id for chunk, _ in table.nearest(vector, limit=2)] == ["a", "m"]


class TestPostgresFiles(FilesContract):
    @pytest.fixture(autouse=True)
    def _server(self, dsn: str) -> None:
        self.dsn = dsn

    def open_files(self, folder: Path) -> Files:
        from thresher_postgres.connection import connected
        from thresher_postgres.files import PostgresFiles

        return PostgresFiles(connected(self.dsn), f"files_{sha256(str(folder).encode()).hexdigest()[:16]}")
