"""`search` and `fetch`, as ChatGPT's connectors and deep research read them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from mcp import Client
from mcp_agents import BUILT, MODES, acted, called, structure_of, text_of, tool_names
from mcp_types import CallToolResult

import thresher
from tests.servers.own import DOCUMENTS, filled
from thresher_server.mcp.wording import tokens_at_most
from thresher_server.security.keys import Offer, Profile

CHATGPT = Offer(Profile.CHATGPT)


@pytest.mark.parametrize("mode", MODES)
def test_search_and_fetch_have_the_exact_form(mode: str, indexed_home: Path) -> None:
    async def read(client: Client) -> tuple[CallToolResult, CallToolResult]:
        assert await tool_names(client) == ["search", "fetch"]
        [search, fetch] = (await client.list_tools()).tools
        assert list(search.input_schema["properties"]) == search.input_schema["required"] == ["query"]
        assert list(fetch.input_schema["properties"]) == fetch.input_schema["required"] == ["id"]
        found = await client.call_tool("search", {"query": BUILT})
        return found, await client.call_tool("fetch", {"id": structure_of(found)["results"][0]["id"]})

    found, fetched = acted(indexed_home, read, CHATGPT, mode=mode)
    for result in (found, fetched):
        assert json.loads(text_of(result)) == structure_of(result)
    results = structure_of(found)["results"]
    assert all(set(one) == {"id", "title", "url"} and all(one.values()) for one in results)
    assert results[0]["title"] == "The lighthouse"
    page = structure_of(fetched)
    assert set(page) == {"id", "title", "text", "url", "metadata"}
    assert page["text"] == DOCUMENTS["lighthouse.md"].strip()
    assert page["url"].startswith("file://")


@pytest.mark.parametrize("id_", ["nothing", "default/nothing", "../x", "default/x@y"])
def test_an_id_that_is_none_is_an_error(id_: str, indexed_home: Path) -> None:
    assert called(indexed_home, "fetch", offer=CHATGPT, id=id_).is_error


@pytest.mark.slow
def test_a_long_document_is_read_in_parts_that_are_the_whole(tmp_path: Path) -> None:
    file = tmp_path / "long & strange 概要.txt"
    file.write_text("".join(f"Line {n}: “the harbour” opens\t{n}.\n\n" for n in range(450)), encoding="utf-8")
    with thresher.open(tmp_path / "home", "notes & more") as collection:
        collection.add(file)
        [record] = collection.documents()
        whole = collection.document(record.id).text

    async def read(client: Client) -> list[str]:
        found = await client.call_tool("search", {"query": "When does the harbour open?"})
        [result] = structure_of(found)["results"]  # however many of its passages were found
        next_id: str | None = result["id"]
        parts = []
        while next_id:
            fetched = await client.call_tool("fetch", {"id": next_id})
            page = structure_of(fetched)
            assert tokens_at_most(text_of(fetched) + json.dumps(page, ensure_ascii=False)) < 25_000
            parts.append(page["text"])
            next_id = page["metadata"].get("next_id")
        return parts

    parts = acted(tmp_path / "home", read, CHATGPT)
    assert len(parts) > 1
    assert "".join(parts) == whole


def test_the_collections_that_the_operator_names_are_searched(tmp_path: Path) -> None:
    filled(tmp_path / "home", **{name: f"The harbour of {name} opens at six." for name in ("one", "two", "three")})
    offer = Offer(Profile.CHATGPT, collections=frozenset({"one", "two"}))
    found = structure_of(called(tmp_path / "home", "search", offer=offer, query="When does the harbour open?"))
    assert {one["id"].partition("/")[0] for one in found["results"]} == {"one", "two"}
