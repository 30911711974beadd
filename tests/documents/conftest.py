from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from thresher.documents.registry import KINDS, FileKind, register


@pytest.fixture
def registering() -> Iterator[Callable[[FileKind], None]]:
    """`register`, forgotten after the test."""
    before = dict(KINDS)
    yield register
    KINDS.clear()
    KINDS.update(before)
