"""What the tests of the own API share: a home that may be changed, jobs waited for, events read."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import httpx

from tests.server.conftest import Running
from thresher_server.security.keys import Keys, Scope

DEFAULT = "/api/collections/default"
QUESTION = {"question": "When was the lighthouse of Fernby built?"}


def copied(home: Path, to: Path) -> Path:
    """A copy of a home that may be changed; what was asked there stays behind."""
    return Path(shutil.copytree(home, to / "home", ignore=shutil.ignore_patterns("traces", "server")))


def sent(one: Running, files: Iterable[tuple[str, bytes]], path: str = DEFAULT) -> httpx.Response:
    """The reply to files sent as a form."""
    return one.client.post(f"{path}/documents", files=[("files", (name, data)) for name, data in files])


def ended(one: Running, job: str) -> dict[str, Any]:
    """A job once it has ended, by its events."""
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
    """Name and data of each server-sent event."""
    name = ""
    for line in reply.iter_lines():
        if line.startswith("event: "):
            name = line.removeprefix("event: ")
        elif line.startswith("data: "):
            yield name, json.loads(line.removeprefix("data: "))


def with_key(home: Path, name: str, *scopes: Scope, collections: Iterable[str] | None = None) -> dict[str, str]:
    """The headers of a new key."""
    return {"Authorization": f"Bearer {Keys(home).make(name, scopes, collections)}"}


def documents(one: Running, path: str = DEFAULT, **asked: Any) -> list[dict[str, Any]]:
    """The documents of a collection."""
    return list(one.client.get(f"{path}/documents", params=asked).json()["documents"])
