"""What the tests of the own API share: a home that may be changed, jobs waited for, events read."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import httpx

from tests.servers.own import Running
from thresher_server.security.keys import Keys, Scope

DEFAULT = "/api/collections/default"
QUESTION = {"question": "When was the lighthouse of Fernby built?"}


def sent(one: Running, files: Iterable[tuple[str, bytes]], path: str = DEFAULT) -> httpx.Response:
    """The reply to files sent as a form."""
    return one.client.post(f"{path}/documents", files=[("files", (name, data)) for name, data in files])


def ended(one: Any, job: str) -> dict[str, Any]:
    """A job once it has ended, by its events; `one` has a client."""
    with one.client.stream("GET", f"/api/jobs/{job}/events") as reply:
        assert reply.status_code == 200
        *_, (name, told) = events(reply)
    assert name == "end", (name, told)
    return dict(told)


def added(one: Running, files: Iterable[tuple[str, bytes]], path: str = DEFAULT) -> dict[str, Any]:
    """The job of files that were sent, at its end."""
    reply = sent(one, files, path)
    assert reply.status_code == 202, reply.text
    return ended(one, reply.json()["job"])


def events(reply: httpx.Response) -> Iterator[tuple[str, Any]]:
    """Name and data of each server-sent event; the data as JSON, or as it stands."""
    name = ""
    for line in reply.iter_lines():
        field, _, value = line.partition(": ")
        if field == "event":
            name = value
        elif field == "data":
            yield name, value if value == "[DONE]" else json.loads(value)


def with_key(home: Path, name: str, *scopes: Scope, collections: Iterable[str] | None = None) -> dict[str, str]:
    """The headers of a new key."""
    return {"Authorization": f"Bearer {Keys(home).make(name, scopes, collections)}"}


def documents(one: Running, path: str = DEFAULT, **asked: Any) -> list[dict[str, Any]]:
    """The documents of a collection."""
    return list(one.client.get(f"{path}/documents", params=asked).json()["documents"])


def chunks(client: httpx.Client, body: dict[str, Any], **more: Any) -> list[dict[str, Any]]:
    """The chunks of a streamed chat; it must end with [DONE]."""
    with client.stream("POST", "/v1/chat/completions", json={**body, "stream": True}, **more) as reply:
        assert reply.status_code == 200, reply.read()
        assert reply.headers["content-type"].startswith("text/event-stream")
        *told, (_, last) = events(reply)
    assert last == "[DONE]"
    return [data for _, data in told]


def content(told: Iterable[dict[str, Any]]) -> str:
    """The text of chunks put together."""
    return "".join(one["choices"][0]["delta"].get("content") or "" for one in told)


def until(true: Callable[[], bool], seconds: float = 20.0) -> bool:
    """Whether it becomes true in that time."""
    end = time.monotonic() + seconds
    while not true() and time.monotonic() < end:
        time.sleep(0.01)
    return true()
