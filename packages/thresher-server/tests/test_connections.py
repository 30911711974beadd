"""Connections that are opened and say nothing, or a little at a time."""

from __future__ import annotations

import asyncio
from pathlib import Path

import uvicorn

from thresher_server.app import create_app
from thresher_server.security.guard import Bounded
from thresher_server.service import make_service


class Hasty(Bounded):
    """With bounds that a test can wait for."""

    head_seconds = 0.5
    most_of_address = 3


async def _attacked(home: Path) -> tuple[list[bytes], bytes]:
    app = create_app(make_service(home, {}), routes=("routes.health",), mounts=())
    server = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=0, log_level="error", http=Hasty))
    serving = asyncio.create_task(server.serve())
    while not server.started:
        await asyncio.sleep(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    lines = [await asyncio.open_connection("127.0.0.1", port) for _ in range(3)]
    lines[0][1].write(b"GET /health HTTP/1.1\r\nHost: loc")  # half a head
    fourth = await asyncio.open_connection("127.0.0.1", port)
    refused = await _rest(*fourth)
    ended = [await asyncio.wait_for(_rest(*line), 10) for line in lines]
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(b"GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
    answered = await asyncio.wait_for(_rest(reader, writer), 10)
    server.should_exit = True
    await serving
    return [refused, *ended], answered


async def _rest(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bytes:
    try:
        return await reader.read()
    except ConnectionResetError:
        return b""
    finally:
        writer.close()


def test_half_heads_and_silence_are_closed_and_an_address_has_so_many_connections(tmp_path: Path) -> None:
    closed, answered = asyncio.run(_attacked(tmp_path))
    assert closed == [b""] * 4
    assert answered.startswith(b"HTTP/1.1 200")
