"""One object store for the session, and what a test needs to reach it."""

from __future__ import annotations

from collections.abc import Iterator
from secrets import token_hex

import pytest

from tests.conftest import bundled_models, run
from tests.servers.bucket import Weed, running, why_not
from thresher_bucket import files as bucket
from thresher_bucket.folder import BucketFolder

__all__ = ["bundled_models", "folder", "reached", "run", "weed"]


@pytest.fixture(scope="session")
def weed() -> Iterator[Weed]:
    """A server that is there for these tests."""
    if why_not():
        pytest.skip(why_not())
    with running() as started:
        started.bucket("tests")
        yield started


@pytest.fixture
def reached(weed: Weed, monkeypatch: pytest.MonkeyPatch) -> Weed:
    """The server, which the environment names; every change is seen at once."""
    for name, value in {**weed.environment, "THRESHER_BUCKET__SECONDS_BEHIND": "0"}.items():
        monkeypatch.setenv(name, value)
    bucket.forget_all()
    return weed


@pytest.fixture
def folder(reached: Weed) -> BucketFolder:
    """A new folder of a bucket."""
    return BucketFolder(f"s3://tests/{token_hex(6)}")
