"""How many questions run at once, and how many wait."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from thresher_server.problems import Problem

RETRY_SECONDS = 2
"""A question takes about half a second on a quiet core, so a queue moves within two seconds."""


class Admission:
    """Admits `concurrency` questions and queues `queue` more in order of arrival; raises Problem 429 for others.

    `what` names them in the message. Belongs to one event loop.
    """

    def __init__(self, concurrency: int, queue: int, what: str = "questions") -> None:
        self._what = what
        self._free = asyncio.Semaphore(concurrency)
        self._most = concurrency + queue
        self.inside = 0
        """Questions that run or wait."""

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Wait for a turn, held inside the block."""
        if self.inside >= self._most:
            after = {"Retry-After": str(RETRY_SECONDS)}
            raise Problem(429, f"too many {self._what} at once", next_step="come back in a moment", headers=after)
        self.inside += 1
        try:
            async with self._free:
                yield
        finally:
            self.inside -= 1
