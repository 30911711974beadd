"""The cluster of these tests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp

import pytest

from tests.ray.nodes import HEAD, SECOND, Nodes


@pytest.fixture(scope="session")
def cluster() -> Iterator[Nodes]:
    """Two nodes of one processor each."""
    folder = Path(mkdtemp(prefix="ray-", dir="/tmp"))  # the path of a socket has 107 characters at most
    nodes = Nodes(folder)
    try:
        nodes.start(HEAD)
        nodes.start(SECOND)
        yield nodes
    finally:
        nodes.end()
        rmtree(folder, ignore_errors=True)
