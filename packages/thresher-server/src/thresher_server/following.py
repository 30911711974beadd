"""A question that a reply follows: it is worked on in a task of its own, so that whoever goes can end it at any moment.

`asking.events` counts its seconds in the task that reads it. A streamed reply is written by another task than the one
that began it, and is cut off from outside when the client goes; what is read here is read by one task throughout.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress

from thresher_server.asking import Event

FIRST_SECONDS = 10.0
"""A stream waits so long for the first event, so that what is refused has its status; then it begins in any case,
before a proxy takes silence for a server that is gone (60 seconds with most)."""

_OPEN: set[asyncio.Task[None]] = set()
"""What is followed now: an event loop keeps no task alive by itself."""


class Followed:
    """The events of one question. Made inside an event loop; `end` it, or read it to its end."""

    def __init__(self, events: AsyncIterator[Event]) -> None:
        self._told: asyncio.Queue[Event | Exception | None] = asyncio.Queue()  # None: there is no other
        self._first: list[Event | Exception | None] = []
        self._task = asyncio.create_task(self._follow(events))
        _OPEN.add(self._task)
        self._task.add_done_callback(_OPEN.discard)

    async def begun(self, *, seconds: float = FIRST_SECONDS) -> Followed:
        """Itself, once something has happened or so many seconds went by. Raises what the question was refused with."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                self._first.append(await self._told.get())
        if self._first and isinstance(self._first[0], Exception):
            raise self._first[0]
        return self

    async def __aiter__(self) -> AsyncIterator[Event]:
        """Each event as it comes. Raises what the question ended with; a reader that stops before ends it."""
        try:
            while (event := self._first.pop() if self._first else await self._told.get()) is not None:
                if isinstance(event, Exception):
                    raise event
                yield event
        finally:
            self.end()

    def end(self) -> None:
        """Let the question end, whether it has come to its end or not."""
        self._task.cancel()

    async def _follow(self, events: AsyncIterator[Event]) -> None:
        try:
            async for event in events:
                self._told.put_nowait(event)
        except Exception as error:  # whatever it is: raised by the task that reads
            self._told.put_nowait(error)
        finally:
            self._told.put_nowait(None)
