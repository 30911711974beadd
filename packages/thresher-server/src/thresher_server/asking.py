"""Runs a question or other work on the engine in a thread: in its turn, in its time, while its client is there."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any, TypeVar

from fastapi import Request

from thresher.answer import Answer
from thresher.collection import Collection
from thresher.deadline import within
from thresher.errors import Cancelled
from thresher.models.usage import Meter
from thresher.types import Step
from thresher_server import telemetry
from thresher_server.problems import Problem
from thresher_server.security.access import Askers
from thresher_server.security.keys import Caller
from thresher_server.service import Service

Event = Step | str | Answer
"""A step when it ends, a sentence when it is written and checked, the answer last."""

Value = TypeVar("Value")

FIRST_SECONDS = 10.0
"""Wait for the first event, so that a refusal sets the status; proxies give up after 60 seconds of silence."""

_OPEN: set[asyncio.Task[None]] = set()
"""Running tasks: the event loop itself keeps only weak references."""


async def last(events: AsyncIterator[Event]) -> Answer:
    """The answer alone. Raises as `events`."""
    *_, answer = [event async for event in events]
    assert isinstance(answer, Answer)
    return answer


async def events(
    service: Service, caller: Caller, collection: Collection, question: str, options: Mapping[str, Any]
) -> AsyncIterator[Event]:
    """The events of a question, the answer last; `options` are those of `Collection.ask`.

    Closing or cancelling the iterator ends the question. Raises Problem 429 when too many wait, 504 after
    `server.timeout_seconds`, 422 for a question that is too long, and the engine's errors.
    """
    check_length(service, question)
    seconds = service.settings.timeout_seconds
    given = {**options, "budget_seconds": min(options.get("budget_seconds") or seconds, seconds)}
    collection.check_asked(question, given)  # type: ignore[arg-type]
    async with _turn(service):
        with telemetry.waiting(service.admission):
            async for event in _run(service, collection, question, given):
                if isinstance(event, Answer) and event.steps:  # a greeting has no steps and is no question
                    service.audit.write(caller.name, "ask", collection=collection.name, trace=event.trace)
                    Askers(service.home).note(caller, collection.name, event.trace)
                    telemetry.asked(event, collection.name)
                yield event


async def worked(service: Service, work: Callable[[], Value]) -> Value:
    """The result of other work on the engine (a search, a check, a rerank), which waits its turn among the questions.

    Work that exceeds its time, or whose client is gone, ends before it reads the next text.
    """
    meter = Meter(max_seconds=service.settings.timeout_seconds)

    def in_time() -> Value:
        with within(meter.allow_time):
            return work()

    async with _turn(service):
        try:
            return await asyncio.get_running_loop().run_in_executor(service.threads, in_time)
        finally:
            meter.cancel()


def check_length(service: Service, *texts: str, subject: str = "the question") -> None:
    """Raise Problem 422 for a text longer than `server.max_question_characters`."""
    most = service.settings.max_question_characters
    if any(len(text) > most for text in texts):
        raise Problem(422, f"is longer than {most:,} characters", subject=subject, next_step="write fewer words")


async def while_connected(request: Request, work: Coroutine[Any, Any, Value]) -> Value:
    """The result of the work. If the client disconnects first, the work is cancelled and Cancelled raised.

    The body of the request must have been read.
    """

    async def gone() -> None:
        while (await request.receive())["type"] != "http.disconnect":
            pass

    working, leaving = asyncio.ensure_future(work), asyncio.ensure_future(gone())
    try:
        await asyncio.wait({working, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if working.done():
            return working.result()
        raise Cancelled("the client went before the end")
    finally:
        working.cancel()  # of no effect once it is done
        leaving.cancel()
        with suppress(asyncio.CancelledError, Exception):
            await asyncio.gather(working, leaving, return_exceptions=True)


@asynccontextmanager
async def _turn(service: Service) -> AsyncIterator[None]:
    """A turn among the questions. Raises Problem 429 if too many wait, 504 after `server.timeout_seconds`."""
    seconds = service.settings.timeout_seconds
    try:
        async with asyncio.timeout(seconds), service.admission.turn():
            yield
    except TimeoutError:
        what = f"took longer than {seconds:g} seconds"
        raise Problem(504, what, subject="the question", next_step="ask again, or raise the limit") from None


async def _run(
    service: Service, collection: Collection, question: str, options: dict[str, Any]
) -> AsyncIterator[Event]:
    loop = asyncio.get_running_loop()
    told: asyncio.Queue[Event | None] = asyncio.Queue()  # None: the end
    meter, left = Meter.of(options), threading.Event()

    def tell(event: Event | None) -> None:
        loop.call_soon_threadsafe(told.put_nowait, event)

    def work() -> None:
        for step in collection.run(question, meter=meter, on_sentence=tell, **options):
            tell(step)
            if left.is_set():
                return  # before the answer is stored

    working = loop.run_in_executor(service.threads, work)
    working.add_done_callback(lambda _: told.put_nowait(None))
    try:
        while (event := await told.get()) is not None:
            yield event
        await working
    finally:
        if not working.done():
            left.set()
            meter.cancel()
        await asyncio.wait([working])
        working.exception()  # raised above; of no interest once the client is gone


class Followed:
    """The events of one question, read by a task of its own; read them to the end or call `end`.

    `events` sets its time limit in the task that reads it, but a streamed reply is begun by one task, written by
    another and cancelled when the client disconnects.
    """

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
