"""What every door of one server process shares: the engine, the keys, who is let in, and what is counted."""

from __future__ import annotations

import secrets
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import cast
from urllib.parse import urlsplit

from fastapi import Request

from thresher import recipes
from thresher.collection import Collection
from thresher.engine import Engine
from thresher.file_names import file_name
from thresher.home.places import Home, working_folder
from thresher.recipes.settings import FrontSettings, ServerSettings, ServiceSettings
from thresher.settings import resolved
from thresher_server.security.admission import Admission
from thresher_server.security.audit import Audit
from thresher_server.security.keys import Keys


@dataclass(slots=True)
class Service:
    """One process of the server. `front` says what is asked where a request names nothing."""

    engine: Engine
    settings: ServerSettings
    front: FrontSettings
    keys: Keys
    audit: Audit
    admission: Admission
    reading: Admission
    """Of lists and texts: many of them hold up neither each other without bound, nor a question or a sign of life."""
    threads: ThreadPoolExecutor
    """Where questions are worked on; as many as may be worked on at once."""
    token: str = ""
    """Of a server that asks for no key: lets in who has it; empty where a key is needed, or anybody is let in."""
    public_url: str = ""
    """What this server is called from outside, without a slash at its end; empty: as it was called."""
    extras: dict[str, object] = field(default_factory=dict)
    """What a door keeps for the time of the process, by the door's name."""

    @property
    def home(self) -> Home:
        """Where all collections are."""
        return self.engine.home

    @property
    def needs_key(self) -> bool:
        """Whether a request without a key is refused: where it may come from beyond this machine, or none is let in."""
        reachable = not is_loopback(self.settings.host) or self.settings.allowed_hosts or self.public_host
        return bool(self.settings.require_key or reachable)

    @property
    def public_host(self) -> str:
        """The name in `public_url`, unless that is loopback's."""
        host = urlsplit(self.public_url).hostname or ""
        return "" if is_loopback(host) else host

    def collection(self, name: str | None = None) -> Collection:
        """The collection of that name, or the one that is asked where none is named."""
        return self.engine.collection(name or self.front.collection)

    def close(self) -> None:
        """Let go of everything; nothing is under way any more."""
        self.threads.shutdown(wait=True, cancel_futures=True)
        self.engine.close()


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches an address or name; the empty name is none."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def make_service(
    home: Home, given: dict[str, object] | None = None, *, token: str | None = None, on_machine: bool = False
) -> Service:
    """The service of a home with its settings: `thresher.toml`, the environment, then what is given by dotted key.

    `token` is that of the server's other processes; if not given, a new one. Who asks reads where files lie only where
    that is `on_machine`, as over stdio.
    """
    known = recipes.settings_keys()
    settings = resolved(ServiceSettings, given or {}, home=home, known=known).server
    front = recipes.front(home)
    service = Service(
        engine=Engine(home, source_name=None if on_machine else file_name),
        settings=settings,
        front=front,
        keys=Keys(home),
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
    """The service that a request came to, for routes to depend on."""
    return cast(Service, request.app.state.service)
