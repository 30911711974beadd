from __future__ import annotations

import base64
import contextlib
import gzip
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

import pytest

from thresher.documents.read import parse
from thresher.documents.sources import Item, Limits, discover, fetch
from thresher.errors import DocumentError
from thresher.types import Document


class Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        path = urlsplit(self.path).path  # a proxy is sent the whole address
        if path.startswith("/hop/"):
            left = int(path.rsplit("/", 1)[1])
            self.reply(302, b"", Location=f"/hop/{left - 1}" if left else "/page")
        elif path == "/page":
            self.reply(200, b"<p>Oats.", **{"Content-Type": "text/html"})
        elif path == "/inner":
            self.reply(302, b"", Location="http://10.0.0.1/")
        elif path == "/secret":
            known = self.headers["Authorization"] == "Basic " + base64.b64encode(b"ann:p@ss").decode()
            self.reply(200 if known else 401, b"Rye.")
        elif path == "/fake.pdf":
            self.reply(200, b"<html>Log in", **{"Content-Type": "application/pdf"})
        elif path == "/big":
            self.reply(200, b"x" * 50_000)
        elif path == "/bomb":
            self.reply(200, gzip.compress(bytes(20_000_000)), **{"Content-Encoding": "gzip"})
        elif path == "/slow":
            self.send_response(200)
            self.end_headers()
            for _ in range(40):
                self.wfile.write(b"x")
                self.wfile.flush()
                time.sleep(0.05)
        elif path == "/cut":
            self.send_response(200)
            self.send_header("Content-Length", "1000")
            self.end_headers()
            self.wfile.write(b"short")
        else:
            self.reply(404, b"no")

    def reply(self, code: int, body: bytes, **headers: str) -> None:
        self.send_response(code)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def handle(self) -> None:
        with contextlib.suppress(ConnectionError):  # the client had enough
            super().handle()

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()
    thread.join(5)


def at(url: str) -> Item:
    return Item(source=url, root=url)


def test_a_page_is_fetched_with_what_the_server_says(site: str) -> None:
    data, hints = fetch(at(f"{site}/page"))
    assert hints.content_type == "text/html"
    (document,) = parse(at(f"{site}/page"), data, hints)
    assert isinstance(document, Document)
    assert (document.kind, document.text, document.source) == ("html", "Oats.", f"{site}/page")


def test_a_login_page_in_place_of_a_pdf_is_refused(site: str) -> None:
    item = at(f"{site}/fake.pdf")
    with pytest.raises(DocumentError, match="says it is a PDF but sent text"):
        list(parse(item, *fetch(item)))


def test_five_redirects_are_followed_and_six_are_not(site: str) -> None:
    assert fetch(at(f"{site}/hop/4"))[1].url == f"{site}/page"
    with pytest.raises(DocumentError, match="more than 5 redirects"):
        fetch(at(f"{site}/hop/5"))


@pytest.mark.parametrize(
    ("path", "what"),
    [
        ("/nothing", "the server answered 404"),
        ("/big", "larger than 20,000 bytes"),
        ("/bomb", "larger than 20,000 bytes"),
        ("/cut", "cannot be reached"),
    ],
)
def test_a_reply_that_cannot_be_used_is_refused(site: str, path: str, what: str) -> None:
    with pytest.raises(DocumentError, match=what) as caught:
        fetch(at(site + path), limits=Limits(max_bytes=20_000))
    assert caught.value.subject == site + path
    assert caught.value.next_step


def test_a_server_that_drips_is_given_up(site: str) -> None:
    started = time.monotonic()
    with pytest.raises(DocumentError, match="no complete answer in time"):
        fetch(at(f"{site}/slow"), limits=Limits(timeout_seconds=0.3))
    assert time.monotonic() - started < 2


@pytest.mark.parametrize("url", ["http://127.0.0.1:1/", "http://", "http://[broken", "http://127.0.0.1:99999999/"])
def test_an_address_that_leads_nowhere_is_refused(url: str) -> None:
    with pytest.raises(DocumentError):
        fetch(at(url), limits=Limits(timeout_seconds=2))


def test_a_name_and_password_in_the_address_are_used_and_no_source_shows_them(site: str) -> None:
    (item,) = discover([site.replace("://", "://ann:p%40ss@") + "/secret"])
    assert isinstance(item, Item)
    assert fetch(item)[0] == b"Rye."
    assert (item.source, item.root) == (f"{site}/secret", f"{site}/secret")
    with pytest.raises(DocumentError, match="answered 401"):
        fetch(at(f"{site}/secret"))


def test_the_proxy_of_the_environment_is_used(site: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", site.removeprefix("http://"))  # with or without its scheme, as other programs
    data, hints = fetch(at("http://docs.example/hop/2"))
    assert (data, hints.url) == (b"<p>Oats.", "http://docs.example/page")
    with pytest.raises(DocumentError, match="not on the public internet"):
        fetch(at("http://docs.example/inner"))
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    with pytest.raises(DocumentError, match="cannot be reached"):
        fetch(at("http://docs.example/page"))
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    assert fetch(at(f"{site}/page"))[0] == b"<p>Oats."
