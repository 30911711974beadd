"""Runs a question or other work on the engine in a thread: in its turn, in its time, while its client is there.

The thread has the context variables of the request: its caller over MCP, the span that its own spans belong to.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from contextvars import copy_context
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
            return await asyncio.get_running_loop().run_in_executor(service.threads, copy_context().run, in_time)
        finally:
            meter.cancel()


def check_length(service: Service, *texts: str, subject: str = "the question") -> None:
    """Raise Problem 422 for a text longer than `server.max_question_characters`."""
    most = service.settings.max_question_characters
    if any(len(text) > most for text in texts):
        raise Problem(422, f"is longer than {most:,} characters", subject=subject, next_step="write fewer words")


def check_number(service: Service, texts: Sequence[Any], what: str) -> None:
    """Raise Problem 422 for more texts than `server.max_documents`."""
    most = service.settings.max_documents
    if len(texts) > most:
        raise Problem(422, f"are more than {most:,}", subject=f"{len(texts):,} {what}", next_step="send fewer at once")


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


class Question:
    """One question, answered in a thread: iterate over its events to the end, or call `end`; the answer comes last.

    A task of its own holds its turn and its time, because a streamed reply is begun by one task, written by another and
    cancelled when the client disconnects. Iterating raises Problem 429 when too many wait, 504 after
    `server.timeout_seconds`, and the engine's errors.
    """

    def __init__(
        self, service: Service, caller: Caller, collection: Collection, question: str, options: Mapping[str, Any]
    ) -> None:
        """`options` are those of `Collection.ask`. Raises Problem 422 for a question that is too long."""
        check_length(service, question)
        seconds = service.settings.timeout_seconds
        given = {**options, "budget_seconds": min(options.get("budget_seconds") or seconds, seconds)}
        collection.check_asked(question, given)  # type: ignore[arg-type]
        self._told: asyncio.Queue[Event | Exception | None] = asyncio.Queue()  # None: the end
        self._first: list[Event | Exception | None] = []
        self._task = asyncio.create_task(self._follow(service, caller, collection, question, given))
        _OPEN.add(self._task)
        self._task.add_done_callback(_OPEN.discard)

    async def begun(self, *, seconds: float = FIRST_SECONDS) -> Question:
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

    async def answer(self) -> Answer:
        """The answer alone."""
        *_, answer = [event async for event in self]
        assert isinstance(answer, Answer)
        return answer

    def end(self) -> None:
        """End the question, finished or not."""
        self._task.cancel()

    async def _follow(
        self, service: Service, caller: Caller, collection: Collection, question: str, options: dict[str, Any]
    ) -> None:
        loop = asyncio.get_running_loop()
        meter, left = Meter.of(options), threading.Event()

        def tell(event: Event) -> None:
            loop.call_soon_threadsafe(self._told.put_nowait, event)

        def work() -> None:
            for event in collection.run(question, meter=meter, on_sentence=tell, **options):
                if isinstance(event, Answer):
                    service.audit.write(caller.name, "ask", collection=collection.name, trace=event.trace)
                    Askers(service.home).note(caller, collection.name, event.trace)
                    telemetry.asked(event, collection.name)
                tell(event)
                if left.is_set():
                    return  # before the answer is stored

        try:
            async with _turn(service):
                with telemetry.waiting(service.admission):
                    working = loop.run_in_executor(service.threads, copy_context().run, work)
                    try:
                        await asyncio.wait([working])
                    finally:
                        if not working.done():
                            left.set()
                            meter.cancel()
                            await asyncio.wait([working])
                            working.exception()  # of no interest any more
                    working.result()
        except Exception as error:  # any: raised again in the task that reads
            self._told.put_nowait(error)
        finally:
            self._told.put_nowait(None)
