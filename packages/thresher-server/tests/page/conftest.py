"""The town's documents behind a real server, and a browser that looks at its page."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from browsing import CHROMIUM, chromium, visiting
from playwright.sync_api import Browser, Page
from samples import ARCHIVE, write_notes, write_town

import thresher
from tests.servers.own import Running, running


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One for a file: as long as it is open, nothing else in this process may run an event loop of its own."""
    if not CHROMIUM.exists():
        pytest.skip(f"{CHROMIUM} is not there: apt-get install chromium")
    with chromium() as one:
        yield one


@pytest.fixture(scope="session")
def town_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with the town's documents, and those of its archive in a second collection, which no test changes."""
    folder = tmp_path_factory.mktemp("town")
    (folder / "files").mkdir()
    with thresher.open(folder / "home") as town:
        town.add(*write_town(folder / "files"))
    with thresher.open(folder / "home", collection="archive") as archive:
        archive.add(*write_notes(folder / "old", ARCHIVE))
    return folder / "home"


@pytest.fixture(scope="module")
def town(town_home: Path) -> Iterator[Running]:
    """A server over the town."""
    with running(town_home) as one:
        yield one


@pytest.fixture
def page(browser: Browser, town: Running) -> Iterator[Page]:
    """The page of the town, as a fresh visitor sees it."""
    with visiting(browser, town.url) as one:
        yield one
