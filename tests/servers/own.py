"""Our own server on loopback: in a thread of the tests, or in a process that a test may kill."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import uvicorn

import thresher
from thresher.indexing.store import BATCH_CHUNKS, CHUNK_CHARACTERS
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


def notes(folder: Path, number: int, padding: str = "") -> list[str]:
    """So many files, each with a text of its own."""
    folder.mkdir(parents=True, exist_ok=True)
    files = []
    for at in range(number):
        file = folder / f"note{at:03}.txt"
        file.write_text(f"Note {at}. The buoy number {at} lies {at + 3} miles off the coast of Fernby.{padding}")
        files.append(str(file))
    return files


BATCH_CHARACTERS = BATCH_CHUNKS * CHUNK_CHARACTERS
"""Of a batch that indexing commits at once."""

SERVER = """
import sys, uvicorn
from pathlib import Path
from thresher.indexing.store import BATCH_CHUNKS, CHUNK_CHARACTERS
from thresher_server.app import create_app
from thresher_server.service import make_service
app = create_app(make_service(Path(sys.argv[1]), {"server.open": True}))
config = uvicorn.Config(app, host="127.0.0.1", port=0, log_level="error")
server = uvicorn.Server(config)
original = server.startup
async def startup(sockets=None):
    await original(sockets)
    print(server.servers[0].sockets[0].getsockname()[1], flush=True)
server.startup = startup
server.run()
"""


class Served:
    """A server in a process of its own."""

    def __init__(self, home: Path) -> None:
        self.process = subprocess.Popen([sys.executable, "-c", SERVER, str(home)], stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        port = int(self.process.stdout.readline())
        self.client = httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60)

    def kill(self) -> None:
        os.kill(self.process.pid, signal.SIGKILL)
        self.close()

    def stop(self) -> None:
        self.process.terminate()
        self.close()

    def close(self) -> None:
        self.client.close()
        self.process.wait()
        assert self.process.stdout is not None
        self.process.stdout.close()
