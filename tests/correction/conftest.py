"""Pages here that a fetcher takes for the public web."""

from __future__ import annotations

import ssl
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from tests.correction.making import ARTICLE, CERTIFICATE, names
from thresher.correction.fetch import PageFetcher
from thresher.models.usage import Meter
from thresher.net import Reach
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


class Secure(BaseHTTPRequestHandler):
    """The article at every address; no robots.txt."""

    def do_GET(self) -> None:
        body = ARTICLE.encode()
        self.send_response(404 if "robots" in self.path else 200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Nothing is printed."""


@pytest.fixture
def tls_port() -> Iterator[int]:
    """The port of a server whose certificate is for example.test."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    CERTIFICATE.configure_cert(context)
    with ThreadingHTTPServer(("127.0.0.1", 0), Secure) as server:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server.server_port
        server.shutdown()
        thread.join()
