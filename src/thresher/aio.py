"""Collections for asyncio: the same engine, each question in a thread of its own.

async with thresher.aopen(home="notes") as collection:
    answer = await collection.ask("How many layers has BERT-base?")

A question that is cancelled (its task, or a timeout around it) ends: the calls to the chat model that are under way are
cut off, no other begins, and work on this machine stops between two texts.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from threading import Event
from types import TracebackType
from typing import Any, TypeVar, Unpack

from thresher.answer import Answer
from thresher.collection import Collection
from thresher.errors import Cancelled
from thresher.indexing.ingest import Report
from thresher.models.usage import Meter
from thresher.opened import AskOptions
from thresher.types import SearchResult, Step

Value = TypeVar("Value")


class AsyncCollection:
    """A collection whose questions may be awaited; `collection` is the one that is asked."""

    def __init__(self, collection: Collection) -> None:
        self.collection = collection

    async def __aenter__(self) -> AsyncCollection:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.collection.close()

    async def ask(self, question: str, **options: Unpack[AskOptions]) -> Answer:
        """As `Collection.ask`. A cancelled question leaves no trace."""
        *_, last = [step async for step in self.run(question, **options)]
        assert isinstance(last, Answer)
        return last

    def run(self, question: str, **options: Unpack[AskOptions]) -> AsyncIterator[Step | Answer]:
        """As `Collection.run`: the steps as they finish, the answer last."""
        meter = Meter.of(options)
        return self._steps(self.collection.run(question, meter=meter, **options), meter)

    async def _steps(self, steps: Iterator[Step | Answer], meter: Meter) -> AsyncIterator[Step | Answer]:
        while (step := await _ending(meter, partial(next, steps, None))) is not None:
            yield step

    def stream(self, question: str, **options: Unpack[AskOptions]) -> AsyncIterator[str | Answer]:
        """As `Collection.stream`: the sentences as they are written and checked, the answer last.

        A reader that is cancelled, or goes before the end, ends the question.
        """
        self.collection.check_asked(question, options)
        return self._sentences(question, options)

    async def _sentences(self, question: str, options: AskOptions) -> AsyncIterator[str | Answer]:
        meter, loop = Meter.of(options), asyncio.get_running_loop()
        sentences: asyncio.Queue[str | None] = asyncio.Queue()  # None: there is no other
        left = Event()

        def answered() -> Answer:
            def on_sentence(sentence: str) -> None:
                loop.call_soon_threadsafe(sentences.put_nowait, sentence)

            options["on_sentence"] = on_sentence
            for step in self.collection.run(question, meter=meter, **options):
                if isinstance(step, Answer):
                    return step
                if left.is_set():
                    break  # before the answer is stored
            raise Cancelled("the question was cancelled")

        answering = loop.run_in_executor(None, answered)
        answering.add_done_callback(lambda _: sentences.put_nowait(None))
        try:
            while (sentence := await sentences.get()) is not None:
                yield sentence
            yield await answering
        finally:
            if not answering.done():
                left.set()
                meter.cancel()
            with suppress(Exception):
                await answering

    async def search(self, question: str, **options: Any) -> SearchResult:
        """As `Collection.search`."""
        return await asyncio.to_thread(self.collection.search, question, **options)

    async def add(self, *sources: str | Path, **options: Any) -> Report:
        """As `Collection.add`, which goes on to its end when it is cancelled: what is committed stays either way."""
        return await asyncio.to_thread(self.collection.add, *sources, **options)

    async def add_text(self, text: str, *, source: str, **options: Any) -> Report:
        """As `Collection.add_text`, under the same rule."""
        return await asyncio.to_thread(partial(self.collection.add_text, text, source=source, **options))


async def _ending(meter: Meter, work: Callable[[], Value]) -> Value:
    """What the work returns from a thread; when this is cancelled the work is ended, and waited for until it has."""
    call = asyncio.get_running_loop().run_in_executor(None, work)
    try:
        return await asyncio.shield(call)
    except asyncio.CancelledError:
        meter.cancel()
        with suppress(Exception):
            await call
        raise
