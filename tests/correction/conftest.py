"""Pages here that a fetcher takes for the public web, and servers that say byte for byte what they are told."""

from __future__ import annotations

import socket
import ssl
import threading
from collections.abc import Callable, Iterator

import pytest

from tests.correction.making import CERTIFICATE, names
from thresher.correction.fetch import PageFetcher
from thresher.models.usage import Meter
from thresher.net.http import Reach
from thresher_testing.llm_server import ScriptedServer


@pytest.fixture
def meter() -> Meter:
    return Meter()


@pytest.fixture
def fetching(meter: Meter) -> Callable[..., PageFetcher]:
    """A fetcher that takes 127.0.0.1 for a public address, and example.test for its name."""

    def make(port: int, **more: object) -> PageFetcher:
        given: dict[str, object] = {"resolve": names(example_test=["127.0.0.1"]), "ports": frozenset({port}), **more}
        reach = {name: given.pop(name) for name in ("resolve", "ports", "tls") if name in given}
        reach["allowed"] = lambda address: str(address) == "127.0.0.1"
        return PageFetcher(**{"meter": meter, "reach": Reach(**reach), **given})  # type: ignore[arg-type]

    return make


@pytest.fixture
def site(
    serve: Callable[..., ScriptedServer], fetching: Callable[..., PageFetcher]
) -> Callable[..., tuple[str, PageFetcher, ScriptedServer]]:
    """Pages by path: their root as example.test, a fetcher for it, and the server."""

    def make(pages: dict[str, object], **more: object) -> tuple[str, PageFetcher, ScriptedServer]:
        server = serve(pages=pages)
        port = int(server.host.rpartition(":")[2])
        return f"http://example.test:{port}", fetching(port, **more), server

    return make


@pytest.fixture
def speak() -> Iterator[Callable[..., int]]:
    """Starts servers that answer each connection by a function of the socket; gives the port."""
    stopped = threading.Event()
    started: list[tuple[socket.socket, threading.Thread]] = []

    def start(say: Callable[[socket.socket, threading.Event], None], *, tls: bool = False) -> int:
        listening = socket.create_server(("127.0.0.1", 0))
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        if tls:
            CERTIFICATE.configure_cert(context)

        def answer() -> None:
            while not stopped.is_set():
                try:
                    connection, _ = listening.accept()
                except OSError:  # closed: the test is over
                    return
                try:
                    with context.wrap_socket(connection, server_side=True) if tls else connection as talking:
                        say(talking, stopped)
                except OSError:  # the client had enough
                    connection.close()

        thread = threading.Thread(target=answer, daemon=True)
        thread.start()
        started.append((listening, thread))
        return int(listening.getsockname()[1])

    yield start
    stopped.set()
    for listening, thread in started:
        listening.shutdown(socket.SHUT_RDWR)
        listening.close()
        thread.join(5)
