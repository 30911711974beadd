"""Work for a reader who may go: what is asked for by a client that hangs up is ended."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any, TypeVar

from fastapi import Request

from thresher.errors import Cancelled

Value = TypeVar("Value")


async def while_connected(request: Request, work: Coroutine[Any, Any, Value]) -> Value:
    """What the work returns; it is cancelled, and Cancelled raised, when the client goes before its end."""
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
    """Return when the client has hung up; the body was read before."""
    while (await request.receive())["type"] != "http.disconnect":
        pass
