"""Limits idle connections: a deadline for the head of a request, and a maximum for each address."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any, ClassVar

from uvicorn.protocols.http.auto import AutoHTTPProtocol

HEAD_SECONDS = 15.0
"""From the connection, or the first bytes of a later request, to the whole head."""

MOST_OF_ADDRESS = 128
"""Open connections of one address in a process; a browser opens six, a proxy some dozens."""


class Bounded(AutoHTTPProtocol):  # type: ignore[misc, valid-type]
    """uvicorn's protocol with both limits: it closes connections that exceed one."""

    head_seconds: ClassVar[float] = HEAD_SECONDS
    most_of_address: ClassVar[int] = MOST_OF_ADDRESS
    open_of: ClassVar[Counter[str]] = Counter()

    def connection_made(self, transport: Any) -> None:
        """As in asyncio."""
        super().connection_made(transport)
        self._late: asyncio.TimerHandle | None = None
        peer = transport.get_extra_info("peername")
        self._address = peer[0] if isinstance(peer, tuple) else ""
        self.open_of[self._address] += 1
        if self.open_of[self._address] > self.most_of_address:
            transport.abort()
            return
        self._wait_for_head()

    def data_received(self, data: bytes) -> None:
        """As in asyncio."""
        super().data_received(data)
        if self.cycle is None or self.cycle.response_complete:
            self._wait_for_head()
        elif self._late is not None:
            self._late.cancel()
            self._late = None

    def connection_lost(self, exc: Exception | None) -> None:
        """As in asyncio."""
        if self._late is not None:
            self._late.cancel()
        self.open_of[self._address] -= 1
        if not self.open_of[self._address]:
            del self.open_of[self._address]
        super().connection_lost(exc)

    def _wait_for_head(self) -> None:
        if self._late is None:  # further bytes do not extend the deadline
            self._late = asyncio.get_running_loop().call_later(self.head_seconds, self.transport.abort)
