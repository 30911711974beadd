"""Reads what comes over the wire without any client: server-sent events, line by line."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

import httpx


def events(lines: Iterable[str]) -> Iterator[tuple[str, str]]:
    """(event, data) of each event; comments are passed over."""
    event, data = "", []
    for line in lines:
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if not line:
            if data:
                yield event, "\n".join(data)
            event, data = "", []
        elif name == "event":
            event = value
        elif name == "data":
            data.append(value)


def chunks(client: httpx.Client, body: dict[str, Any], **more: Any) -> list[dict[str, Any]]:
    """The chunks of a streamed chat; it must end with [DONE]."""
    with client.stream("POST", "/v1/chat/completions", json={**body, "stream": True}, **more) as reply:
        assert reply.status_code == 200, reply.read()
        assert reply.headers["content-type"].startswith("text/event-stream")
        *told, (_, last) = events(reply.iter_lines())
    assert last == "[DONE]"
    return [json.loads(data) for _, data in told]


def content(told: Iterable[dict[str, Any]]) -> str:
    """The text of chunks put together."""
    return "".join(one["choices"][0]["delta"].get("content") or "" for one in told)
