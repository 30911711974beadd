"""The cluster of these tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.ray.nodes import Nodes, running


@pytest.fixture(scope="session")
def cluster() -> Iterator[Nodes]:
    """Two nodes of one processor each."""
    with running() as nodes:
        yield nodes
