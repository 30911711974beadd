"""A recipe without an index: made by a question of who may write, refused to others in every API, listed, removed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from mcp_agents import called, text_of

import thresher
from tests.servers.own import Running, filled, running
from tests.servers.own_api import DEFAULT, added, with_key
from thresher_server.security.keys import Scope

WORDS = "When does the ferry to Gull Island leave?"
ASKED = {"question": WORDS, "recipe": "rag"}
READY = ["corrective", "no-retrieval"]


REQUESTS: Mapping[str, Mapping[str, Any]] = {
    f"{DEFAULT}/ask": {**ASKED, "stream": True},
    f"{DEFAULT}/search": ASKED,
    f"{DEFAULT}/check": {"text": "The ferry leaves at 06:40.", "recipe": "rag"},
    "/v1/chat/completions": {"model": "default/rag", "messages": [{"role": "user", "content": WORDS}]},
    "/v1/responses": {"model": "default/rag", "input": WORDS},
    "/v1/vector_stores/default/rag/search": {"query": WORDS},
}


@pytest.fixture
def fresh(tmp_path: Path) -> Iterator[Running]:
    """A server over two collections, `default` with an index of the usual recipe alone."""
    home = filled(tmp_path / "home", default="The ferry to Gull Island leaves at 06:40.")
    with thresher.open(home, collection="archive") as archive:
        archive.add_text("The storm of 1883 sank nine boats.", source="storm", recipe="rag")
    with running(home, server__require_key=True) as one:
        yield one


def test_who_may_only_ask_is_told_in_each_api_how_an_index_is_made(fresh: Running) -> None:
    asker = with_key(fresh.service.home, "mara", Scope.READ, Scope.ASK)
    for path, body in REQUESTS.items():
        told = fresh.client.post(path, json=body, headers=asker)
        assert told.status_code == 409, (path, told.text)
        message = told.json()["error"]["message"]
        assert "thresher index --recipe rag --collection default" in message
        assert "with a key that has the scope write or admin" in message
    assert fresh.client.get(DEFAULT, headers=asker).json()["ready"] == READY
    listed = fresh.client.get("/v1/models?recipes=true", headers=asker).json()["data"]
    assert [one["id"] for one in listed if "default" in one["id"]] == ["default", "default/corrective"]
    elsewhere = {"question": WORDS, "outside": "collection:archive"}
    told = fresh.client.post(f"{DEFAULT}/ask", json=elsewhere, headers=asker)
    assert told.status_code == 409
    assert "in collection archive" in told.json()["error"]["message"]
    agent = called(fresh.service.home, "ask", question=WORDS, recipe="rag")
    assert agent.is_error
    assert "thresher index --recipe rag" in text_of(agent)


def test_who_may_write_makes_it_by_asking_and_new_documents_go_into_it(fresh: Running) -> None:
    fresh.client.headers.update(with_key(fresh.service.home, "eva", *Scope))
    before = fresh.client.get(DEFAULT).json()
    assert "06:40" in fresh.client.post(f"{DEFAULT}/ask", json=ASKED).json()["text"]
    status = fresh.client.get(DEFAULT).json()
    assert "rag" in status["ready"]
    assert (status["documents"], status["chunks"]) == (before["documents"], before["chunks"])
    (table,) = (one for one in status["tables"] if "rag" in one["recipes"])
    assert table["bytes"] > 0
    added(fresh, [("seal.md", b"# Seals\n\nTwelve seals live on Seal Rock.\n")])
    chunks = {table["name"]: table["chunks"] for table in fresh.client.get(DEFAULT).json()["tables"]}
    assert chunks[table["name"]] == table["chunks"] + 1
    with thresher.open(fresh.service.home) as collection:  # as another process
        assert "rag" in collection.discard("rag")
    assert fresh.client.get(DEFAULT).json()["ready"] == READY
    assert "06:40" in fresh.client.post(f"{DEFAULT}/ask", json=ASKED).json()["text"]
