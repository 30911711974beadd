"""How many questions are worked on at once, and how many may wait: the others are told when to come back."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from thresher_server.problems import Problem

RETRY_SECONDS = 2
"""A question takes about half a second on a quiet core: in two seconds a queue has moved on."""


class Admission:
    """Lets `concurrency` questions in and `queue` more wait, in the order they came; Problem 429 for the rest.

    `what` they are in words. Belongs to one event loop.
    """

    def __init__(self, concurrency: int, queue: int, what: str = "questions") -> None:
        self._what = what
        self._free = asyncio.Semaphore(concurrency)
        self._most = concurrency + queue
        self.inside = 0
        """Questions that are worked on or wait."""

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Wait for a place, and leave it again."""
        if self.inside >= self._most:
            after = {"Retry-After": str(RETRY_SECONDS)}
            raise Problem(429, f"too many {self._what} at once", next_step="come back in a moment", headers=after)
        self.inside += 1
        try:
            async with self._free:
                yield
        finally:
            self.inside -= 1
