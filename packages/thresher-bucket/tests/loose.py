"""A server that speaks enough of S3 to be written to, and ignores every condition."""

from __future__ import annotations

import hashlib
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote, urlsplit

HOST = "127.0.0.5"


class LooseStore(BaseHTTPRequestHandler):
    """Objects in memory; `heeds` names the condition that it does keep to."""

    protocol_version = "HTTP/1.1"
    objects: dict[str, bytes]
    heeds: str

    def do_PUT(self) -> None:
        """Keep an object."""
        content = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.heeds == "If-None-Match" and self.headers.get("If-None-Match") and self._name in self.objects:
            self._reply(412)
            return
        self.objects[self._name] = content
        self._reply(200, tag=hashlib.md5(content).hexdigest())

    def do_GET(self) -> None:
        """Return an object."""
        content = self.objects.get(self._name)
        self._reply(404 if content is None else 200, content or b"", tag="x")

    def do_DELETE(self) -> None:
        """Remove an object."""
        self.objects.pop(self._name, None)
        self._reply(204)

    def do_POST(self) -> None:
        """Remove several."""
        asked = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
        gone = "".join(f"<Deleted><Key>{name}</Key></Deleted>" for name in re.findall("<Key>(.*?)</Key>", asked))
        self._reply(200, f"<DeleteResult>{gone}</DeleteResult>".encode())

    @property
    def _name(self) -> str:
        return unquote(urlsplit(self.path).path)

    def _reply(self, status: int, content: bytes = b"", *, tag: str = "") -> None:
        self.send_response(status)
        self.send_header("ETag", f'"{tag}"')
        self.send_header("Last-Modified", "Mon, 05 Jan 2026 10:00:00 GMT")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@contextmanager
def loose(heeds: str = "") -> Iterator[str]:
    """Such a server; its address."""
    handler = type("Handler", (LooseStore,), {"objects": {}, "heeds": heeds})
    server = ThreadingHTTPServer((HOST, 0), handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://{HOST}:{server.server_address[1]}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
