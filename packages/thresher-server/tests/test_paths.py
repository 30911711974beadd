"""Where files lie on the server's machine is nobody's who asks it: a source is a file's name, through every door."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from mcp import Client
from mcp_agents import BUILT, UNKNOWN, acted_at, structure_of

import thresher
from tests.servers.own import DOCUMENTS, Running, running
from tests.servers.own_api import DEFAULT, added, documents, ended, sent

ROOT = "machine-of-the-operator"
"""A folder that home and documents lie in: no reply holds its name."""


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home below `ROOT` with a collection of files, a row of a corpus and an archive, and one that is empty."""
    folder = tmp_path_factory.mktemp("paths") / ROOT
    texts = folder / "my texts" / "below"
    texts.mkdir(parents=True)
    for name, text in DOCUMENTS.items():
        (texts / name).write_text(text, encoding="utf-8")
    (texts / "copy of ferry.md").write_text(DOCUMENTS["ferry.md"], encoding="utf-8")
    shutil.make_archive(str(texts / "packed"), "zip", texts, "tides.md")
    (texts / "broken.pdf").write_bytes(b"%PDF-1.4 broken")
    with thresher.open(folder / "home") as collection:
        collection.add(texts)
    return folder / "home"


@pytest.fixture
def one(kept: Path, tmp_path: Path) -> Iterator[Running]:
    home = Path(shutil.copytree(kept, tmp_path / ROOT / "home"))
    with running(home) as server:
        yield server


def silent(reply: httpx.Response) -> httpx.Response:
    """A reply that names no folder of the machine, neither in its body nor in its headers."""
    told = f"{reply.text}\n{reply.headers}"
    assert ROOT not in told, told[max(0, told.find(ROOT) - 200) :][:400]
    return reply


QUESTIONS: list[tuple[str, dict[str, Any]]] = [
    (f"{DEFAULT}/search", {"question": BUILT}),
    (f"{DEFAULT}/search", {"question": BUILT, "max_tokens": 200}),
    (f"{DEFAULT}/check", {"text": "The lighthouse of Fernby was built in 1849."}),
    (f"{DEFAULT}/ask", {"question": BUILT}),
    (f"{DEFAULT}/ask", {"question": UNKNOWN}),
    (f"{DEFAULT}/ask", {"question": BUILT, "stream": True}),
    ("/v1/chat/completions", {"model": "default", "messages": [{"role": "user", "content": BUILT}]}),
    ("/v1/chat/completions", {"model": "default", "messages": [{"role": "user", "content": BUILT}], "stream": True}),
    ("/v1/responses", {"model": "default", "input": BUILT}),
    ("/v1/responses", {"model": "default", "input": BUILT, "stream": True}),
    ("/v1/vector_stores/default/search", {"query": BUILT}),
    ("/retrieval", {"knowledge_id": "default", "query": BUILT, "retrieval_setting": {"top_k": 5}}),
    ("/search", {"query": BUILT, "count": 5}),
]


def test_what_answers_a_question_names_files_alone(one: Running) -> None:
    for path, asked in QUESTIONS:
        reply = silent(one.client.post(path, json=asked))
        assert reply.status_code == 200, (path, reply.text)
        assert asked.get("question") == UNKNOWN or "lighthouse" in reply.text


def test_documents_traces_and_gaps_name_files_alone(one: Running) -> None:
    one.client.post(f"{DEFAULT}/ask", json={"question": UNKNOWN})
    trace = one.client.post(f"{DEFAULT}/ask", json={"question": BUILT}).json()["trace"]
    conversation = one.client.post(f"{DEFAULT}/conversations").json()["id"]
    one.client.post(f"{DEFAULT}/ask", json={"question": BUILT, "conversation": conversation})
    found = documents(one)
    assert {"copy of ferry.md", "lighthouse.md"} < {document["source"] for document in found}
    assert ["ferry.md"] in [document["also"] for document in found]
    for path in (
        DEFAULT,
        f"{DEFAULT}/documents",
        f"{DEFAULT}/traces",
        f"{DEFAULT}/traces/{trace}",
        f"{DEFAULT}/gaps",
        f"{DEFAULT}/conversations",
        f"{DEFAULT}/conversations/{conversation}",
        "/api/collections",
        "/api/recipes",
        "/api/recipes/corrective",
        "/v1/models",
        "/metrics",
        "/openapi.json",
        "/",
        *(f"{DEFAULT}/documents/{document['id']}" for document in found),
        *(f"{DEFAULT}/documents/{document['id']}/text" for document in found),
        *(f"{DEFAULT}/documents/{document['id']}/file" for document in found),
        *(f"/d/default/{document['id']}" for document in found),
    ):
        assert silent(one.client.get(path)).status_code in (200, 404)
    assert silent(one.client.post(f"{DEFAULT}/traces/{trace}/replay")).json()["differences"] == []
    assert silent(one.client.post(f"{DEFAULT}/traces/{trace}/feedback", json={"right": True})).status_code == 200


def test_jobs_and_what_is_deleted_name_files_alone(one: Running) -> None:
    told = added(one, [("broken.pdf", b"%PDF-1.4 broken"), ("mill.md", b"The mill of Fernby has four sails.")])
    assert [row["source"] for row in told["result"]["failed"]] == ["broken.pdf"]
    assert silent(one.client.get(f"/api/jobs/{told['id']}")).json()["log"]
    silent(one.client.get("/api/jobs"))
    job = sent(one, [("mill.md", b"The mill of Fernby has five sails.")]).json()["job"]
    silent(one.client.get(f"/api/jobs/{job}/events"))
    (mill,) = documents(one, words="mill")
    again = one.client.post(f"{DEFAULT}/documents/{mill['id']}/reindex").json()["job"]
    ended(one, again)
    silent(one.client.get(f"/api/jobs/{again}/events"))
    for document in documents(one):
        reply = silent(one.client.delete(f"{DEFAULT}/documents/{document['id']}", params={"purge": True}))
        assert document["source"] in reply.json()["deleted"]


def test_a_filter_compares_the_name_alone(one: Running) -> None:
    for where, number in (
        ("source = 'rail.md'", 1),
        ("source LIKE '/%'", 0),
        (f"source LIKE '%{ROOT}%'", 0),
        ("source < '/zzz'", 0),
        ("NOT source LIKE '/%' AND kind = 'markdown'", 4),
    ):
        assert len(documents(one, where=where)) == number, where
        asked = {"question": BUILT, "where": where, "limit": 50}
        assert bool(one.client.post(f"{DEFAULT}/search", json=asked).json()["hits"]) == bool(number)


def test_errors_name_no_folder(one: Running) -> None:
    assert silent(one.client.get(f"{DEFAULT}/documents", params={"where": "nothing = 1"})).status_code == 422
    asked = {"question": BUILT, "outside": "collection:nowhere"}
    assert silent(one.client.post(f"{DEFAULT}/ask", json=asked)).status_code == 422
    trace = one.client.post(f"{DEFAULT}/ask", json={"question": BUILT}).json()["trace"]
    [file] = one.service.home.rglob(f"{trace}.json")
    file.write_text("{", encoding="utf-8")
    assert silent(one.client.get(f"{DEFAULT}/traces/{trace}")).status_code == 404
    for table in one.service.home.rglob("documents.lance/_versions/*"):
        table.write_bytes(b"damaged")
    one.service.engine.forget("default")
    for path, body in QUESTIONS:
        assert silent(one.client.post(path, json=body)).status_code >= 200
    assert silent(one.client.get(f"{DEFAULT}/documents")).status_code >= 400
    job = sent(one, [("mill.md", b"The mill of Fernby has four sails.")]).json()["job"]
    assert ended(one, job)["state"] == "failed"
    silent(one.client.get(f"/api/jobs/{job}"))


def test_an_agent_over_http_reads_names_alone(one: Running) -> None:
    calls = [
        ("ask", {"question": UNKNOWN}),
        ("search_documents", {"question": BUILT}),
        ("list_documents", {}),
        ("check", {"text": "The lighthouse of Fernby was built in 1849."}),
    ]

    async def act(client: Client) -> list[Any]:
        asked = await client.call_tool("ask", {"question": BUILT})
        explained = await client.call_tool("explain", {"trace": structure_of(asked)["trace"]})
        others = [await client.call_tool(tool, given) for tool, given in calls]
        return [asked, explained, *others, await client.list_resources()]

    async def chatgpt(client: Client) -> list[Any]:
        found = await client.call_tool("search", {"query": BUILT})
        return [found, await client.call_tool("fetch", {"id": structure_of(found)["results"][0]["id"]})]

    for told in (*acted_at(f"{one.url}/mcp", act), *acted_at(f"{one.url}/mcp/chatgpt", chatgpt)):
        assert ROOT not in told.model_dump_json()
