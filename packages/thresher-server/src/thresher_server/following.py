"""Runs a question in its own task, which can be cancelled at any time.

`asking.events` sets its time limit in the task that reads it, but a streamed reply is begun by one task, written by
another and cancelled when the client disconnects. Here one task reads all events.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress

from thresher_server.asking import Event

FIRST_SECONDS = 10.0
"""Wait for the first event, so that a refusal sets the status; proxies give up after 60 seconds of silence."""

_OPEN: set[asyncio.Task[None]] = set()
"""Running tasks: the event loop itself keeps only weak references."""


class Followed:
    """The events of one question. Made inside an event loop; read it to its end or call `end`."""

    def __init__(self, events: AsyncIterator[Event]) -> None:
        self._told: asyncio.Queue[Event | Exception | None] = asyncio.Queue()  # None: the end
        self._first: list[Event | Exception | None] = []
        self._task = asyncio.create_task(self._follow(events))
        _OPEN.add(self._task)
        self._task.add_done_callback(_OPEN.discard)

    async def begun(self, *, seconds: float = FIRST_SECONDS) -> Followed:
        """Itself, after the first event or after so many seconds. Raises the error that refused the question."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                self._first.append(await self._told.get())
        if self._first and isinstance(self._first[0], Exception):
            raise self._first[0]
        return self

    async def __aiter__(self) -> AsyncIterator[Event]:
        """Events as they come. Raises the error that ended the question; closing the iterator ends it."""
        try:
            while (event := self._first.pop() if self._first else await self._told.get()) is not None:
                if isinstance(event, Exception):
                    raise event
                yield event
        finally:
            self.end()

    def end(self) -> None:
        """End the question, finished or not."""
        self._task.cancel()

    async def _follow(self, events: AsyncIterator[Event]) -> None:
        try:
            async for event in events:
                self._told.put_nowait(event)
        except Exception as error:  # any: raised again in the task that reads
            self._told.put_nowait(error)
        finally:
            self._told.put_nowait(None)
