"""Who is asking."""

from __future__ import annotations

from pathlib import Path

from tests.servers.own import Running, running
from tests.servers.own_api import with_key
from thresher_server.security.keys import Scope


def test_whoever_reaches_loopback_may_do_everything(served: Running) -> None:
    told = served.client.get("/api/session").json()
    assert told["caller"] == "loopback"
    assert told["scopes"] == ["admin", "ask", "read", "write"]
    assert told["collections"] is None
    assert told["needs_key"] is False
    assert (told["collection"], told["recipe"], told["chat_model"]) == ("default", "corrective", None)
    assert told["max_upload_bytes"] == 200 * 1024 * 1024


def test_a_key_is_told_what_it_may_do(tmp_path: Path) -> None:
    key = with_key(tmp_path, "reader", Scope.READ, collections=["papers"])
    with running(tmp_path, server__require_key=True) as one:
        assert one.client.get("/api/session").status_code == 401
        told = one.client.get("/api/session", headers=key).json()
    assert (told["caller"], told["scopes"], told["collections"]) == ("reader", ["read"], ["papers"])
    assert told["needs_key"] is True
