"""State shared by all routes of one server process: the engine, the keys, the limits, the audit log.

The audit log has requests, changes and refusals as lines of JSON in `server/audit.jsonl` of the home. The guard logs
every request with its status; a route logs what only it knows (a trace, sources).
"""

from __future__ import annotations

import json
import os
import secrets
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime
from ipaddress import ip_address
from pathlib import Path
from threading import Lock
from typing import Any, cast
from urllib.parse import urlsplit

from fastapi import Request

from thresher import Engine, recipes
from thresher.collection import Collection
from thresher.home.places import make_folder, working_folder
from thresher.links import file_name
from thresher.protocols import Home
from thresher.recipes.settings import FrontSettings
from thresher.settings import resolved
from thresher_server import telemetry
from thresher_server.admission import Admission
from thresher_server.security.keys import Caller, Keys, Scope
from thresher_server.security.sessions import Sessions
from thresher_server.settings import ServerSettings, ServiceSettings


class Audit:
    """Appends each line with one write, so that several processes may; logs nothing without a home.

    A question is logged with its trace, without its words: those are stored with the collection.
    """

    def __init__(self, home: Path | None) -> None:
        self.file = None if home is None else home / "server" / "audit.jsonl"
        self._lock = Lock()

    def write(self, caller: str, did: str, *, collection: str | None = None, **details: Any) -> None:
        """Log an action of a caller."""
        if self.file is None:
            return
        told = {"time": datetime.now(UTC).isoformat(timespec="milliseconds"), "caller": caller, "did": did}
        if collection is not None:
            told["collection"] = collection
        line = json.dumps({**told, **details}, default=str) + "\n"  # ASCII: no control characters for a terminal
        with self._lock:
            make_folder(self.file.parent)
            file = os.open(self.file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
            try:
                os.write(file, line.encode())
            finally:
                os.close(file)


@dataclass(slots=True)
class Service:
    """One process of the server. `front` has the defaults for requests that name no collection or recipe."""

    engine: Engine
    settings: ServerSettings
    front: FrontSettings
    keys: Keys
    audit: Audit
    admission: Admission
    sessions: Sessions
    reading: Admission
    """Limits lists and texts, so that they delay neither questions nor health checks."""
    threads: ThreadPoolExecutor
    """Runs questions, as many as may run at once."""
    token: str = ""
    """Of a server that needs no key: admits its bearer. Empty if a key is needed or the server is open."""
    public_url: str = ""
    """The server's address from outside, without a slash at the end; empty: the socket of the request."""
    extras: dict[str, object] = field(default_factory=dict)
    """State of a mount for the lifetime of the process, by name."""

    @property
    def home(self) -> Home:
        """The home of all collections."""
        return self.engine.home

    @property
    def needs_key(self) -> bool:
        """Whether requests without a key are refused: by the settings, or since other machines may reach the server."""
        reachable = not is_loopback(self.settings.host) or self.settings.allowed_hosts or self.public_host
        return bool(self.settings.require_key or reachable)

    @property
    def public_host(self) -> str:
        """The host in `public_url`, unless it is loopback."""
        host = urlsplit(self.public_url).hostname or ""
        return "" if is_loopback(host) else host

    def collection(self, name: str | None = None) -> Collection:
        """The whole collection of that name, or the default one: for the server's own work, and for who may write."""
        return self.engine.collection(name or self.front.collection)

    def seen_by(self, caller: Caller, name: str | None = None) -> Collection:
        """The collection of that name, or the default one, with the documents that the caller may see.

        A question of a caller without the scope `write` makes no index: NotIndexed for a recipe without one.
        """
        collection = self.engine.collection(name or self.front.collection, within=caller.where)
        return collection if caller.may(Scope.WRITE, collection.name) else collection.as_indexed

    def close(self) -> None:
        """Release everything; no request may be open."""
        self.threads.shutdown(wait=True, cancel_futures=True)
        self.engine.close()


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches an address or name; false for the empty name."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def make_service(
    home: Home, given: dict[str, object] | None = None, *, token: str | None = None, on_machine: bool = False
) -> Service:
    """The service of a home. Settings come from `thresher.toml`, the environment, then `given` by dotted key.

    `token` is that of the server's other processes; by default a new one. Sources keep their folders only `on_machine`,
    as over stdio.
    """
    telemetry.begin()
    known = recipes.settings_keys()
    settings = resolved(ServiceSettings, given or {}, home=home, known=known).server
    front = recipes.front(home)
    service = Service(
        engine=Engine(home, source_name=None if on_machine else file_name),
        settings=settings,
        front=front,
        keys=Keys(home),
        sessions=Sessions(home),
        audit=Audit(working_folder(home) if settings.audit else None),
        admission=Admission(settings.concurrency, settings.queue),
        reading=Admission(settings.concurrency, settings.queue, "lists and texts"),
        threads=ThreadPoolExecutor(settings.concurrency, thread_name_prefix="question"),
        public_url=front.public_url.rstrip("/"),
    )
    if not (service.needs_key or settings.open):
        service.token = token or secrets.token_urlsafe()
    return service


def service_of(request: Request) -> Service:
    """The service of a request, as a dependency of routes."""
    return cast(Service, request.app.state.service)
