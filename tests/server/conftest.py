"""A real server on loopback over a small collection, for every door's tests."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
import uvicorn

import thresher
from thresher_server.app import create_app
from thresher_server.service import make_service

DOCUMENTS = {
    "ferry.md": "# The ferry\n\nThe ferry to Gull Island leaves at 06:40. The crossing takes 35 minutes.\n",
    "lighthouse.md": "# The lighthouse\n\nThe lighthouse of Fernby was built in 1849. Its lamp was rebuilt in 1902 "
    "by Ada Holm.\n",
    "tides.md": "# Tides\n\nThe tide at Fernby rises by 4.2 metres in spring. Boats leave the harbour at high tide.\n",
    "rail.md": "# The railway\n\nThe railway from Fernby to Harrow was opened in 1871. It is 24 kilometres long.\n",
}


class Running:
    """A server that listens on loopback: its address, its service, and a client that talks to it."""

    def __init__(self, url: str, app: Any) -> None:
        self.url = url
        self.app = app
        self.service = app.state.service
        self.client = httpx.Client(base_url=url, timeout=60)


@contextmanager
def running(home: Path, **settings: Any) -> Iterator[Running]:
    """A server over a home, open to all of loopback, with settings by dotted key (`server__queue=0`)."""
    given = {"server.open": True, **{name.replace("__", "."): value for name, value in settings.items()}}
    app = create_app(make_service(home, given))
    server = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=0, log_level="error", lifespan="on"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        assert thread.is_alive(), "the server did not start"
        thread.join(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    one = Running(f"http://127.0.0.1:{port}", app)
    try:
        yield one
    finally:
        one.client.close()
        server.should_exit = True
        thread.join()


def copied(home: Path, to: Path) -> Path:
    """A copy of a home that may be changed; what was asked there stays behind."""
    return Path(shutil.copytree(home, to / "home", ignore=shutil.ignore_patterns("traces", "server")))


def filled(home: Path, *files: str, **collections: str) -> Path:
    """A home with collections of one text each: by name and text, or by the file of `DOCUMENTS`, which names it."""
    texts = {name: (f"{name}.txt", text) for name, text in collections.items()}
    texts |= {file.partition(".")[0]: (file, DOCUMENTS[file]) for file in files}
    home.mkdir(parents=True, exist_ok=True)
    for name, (file, text) in texts.items():
        (home.parent / file).write_text(text, encoding="utf-8")
        with thresher.open(home, name) as collection:
            collection.add(home.parent / file)
    return home


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
