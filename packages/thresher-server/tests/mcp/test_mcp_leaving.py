"""Agents that go before the end, and faults that nobody foresaw."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from time import monotonic, sleep

import pytest
from mcp import Client
from mcp.server.mcpserver.exceptions import ToolError
from mcp_agents import BUILT, MODES, acted_at

from tests.servers.own import running
from thresher_server.mcp.desk import told
from thresher_server.service import Admission
from thresher_testing.llm_server import Reply, ScriptedServer

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
    @told
    async def tool() -> None:
        raise RuntimeError("/home/somebody/secret")

    with pytest.raises(ToolError, match=r"failed inside \(RuntimeError\).*thresher doctor") as caught:
        asyncio.run(tool())
    assert "secret" not in str(caught.value)
    assert "secret" in caplog.text
