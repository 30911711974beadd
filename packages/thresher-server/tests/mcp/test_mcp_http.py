"""MCP over HTTP on loopback, against the real application with its keys; what of a caller's rights counts."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import pytest
from mcp import Client
from mcp.server.mcpserver.exceptions import ToolError
from mcp_agents import BUILT, MODES, acted_at, structure_of, text_of, tool_names
from mcp_types import CallToolResult

from tests.servers.own import Running, filled, running
from thresher_server.admission import Admission
from thresher_server.mcp.desk import with_tool_errors
from thresher_server.security.keys import ANYBODY, OPERATOR, READ_ONLY, Caller, Keys, Offer, Scope
from thresher_testing.llm_server import Reply, ScriptedServer

INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}},
}
ACCEPTED = {"Accept": "application/json, text/event-stream"}


@pytest.mark.parametrize("mode", MODES)
def test_an_agent_asks_over_http_and_gets_addresses_that_open(mode: str, served: Running) -> None:
    async def asked(client: Client) -> CallToolResult:
        assert await tool_names(client) == ["search_documents", "list_documents", "ask", "check", "explain"]
        return await client.call_tool("ask", {"question": BUILT})

    told = structure_of(acted_at(f"{served.url}/mcp", asked, mode=mode))
    assert "1849" in told["answer"]
    assert told["citations"][0]["url"].startswith(f"{served.url}/d/default/")


@pytest.mark.parametrize("mode", MODES)
def test_chatgpt_has_an_address_of_its_own(mode: str, served: Running) -> None:
    async def asked(client: Client) -> CallToolResult:
        assert await tool_names(client) == ["search", "fetch"]
        return await client.call_tool("search", {"query": BUILT})

    found = structure_of(acted_at(f"{served.url}/mcp/chatgpt", asked, mode=mode))["results"]
    assert found[0]["url"].startswith(f"{served.url}/d/default/")


# --- keys -------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def keyed_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two collections; keys are made by the tests."""
    return filled(tmp_path_factory.mktemp("keyed") / "home", "lighthouse.md", "ferry.md")


@pytest.fixture(scope="module")
def keyed(keyed_home: Path) -> Iterator[Running]:
    with running(keyed_home, server__require_key=True) as one:
        yield one


def test_a_request_without_a_key_that_counts_is_told_how_to_send_one(keyed: Running) -> None:
    for path in ("/mcp", "/mcp/chatgpt"):
        bare = keyed.client.post(path, json=INITIALIZE, headers=ACCEPTED)
        assert (bare.status_code, bare.headers["www-authenticate"]) == (401, 'Bearer realm="thresher"')
        wrong = keyed.client.post(path, json=INITIALIZE, headers={**ACCEPTED, "Authorization": "Bearer thr_0_0"})
        assert wrong.status_code == 401
        assert 'error="invalid_token"' in wrong.headers["www-authenticate"]
        assert "thresher keys add" in wrong.json()["error_description"]


def test_a_key_with_one_collection_sees_only_that(keyed: Running, keyed_home: Path) -> None:
    key = Keys(keyed_home).make("narrow", [Scope.READ, Scope.ASK], ["ferry"])

    async def asked(client: Client) -> None:
        listed = structure_of(await client.call_tool("list_documents", {}))
        assert listed["collections"] == [{"name": "ferry", "documents": 1}]
        for tool in ("search_documents", "ask"):
            refused = await client.call_tool(tool, {"question": BUILT, "collection": "lighthouse"})
            assert refused.is_error
            assert text_of(refused).endswith("there are: ferry")
        assert [one.name for one in (await client.list_resources()).resources] == ["ferry.md"]
        found = await client.call_tool("search_documents", {"question": "When does the ferry leave?"})
        assert "06:40" in text_of(found)

    for mode in MODES:
        acted_at(f"{keyed.url}/mcp", asked, key=key, mode=mode)


def test_a_key_sees_the_tools_of_its_scopes(keyed: Running, keyed_home: Path) -> None:
    keys = Keys(keyed_home)
    reader = keys.make("reader", [Scope.READ], None)
    writer = keys.make("writer", [Scope.READ, Scope.WRITE], ["ferry"])
    url = f"{keyed.url}/mcp"
    assert acted_at(url, tool_names, key=reader) == ["search_documents", "list_documents"]
    seen = ["search_documents", "list_documents", "add_document", "delete_document"]
    assert acted_at(url, tool_names, key=writer, mode="legacy") == seen
    refused = acted_at(url, lambda client: client.call_tool("ask", {"question": BUILT}), key=reader)
    assert "needs a key with the scope ask" in text_of(refused)


def test_a_key_writes_and_the_audit_log_says_who_did(keyed: Running, keyed_home: Path) -> None:
    key = Keys(keyed_home).make("scribe", [Scope.READ, Scope.WRITE], ["ferry"])

    async def wrote(client: Client) -> None:
        structure_of(await client.call_tool("add_document", {"text": "Fog at noon.", "name": "fog"}))
        structure_of(await client.call_tool("delete_document", {"document": "fog.md"}))

    acted_at(f"{keyed.url}/mcp", wrote, key=key)
    lines = [json.loads(line) for line in (keyed_home / "server" / "audit.jsonl").read_text().splitlines()]
    done = [line["did"] for line in lines if line["caller"] == "scribe" and not line["did"].startswith("POST ")]
    assert done == ["add", "delete"]


def test_the_trace_of_another_key_is_not_told(keyed: Running, keyed_home: Path) -> None:
    keys = Keys(keyed_home)
    one, other = (keys.make(name, [Scope.READ, Scope.ASK], ["lighthouse"]) for name in ("one", "other"))
    url = f"{keyed.url}/mcp"
    trace = structure_of(acted_at(url, lambda client: client.call_tool("ask", {"question": BUILT}), key=one))["trace"]

    def explained(client: Client) -> Any:
        return client.call_tool("explain", {"trace": trace})

    assert not acted_at(url, explained, key=one).is_error
    assert acted_at(url, explained, key=other).is_error


def test_agents_at_once_see_each_their_own(keyed: Running, keyed_home: Path) -> None:
    keys = {name: Keys(keyed_home).make(f"of {name}", [Scope.READ], [name]) for name in ("ferry", "lighthouse")}

    async def listed(client: Client) -> list[str]:
        results = await asyncio.gather(*(client.call_tool("list_documents", {}) for _ in range(4)))
        return [structure_of(result)["collection"] for result in results]

    with ThreadPoolExecutor() as pool:
        seen = pool.map(lambda key: acted_at(f"{keyed.url}/mcp", listed, key=key), keys.values())
        assert list(seen) == [[name] * 4 for name in keys]


# --- names and pages --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"Host": "localhost:1"}, 200),
        ({"Host": "10.1.2.3:8765"}, 421),
        ({"Host": "10.1.2.3:8765", "Origin": "http://10.1.2.3:8765"}, 421),
        ({"Host": "docs.example.org"}, 200),
        ({"Host": "a.docs.example.net", "Origin": "https://a.docs.example.net"}, 200),
        ({"Origin": "https://page.example"}, 200),
        ({"Host": "evil.example"}, 421),
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Host": ""}, 421),
        ({"Host": "docs.example.org.evil.example"}, 421),
        ({"Host": "docs.example.org", "Origin": "https://evil.example"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
    ],
)
def test_the_guard_alone_says_which_names_and_pages_may_call(
    headers: dict[str, str], status: int, named: Running
) -> None:
    sent = {**ACCEPTED, "Authorization": "Bearer " + "k" * 24, **headers}
    for path in ("/mcp", "/mcp/chatgpt"):
        assert named.client.post(path, json=INITIALIZE, headers=sent).status_code == status


@pytest.fixture(scope="module")
def named(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    given = {
        "server__allowed_hosts": "docs.example.org,*.docs.example.net",
        "server__allowed_origins": "https://page.example",
        "server__admin_key": "k" * 24,
    }
    with running(tmp_path_factory.mktemp("named"), **given) as one:
        yield one


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"null", b'{"jsonrpc":"2.0"}', b"\xff\xfe", b'{"method":1}'])
def test_no_body_makes_the_server_fail(body: bytes, served: Running) -> None:
    headers = {**ACCEPTED, "Content-Type": "application/json"}
    assert 400 <= served.client.post("/mcp", content=body, headers=headers).status_code < 500
    for method in ("GET", "PUT", "DELETE"):
        with served.client.stream(method, "/mcp", headers={"Accept": "application/json"}) as reply:
            assert 400 <= reply.status_code < 500


WRITABLE = Offer(scopes=READ_ONLY | {Scope.WRITE})


def test_nobody_may_more_than_is_offered_and_the_key_says() -> None:
    assert Offer().to(OPERATOR).scopes == READ_ONLY
    assert WRITABLE.to(Caller("one", frozenset({Scope.ASK}))).scopes == {Scope.ASK}
    assert WRITABLE.to(OPERATOR).scopes == WRITABLE.scopes
    assert WRITABLE.to(ANYBODY).scopes == READ_ONLY


@pytest.mark.parametrize(
    ("offered", "own", "seen"),
    [
        (None, None, None),
        ({"a", "b"}, None, {"a", "b"}),
        (None, {"b", "c"}, {"b", "c"}),
        ({"a", "b"}, {"b", "c"}, {"b"}),
        ({"a"}, {"c"}, set()),
    ],
)
def test_collections_are_those_of_both(offered: set[str] | None, own: set[str] | None, seen: set[str] | None) -> None:
    offer = Offer(collections=None if offered is None else frozenset(offered))
    caller = Caller("one", READ_ONLY, None if own is None else frozenset(own))
    assert offer.to(caller).collections == seen


SOON = 20.0
"""Seconds; the model below would take three times as long."""


def is_empty(admission: Admission) -> bool:
    """Whether nothing is worked on any more, by soon."""
    end = monotonic() + SOON
    while admission.inside and monotonic() < end:
        sleep(0.02)
    return admission.inside == 0


@pytest.fixture
def slow_model(monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedServer]:
    with ScriptedServer([Reply("none", seconds=60)] * 3) as model:
        monkeypatch.setenv("THRESHER_LLM__BASE_URL", model.base_url)
        monkeypatch.setenv("THRESHER_LLM__MODEL", "scripted")
        yield model


async def left(client: Client, model: ScriptedServer) -> None:
    """Ask, and go while the model is writing."""
    asking = asyncio.create_task(client.call_tool("ask", {"question": BUILT}))
    assert await asyncio.to_thread(model.wait_for, 1)
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking


@pytest.mark.parametrize("mode", MODES)
def test_an_agent_that_goes_ends_its_question_over_http(
    mode: str, indexed_home: Path, slow_model: ScriptedServer
) -> None:
    with running(indexed_home) as one:
        acted_at(f"{one.url}/mcp", lambda client: left(client, slow_model), mode=mode)
        assert is_empty(one.service.admission)


def test_a_fault_that_nobody_foresaw_tells_its_kind_and_no_more(caplog: pytest.LogCaptureFixture) -> None:
    @with_tool_errors
    async def tool() -> None:
        raise RuntimeError("/home/somebody/secret")

    with pytest.raises(ToolError, match=r"failed inside \(RuntimeError\).*thresher doctor") as caught:
        asyncio.run(tool())
    assert "secret" not in str(caught.value)
    assert "secret" in caplog.text
