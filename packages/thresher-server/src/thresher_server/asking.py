"""Runs a question in a thread and passes its steps, sentences and answer to the event loop."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any, TypeVar

from thresher.answer import Answer
from thresher.collection import Collection
from thresher.deadline import within
from thresher.models.usage import Meter
from thresher.types import Step
from thresher_server import metrics, telemetry
from thresher_server.askers import Askers
from thresher_server.problems import Problem
from thresher_server.security.keys import Caller
from thresher_server.service import Service

Event = Step | str | Answer
"""A step when it ends, a sentence when it is written and checked, the answer last."""

Value = TypeVar("Value")


async def asked(
    service: Service, caller: Caller, collection: Collection, question: str, options: Mapping[str, Any]
) -> Answer:
    """The answer alone. Raises as `events`."""
    *_, last = [event async for event in events(service, caller, collection, question, options)]
    assert isinstance(last, Answer)
    return last


async def begun(events: AsyncIterator[Event]) -> AsyncIterator[Event]:
    """The same events once the first has arrived: a refusal is raised before the reply begins."""
    first = await anext(events)

    async def rest() -> AsyncIterator[Event]:
        yield first
        async for event in events:
            yield event

    return rest()


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
    async with _InTime(seconds), service.admission.turn():
        with metrics.waiting(service.admission):
            async for event in _followed(service, collection, question, given):
                if isinstance(event, Answer) and event.steps:  # a greeting has no steps and is no question
                    metrics.answered(event)
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

    async with _InTime(service.settings.timeout_seconds), service.admission.turn():
        try:
            return await asyncio.get_running_loop().run_in_executor(service.threads, in_time)
        finally:
            meter.cancel()


def check_length(service: Service, *texts: str) -> None:
    """Raise Problem 422 for a text longer than `server.max_question_characters`."""
    most = service.settings.max_question_characters
    if any(len(text) > most for text in texts):
        raise Problem(
            422, f"is longer than {most:,} characters", subject="the question", next_step="ask in fewer words"
        )


async def _followed(
    service: Service, collection: Collection, question: str, options: dict[str, Any]
) -> AsyncIterator[Event]:
    loop = asyncio.get_running_loop()
    told: asyncio.Queue[Event | None] = asyncio.Queue()  # None: the end
    meter, left = Meter.of(options), threading.Event()

    def tell(event: Event) -> None:
        loop.call_soon_threadsafe(told.put_nowait, event)

    def work() -> None:
        for step in collection.run(question, meter=meter, on_sentence=tell, **options):
            tell(step)
            if left.is_set():
                return  # before the answer is stored

    def ended(_: object) -> None:
        told.put_nowait(None)

    working = loop.run_in_executor(service.threads, work)
    working.add_done_callback(ended)
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


class _InTime:
    """Raises Problem 504 after so many seconds."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._timeout = asyncio.timeout(seconds)

    async def __aenter__(self) -> None:
        await self._timeout.__aenter__()

    async def __aexit__(self, kind: Any, error: Any, trace: Any) -> None:
        try:
            await self._timeout.__aexit__(kind, error, trace)
        except TimeoutError:
            what = f"took longer than {self._seconds:g} seconds"
            raise Problem(504, what, subject="the question", next_step="ask again, or raise the limit") from None
