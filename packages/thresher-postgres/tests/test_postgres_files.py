"""Files on PostgreSQL do what all files have to do."""

from __future__ import annotations

import subprocess
import sys
from hashlib import sha256
from pathlib import Path

import pytest

from tests.servers.postgres import why_not
from thresher.protocols import Files
from thresher_testing.files_contract import FilesContract

pytestmark = pytest.mark.skipif(bool(why_not()), reason=why_not())

if not why_not():
    from thresher_postgres.connection import connected
    from thresher_postgres.files import PostgresFiles


class TestPostgresFiles(FilesContract):
    @pytest.fixture(autouse=True)
    def _server(self, dsn: str) -> None:
        self.dsn = dsn

    def open_files(self, folder: Path) -> Files:
        return PostgresFiles(connected(self.dsn), f"files_{sha256(str(folder).encode()).hexdigest()[:16]}")


def test_a_lock_goes_with_a_process_that_is_killed(dsn: str) -> None:
    code = f"""
import os, signal
from thresher_postgres.connection import connected
from thresher_postgres.files import PostgresFiles
PostgresFiles(connected({dsn!r}), "files_killed").lock("a", 5).__enter__()
os.kill(os.getpid(), signal.SIGKILL)
"""
    assert subprocess.run([sys.executable, "-c", code]).returncode == -9
    with PostgresFiles(connected(dsn), "files_killed").lock("a", 5):
        pass
