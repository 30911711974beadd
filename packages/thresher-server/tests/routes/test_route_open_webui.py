"""The document loader and the web search, asked as Open WebUI asks them."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import pytest

from tests.servers.own import Running


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
        (b"\x89PNG\r\n\x1a\n" + b"\0" * 50, "a.png", "is a picture"),
        (b"%PDF-1.7 broken", "a.pdf", "a.pdf"),
        (b"<html><body></body></html>", "a.html", "No extractable text"),
    ],
)
def test_a_file_that_cannot_be_read_is_told_why(served: Running, data: bytes, name: str, said: str) -> None:
    reply = served.client.put("/process", content=data, headers={"X-Filename": name})
    assert reply.status_code == 422
    assert said in reply.json()["error"]["message"]


# --- the web search


def test_the_address_says_which_collection_is_searched(served: Running) -> None:
    body = {"query": "When was the lighthouse of Fernby built?", "count": 4}
    assert len(served.client.post("/search?collection=default/rag", json=body).json()) == 4
    reply = served.client.post("/search?collection=nothing", json=body)
    assert reply.status_code == 404
    assert "collection 'nothing': is not here" in reply.json()["error"]["message"]
