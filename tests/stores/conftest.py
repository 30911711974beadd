from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.indexing.making import ENCODER, row
from thresher.stores.lance import LanceChunkTable, LanceStore


@pytest.fixture
def store(tmp_path: Path, request: pytest.FixtureRequest) -> LanceStore:
    """An empty store, of the class that the test is given if it is."""
    made: LanceStore = getattr(request, "param", LanceStore)(tmp_path / "lance")
    return made


@pytest.fixture
def table(store: LanceStore, request: pytest.FixtureRequest) -> LanceChunkTable:
    """The texts of the module, if it has some, each a document."""
    store.create("chunks_t", dimension=ENCODER.dimension)
    opened = store.open("chunks_t")
    texts: Mapping[str, str] = getattr(request.module, "TEXTS", {})
    opened.append([row(id_, text, document_id=f"d{id_}") for id_, text in texts.items()])
    opened.maintain()
    return opened
