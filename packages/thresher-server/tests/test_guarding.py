"""What a stranger tries at the server: other pages, other names, other people's records, too much at once, silence."""

from __future__ import annotations

import asyncio
import json
import socket
import time
from contextlib import ExitStack
from pathlib import Path

import pytest
import uvicorn

from tests.servers.own import Running, copied, running
from thresher.errors import UsageError
from thresher_server.app import create_app
from thresher_server.security.guard import Bounded
from thresher_server.security.keys import Keys, Scope
from thresher_server.service import make_service

QUESTION = {"question": "When was the lighthouse of Fernby built?"}


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "DELETE"])
def test_a_picture_in_another_page_reaches_nothing(served: Running, method: str, site: str) -> None:
    sent = {"Sec-Fetch-Site": site, "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "image"}
    assert served.client.request(method, "/api/collections", headers=sent).status_code == 403


def test_a_person_may_follow_a_link_to_the_page(served: Running) -> None:
    sent = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
    assert served.client.get("/", headers=sent).status_code == 200
    assert served.client.post("/api/collections", headers=sent, json={"name": "x"}).status_code == 403


def test_the_links_of_an_answer_do_not_follow_the_host_header(served: Running) -> None:
    port = served.url.rpartition(":")[2]
    hit = served.client.post(
        "/api/collections/default/search", json=QUESTION, headers={"Host": "evil.localhost:1"}
    ).json()["hits"][0]
    assert hit["url"].startswith(f"http://127.0.0.1:{port}/d/")


@pytest.mark.parametrize("name", ["operator", "Loopback", " agent ", "carol\x1b[2J"])
def test_no_key_takes_a_name_of_the_servers_own(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError):
        Keys(tmp_path).make(name, [Scope.ASK], None)


def test_another_key_of_the_same_name_sees_nothing_of_the_first(tmp_path: Path) -> None:
    keys = Keys(tmp_path)
    first = keys.caller(keys.make("carol", [Scope.ASK], None))
    keys.revoke("carol")
    second = keys.caller(keys.make("carol", [Scope.ASK], None))
    assert first is not None
    assert second is not None
    assert first.name == second.name
    assert first.identity != second.identity


def test_what_one_asker_says_of_an_answer_is_not_another_ones_word(indexed_home: Path) -> None:
    keys = Keys(indexed_home)
    headers = [{"Authorization": f"Bearer {keys.make(name, [Scope.ASK], None)}"} for name in ("ann", "bob")]
    with running(indexed_home, server__require_key=True) as one:
        asked = [one.client.post("/api/collections/default/ask", json=QUESTION, headers=own) for own in headers]
        trace = asked[0].json()["trace"]
        below = f"/api/collections/default/traces/{trace}"
        assert one.client.post(f"{below}/feedback", json={"right": False}, headers=headers[0]).status_code == 200
        said = [one.client.get(below, headers=own).json()["feedback"] for own in headers]
    assert said == [{"right": False, "answer": None}, None]


def test_forty_thousand_settings_are_refused_before_they_are_looked_at(served: Running) -> None:
    settings = {f"nothing.{number}": 1 for number in range(40_000)}
    refused = served.client.post("/api/collections/default/search", json={**QUESTION, "settings": settings})
    assert refused.status_code == 422
    assert "more than 200" in refused.json()["error"]["message"]


READS = ("/api/session", "/api/collections", "/metrics", "/v1/models")


def test_on_loopback_only_who_has_the_token_of_the_start_or_a_key_is_let_in(tmp_path: Path) -> None:
    with running(tmp_path, server__open=False) as one:
        token, key = one.service.token, Keys(tmp_path).make("carol", [Scope.READ, Scope.ASK], None)
        for given, status in ((None, 401), ("x", 401), ("any", 401), (token, 200), (key, 200)):
            headers = {} if given is None else {"Authorization": f"Bearer {given}"}
            assert {one.client.get(path, headers=headers).status_code for path in READS} == {status}
        assert one.client.delete("/api/collections/default").status_code == 401
        assert one.client.post("/mcp", json={}).status_code == 401
        assert one.client.get("/").status_code == one.client.get("/health").status_code == 200


def test_each_start_has_another_token_and_an_open_server_has_none(tmp_path: Path) -> None:
    closed, again = make_service(tmp_path), make_service(tmp_path)
    assert len(closed.token) >= 32
    assert closed.token != again.token
    for settings in ({"server.open": True}, {"server.require_key": True}, {"server.open": True, "server.host": "::"}):
        assert make_service(tmp_path, settings).token == ""


def replied(one: Running, head: str, body: bytes = b"") -> str:
    """The status line of the reply to a request whose body does not come to its end."""
    host, _, port = one.url.removeprefix("http://").partition(":")
    with socket.create_connection((host, int(port)), timeout=10) as connection:
        connection.sendall(f"{head}\r\nHost: {host}\r\n\r\n".encode() + body)
        return connection.recv(200).split(b"\r\n")[0].decode()


def test_the_body_of_who_has_no_key_is_not_read(tmp_path: Path) -> None:
    with running(tmp_path, server__require_key=True) as one:
        for path in ("/api/collections/default/ask", "/v1/rerank", "/v1/chat/completions", "/mcp"):
            for told in ("Content-Length: 4000000", "Transfer-Encoding: chunked"):
                head = f"POST {path} HTTP/1.1\r\nContent-Type: application/json\r\n{told}"
                assert " 401 " in replied(one, head), (path, told)


@pytest.mark.parametrize(("method", "path", "together"), [("POST", "/v1/rerank", 8), ("PUT", "/process", 1)])
def test_bodies_have_a_bound_together(tmp_path: Path, method: str, path: str, together: int) -> None:
    bounds = {"server__max_body_megabytes": 0.001, "server__max_upload_megabytes": 0.001}
    with running(tmp_path, **bounds) as one, ExitStack() as stack:
        host, _, port = one.url.removeprefix("http://").partition(":")
        head = f"{method} {path} HTTP/1.1\r\nHost: {host}\r\nContent-Length: 1000\r\nExpect: 100-continue\r\n\r\n"
        for _ in range(together):
            connection = stack.enter_context(socket.create_connection((host, int(port)), timeout=60))
            connection.sendall(head.encode())
            assert connection.recv(100).startswith(b"HTTP/1.1 100 ")  # sent when the body is read: its room is taken
        reply = one.client.request(method, path, content=b" " * 1000)
        assert (reply.status_code, reply.headers["retry-after"]) == (429, "2")
        stack.close()
        ends = time.monotonic() + 10
        while one.client.request(method, path, content=b" " * 1000).status_code == 429:
            assert time.monotonic() < ends


def test_every_request_and_refusal_is_in_the_audit(indexed_home: Path, tmp_path: Path) -> None:
    home = copied(indexed_home, tmp_path)
    key = Keys(home).make("carol", [Scope.READ, Scope.ASK], ["default"])
    own = {"Authorization": f"Bearer {key}"}
    with running(home, server__require_key=True) as one:
        document = one.client.get("/api/collections/default/documents", headers=own).json()["documents"][0]["id"]
        one.client.get(f"/api/collections/default/documents/{document}/text", headers=own)
        one.client.post("/v1/embeddings", json={"input": "x"}, headers=own)
        one.client.post("/api/collections/default/calibrate", json={}, headers=own)
        one.client.get("/api/collections/other%1b%5b2J/documents", headers=own)
        one.client.get("/metrics", headers=own)
        one.client.delete("/api/collections/default")
        one.client.get("/health")
    lines = [json.loads(line) for line in (home / "server" / "audit.jsonl").read_text(encoding="ascii").splitlines()]
    assert [(line["caller"], line["did"], line["status"]) for line in lines if "status" in line] == [
        ("carol", "GET /api/collections/default/documents", 200),
        ("carol", f"GET /api/collections/default/documents/{document}/text", 200),
        ("carol", "POST /v1/embeddings", 200),
        ("carol", "POST /api/collections/default/calibrate", 403),
        ("carol", "GET /api/collections/other%1B%5B2J/documents", 404),
        ("carol", "GET /metrics", 403),
        ("", "DELETE /api/collections/default", 401),
    ]


class Hasty(Bounded):
    """With bounds that a test can wait for."""

    head_seconds = 0.5
    most_of_address = 3


async def _attacked(home: Path) -> tuple[list[bytes], bytes]:
    app = create_app(make_service(home, {}), routes=("routes.health",), mounts=())
    server = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=0, log_level="error", http=Hasty))
    serving = asyncio.create_task(server.serve())
    while not server.started:
        await asyncio.sleep(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    lines = [await asyncio.open_connection("127.0.0.1", port) for _ in range(3)]
    lines[0][1].write(b"GET /health HTTP/1.1\r\nHost: loc")  # half a head
    fourth = await asyncio.open_connection("127.0.0.1", port)
    refused = await _rest(*fourth)
    ended = [await asyncio.wait_for(_rest(*line), 10) for line in lines]
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(b"GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
    answered = await asyncio.wait_for(_rest(reader, writer), 10)
    server.should_exit = True
    await serving
    return [refused, *ended], answered


async def _rest(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bytes:
    try:
        return await reader.read()
    except ConnectionResetError:
        return b""
    finally:
        writer.close()


def test_half_heads_and_silence_are_closed_and_an_address_has_so_many_connections(tmp_path: Path) -> None:
    closed, answered = asyncio.run(_attacked(tmp_path))
    assert closed == [b""] * 4
    assert answered.startswith(b"HTTP/1.1 200")
