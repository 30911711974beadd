"""Agents in tests: the real client of the SDK, in memory or over HTTP."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult

from thresher_server.mcp.server import make_server
from thresher_server.security.keys import Offer
from thresher_server.service import make_service

Value = TypeVar("Value")

THRESHER = Path(sys.executable).with_name("thresher")

MODES = ("auto", "legacy")
"""The protocol of today, without sessions, and the handshake of 2025."""

BUILT = "When was the lighthouse of Fernby built?"
UNKNOWN = "Who is the king of Spain?"


@asynccontextmanager
async def agent(home: Path, offer: Offer | None = None, *, mode: str = "auto", **given: Any) -> AsyncIterator[Client]:
    """A client of a server over a home, in memory; what fails beside a tool's own errors is raised here."""
    service = make_service(home, {name.replace("__", "."): value for name, value in given.items()}, on_machine=True)
    try:
        async with Client(make_server(service, offer), mode=mode, raise_exceptions=True) as client:
            yield client
    finally:
        service.close()


def acted(
    home: Path,
    act: Callable[[Client], Awaitable[Value]],
    offer: Offer | None = None,
    *,
    mode: str = "auto",
    **given: Any,
) -> Value:
    """What an agent in memory comes to."""

    async def run() -> Value:
        async with agent(home, offer, mode=mode, **given) as client:
            return await act(client)

    return asyncio.run(run())


def called(
    home: Path, tool: str, *, offer: Offer | None = None, mode: str = "auto", **arguments: Any
) -> CallToolResult:
    """The result of one tool."""
    return acted(home, lambda client: client.call_tool(tool, arguments), offer, mode=mode)


def acted_at(
    url: str, act: Callable[[Client], Awaitable[Value]], *, mode: str = "auto", key: str | None = None
) -> Value:
    """What an agent over HTTP comes to, with a key."""

    async def run() -> Value:
        headers = {} if key is None else {"Authorization": f"Bearer {key}"}
        async with (
            httpx2.AsyncClient(headers=headers, timeout=60) as http,
            Client(streamable_http_client(url, http_client=http), mode=mode) as client,
        ):
            return await act(client)

    return asyncio.run(run())


def over_stdio(
    act: Callable[[Client], Awaitable[Value]], home: Path, *arguments: str, mode: str = "auto", errors: Path
) -> Value:
    """What an agent comes to that starts the command itself."""

    async def run() -> Value:
        given = ["mcp", "--home", str(home), *arguments]
        command = StdioServerParameters(command=str(THRESHER), args=given, env=dict(os.environ))
        with errors.open("w", encoding="utf-8") as written:
            async with Client(stdio_client(command, errlog=written), mode=mode) as client:
                return await act(client)

    return asyncio.run(run())


async def tool_names(client: Client) -> list[str]:
    """The tools that an agent is offered."""
    return [tool.name for tool in (await client.list_tools()).tools]


def text_of(result: CallToolResult) -> str:
    """What the model reads."""
    [block] = result.content
    assert block.type == "text"
    return block.text


def structure_of(result: CallToolResult) -> dict[str, Any]:
    """What the program reads."""
    assert not result.is_error, text_of(result)
    assert result.structured_content is not None
    return result.structured_content
