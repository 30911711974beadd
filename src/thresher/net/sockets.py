"""The sockets a client has open, so that a call which waits on one can be ended from another thread."""

from __future__ import annotations

import socket
import threading
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import httpx

OPENED = ("connection.connect_tcp.complete", "connection.start_tls.complete")  # return a stream; TLS replaces the first


class Sockets:
    """Watches the requests of a client. After `end` every call under way fails, and every later one."""

    def __init__(self) -> None:
        self._streams: list[Any] = []
        self._ended = False
        self._lock = threading.Lock()

    def watch(self, request: httpx.Request) -> None:
        """A hook of the client, called before a request is sent."""
        request.extensions = {**request.extensions, "trace": self._traced}

    def end(self) -> None:
        """Shut every socket: to close one would not wake the thread that waits for it."""
        with self._lock:
            self._ended = True
            streams, self._streams = self._streams, []
        for stream in streams:
            _shut(stream)

    def _traced(self, event: str, info: Mapping[str, Any]) -> None:
        if event not in OPENED:
            return
        with self._lock:
            if not self._ended:
                self._streams.append(info["return_value"])
                return
        _shut(info["return_value"])


def _shut(stream: Any) -> None:
    with suppress(OSError):  # closed already, or taken over by TLS
        # Not the method of a TLS socket, which takes its session away from the thread that reads.
        socket.socket.shutdown(stream.get_extra_info("socket"), socket.SHUT_RDWR)
