from __future__ import annotations

from pathlib import Path

import pytest

from tests.indexing.making import Files, prose
from thresher.indexing.store import DocumentStore
from thresher_testing.memory_store import MemoryStore


@pytest.fixture
def store(tmp_path: Path) -> DocumentStore:
    return DocumentStore(tmp_path / "collection", MemoryStore(tmp_path))


@pytest.fixture
def files() -> Files:
    return Files({f"{name}.txt": prose(name) for name in ("apples", "bears", "clouds")})
