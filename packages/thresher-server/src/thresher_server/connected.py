"""Cancels work when its client disconnects."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any, TypeVar

from fastapi import Request

from thresher.errors import Cancelled

Value = TypeVar("Value")


async def while_connected(request: Request, work: Coroutine[Any, Any, Value]) -> Value:
    """The result of the work. If the client disconnects first, the work is cancelled and Cancelled raised."""
    working = asyncio.ensure_future(work)
    leaving = asyncio.ensure_future(_gone(request))
    try:
        await asyncio.wait({working, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if working.done():
            return working.result()
        raise Cancelled("the client went before the end")
    finally:
        leaving.cancel()
        if not working.done():
            working.cancel()
        with suppress(asyncio.CancelledError, Exception):
            await asyncio.gather(working, leaving, return_exceptions=True)


async def _gone(request: Request) -> None:
    """Wait until the client disconnects; the body must have been read."""
    while (await request.receive())["type"] != "http.disconnect":
        pass
