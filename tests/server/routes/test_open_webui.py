"""The document loader and the web search, asked as Open WebUI asks them."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from tests.server.conftest import Running, running
from thresher_server.security.keys import Keys, Scope


def loaded(served: Running, data: bytes, name: str, kind: str | None = "application/octet-stream") -> Any:
    """What the loader of Open WebUI sends: the bytes, the guessed type, the name percent-encoded."""
    headers = {"Authorization": "Bearer any", "X-Filename": quote(name)}
    reply = served.client.put("/process", content=data, headers=headers | ({"Content-Type": kind} if kind else {}))
    assert reply.status_code == 200, reply.text
    return reply.json()


# --- the document loader


def test_a_file_comes_back_as_text(served: Running) -> None:
    data = "# Ääkkö\n\nDer Leuchtturm wurde 1849 gebaut. 🎉\n".encode()
    (one,) = loaded(served, data, "Über uns & mehr.md", "text/markdown")
    assert "Der Leuchtturm wurde 1849 gebaut. 🎉" in one["page_content"]
    assert one["metadata"]["source"] == "Über uns & mehr.md"
    assert one["metadata"]["title"] == "Ääkkö"
    assert one["metadata"]["kind"] == "markdown"


def test_a_file_without_a_name_is_known_by_its_type(served: Running) -> None:
    page = b"<html><head><title>Tides</title></head><body><p>The tide rises by 4.2 metres.</p></body></html>"
    headers = {"Content-Type": "text/html; charset=utf-8"}
    (one,) = served.client.put("/process", content=page, headers=headers).json()
    assert one["metadata"]["title"] == "Tides"
    assert "4.2 metres" in one["page_content"]


def test_the_name_is_a_name_and_no_path(served: Running) -> None:
    for name in ("../../etc/passwd.txt", "C:\\Users\\me\\passwd.txt", "/etc/passwd.txt"):
        (one,) = loaded(served, b"The word is here.\n", name, "text/plain")
        assert one["metadata"]["source"] == "passwd.txt"
        assert one["page_content"].strip() == "The word is here."


def test_a_file_does_not_say_what_open_webui_shows_as_a_page(served: Running) -> None:
    data = b"---\ntitle: Note\nhtml: true\nfile_id: 7\nauthor: Ada\n---\n\nSome words stand here.\n"
    (one,) = loaded(served, data, "note.md")
    assert one["metadata"]["author"] == "Ada"
    assert {"html", "file_id"}.isdisjoint(one["metadata"])


@pytest.mark.parametrize(
    ("data", "name", "said"),
    [
        (b"", "a.md", "the file is empty"),
        (b"\x89PNG\r\n\x1a\n" + b"\0" * 50, "a.png", "PNG"),
        (b"%PDF-1.7 broken", "a.pdf", "a.pdf"),
        (b"<html><body></body></html>", "a.html", "No extractable text"),
    ],
)
def test_a_file_that_cannot_be_read_is_told_why(served: Running, data: bytes, name: str, said: str) -> None:
    reply = served.client.put("/process", content=data, headers={"X-Filename": name})
    assert reply.status_code == 422
    assert said in reply.json()["error"]["message"]


def test_a_file_that_is_too_large_is_refused(tmp_path: Path) -> None:
    with running(tmp_path, server__max_body_megabytes=0.001, server__max_upload_megabytes=0.01) as one:
        assert one.client.put("/process", content=b"words " * 1000, headers={"X-Filename": "a.txt"}).status_code == 200
        assert one.client.put("/process", content=b"words " * 2000, headers={"X-Filename": "a.txt"}).status_code == 413


def test_the_loader_needs_a_key_that_may_ask(tmp_path: Path) -> None:
    keys = Keys(tmp_path)
    asker, reader = keys.make("asker", [Scope.ASK], None), keys.make("reader", [Scope.READ], None)
    with running(tmp_path, server__require_key=True) as one:

        def put(headers: dict[str, str]) -> int:
            return one.client.put("/process", content=b"Words.", headers={"X-Filename": "a.txt", **headers}).status_code

        assert put({}) == 401
        assert put({"Authorization": f"Bearer {reader}"}) == 403
        assert put({"Authorization": f"Bearer {asker}"}) == 200


# --- the web search


def test_a_search_gives_links_titles_and_passages(served: Running) -> None:
    body = {"query": "When was the lighthouse of Fernby built?", "count": 2}
    results = served.client.post("/search", json=body, headers={"Authorization": "Bearer any"}).json()
    assert 1 <= len(results) <= 2
    assert set(results[0]) == {"link", "title", "snippet"}
    assert results[0]["title"] == "The lighthouse"
    assert "built in 1849" in results[0]["snippet"]
    assert results[0]["link"].startswith(f"{served.url}/d/default/")


def test_the_address_says_which_collection_is_searched(served: Running) -> None:
    body = {"query": "When was the lighthouse of Fernby built?", "count": 4}
    assert len(served.client.post("/search?collection=default/rag", json=body).json()) == 4
    reply = served.client.post("/search?collection=nothing", json=body)
    assert reply.status_code == 404
    assert "collection 'nothing': is not here" in reply.json()["error"]["message"]


def test_links_lead_to_the_public_address(indexed_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("THRESHER_PUBLIC_URL", "http://localhost:7/docs")
    with running(indexed_home) as one:
        (first, *_) = one.client.post("/search", json={"query": "When was the lighthouse built?"}).json()
    assert first["link"].startswith("http://localhost:7/docs/d/default/")


@pytest.mark.parametrize(
    "body", [{"query": " "}, {"query": "x", "count": 0}, {"query": "x", "count": 51}, {"count": 3}, {"query": ["x"]}]
)
def test_a_bad_search_is_refused(served: Running, body: dict[str, Any]) -> None:
    assert served.client.post("/search", json=body).status_code == 422
