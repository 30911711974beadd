"""What is told of the process itself."""

from __future__ import annotations

import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.servers.own import Running, copied, running
from tests.servers.own_api import DEFAULT, QUESTION
from thresher.collection import Collection
from thresher_server.security import guard
from thresher_server.security.keys import Keys, Scope


def test_a_process_tells_its_state_its_counters_and_a_strict_policy(served: Running) -> None:
    assert served.client.get("/health").json()["status"] == served.client.get("/ready").json()["status"] == "ok"
    told = served.client.get("/metrics")
    assert told.headers["content-type"].startswith("text/plain")
    assert "thresher_questions_total" in told.text
    assert told.headers["content-security-policy"].startswith("default-src 'none'")
    assert told.headers["x-content-type-options"] == "nosniff"


def test_a_key_is_asked_for_where_it_must_be(tmp_path: Path) -> None:
    keys = Keys(tmp_path)
    reader, other = keys.make("reader", [Scope.READ], None), keys.make("other", [Scope.ASK], ["papers"])
    with running(tmp_path, server__require_key=True) as one:
        assert one.client.get("/metrics").status_code == 401
        assert one.client.get("/metrics", headers={"Authorization": "Bearer thr_0_0"}).status_code == 401
        assert one.client.get("/metrics", headers={"Authorization": f"Bearer {reader}"}).status_code == 200
        assert one.client.get("/metrics", headers={"X-API-Key": reader}).status_code == 200
        assert one.client.get("/metrics", headers={"X-API-Key": other}).status_code == 403
        keys.revoke("reader")
        assert one.client.get("/metrics", headers={"X-API-Key": reader}).status_code == 401


def test_a_body_that_comes_in_pieces_is_refused_as_soon_as_it_is_too_large(tmp_path: Path) -> None:
    with running(tmp_path, server__max_body_megabytes=0.001) as one:
        told = one.client.post("/v2/rerank", content=(b"x" * 500 for _ in range(10)), headers=JSON)
        assert told.status_code == 413


JSON = {"Content-Type": "application/json"}


def test_a_body_of_which_nothing_comes_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "SILENT_SECONDS", 0.3)
    with running(tmp_path) as one, socket.create_connection(("127.0.0.1", int(one.url.rsplit(":", 1)[1]))) as line:
        line.settimeout(20)
        line.sendall(b"POST /v2/rerank HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n")
        line.sendall(b"Content-Length: 50\r\n\r\n{")
        assert line.recv(65_536).startswith(b"HTTP/1.1 408 ")


def test_lists_wait_in_a_queue_and_hold_up_neither_questions_nor_signs_of_life(
    indexed_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    go_on, begun = threading.Event(), threading.Semaphore(0)
    listing = Collection.documents

    def slow(self: Collection, **given: Any) -> Any:
        begun.release()
        assert go_on.wait(60)
        return listing(self, **given)

    with running(copied(indexed_home, tmp_path), server__concurrency=1, server__queue=1) as one:
        path = f"{DEFAULT}/documents"
        with monkeypatch.context() as patched, ThreadPoolExecutor(2) as pool:
            patched.setattr(Collection, "documents", slow)
            both = [pool.submit(httpx.get, f"{one.url}{path}", timeout=60) for _ in range(2)]
            assert begun.acquire(timeout=60)
            while one.service.reading.inside < 2:
                time.sleep(0.01)
            refused = one.client.get(path)
            assert (refused.status_code, refused.headers["Retry-After"]) == (429, "2")
            assert one.client.get("/health").json()["status"] == "ok"
            assert one.client.post(f"{DEFAULT}/ask", json=QUESTION).status_code == 200
            go_on.set()
            assert [done.result().status_code for done in both] == [200, 200]
        assert one.client.get(path).status_code == 200
