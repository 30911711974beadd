"""One server for the session."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.conftest import bundled_models, notes
from tests.servers.postgres import running, why_not

__all__ = ["bundled_models", "dsn", "notes"]


@pytest.fixture(scope="session")
def dsn() -> Iterator[str]:
    """The address of a server that is there for these tests."""
    if why_not():
        pytest.skip(why_not())
    with running() as address:
        yield address
