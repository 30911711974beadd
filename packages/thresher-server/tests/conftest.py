"""Real servers on loopback over a small collection, for every door's tests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import thresher
from tests.conftest import (
    bundled_models,
    collection,
    home,
    indexed,
    kept_reading_processes,
    notes,
    pytest_collection_modifyitems,
    real_model,
    run,
    serve,
)
from tests.servers.own import DOCUMENTS, Running, copied, running

__all__ = [
    "bundled_models",
    "collection",
    "home",
    "indexed",
    "kept_reading_processes",
    "notes",
    "pytest_collection_modifyitems",
    "real_model",
    "run",
    "serve",
]


@pytest.fixture(scope="session")
def indexed_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home whose collection `default` holds `DOCUMENTS`; do not change it."""
    folder = tmp_path_factory.mktemp("served")
    texts = folder / "texts"
    texts.mkdir()
    for name, text in DOCUMENTS.items():
        (texts / name).write_text(text, encoding="utf-8")
    home = folder / "home"
    with thresher.open(home) as collection:
        collection.add(texts)
    return home


@pytest.fixture(scope="session")
def served(indexed_home: Path) -> Iterator[Running]:
    """A server that all read-only tests share."""
    with running(indexed_home) as one:
        yield one


@pytest.fixture
def one(indexed_home: Path, tmp_path: Path) -> Iterator[Running]:
    """A server over a copy of that home, which may be changed; what was asked there stays behind."""
    with running(copied(indexed_home, tmp_path)) as server:
        yield server


@pytest.fixture
def keyed(indexed_home: Path, tmp_path: Path) -> Iterator[Running]:
    """The same, where every request needs a key."""
    with running(copied(indexed_home, tmp_path), server__require_key=True) as server:
        yield server
