"""Collections for asyncio: the same engine, each question in a thread of its own.

async with thresher.aopen(home="notes") as collection:
    answer = await collection.ask("How many layers has BERT-base?")

A question that is cancelled (its task, or a timeout around it) ends: the calls to the chat model that are under way are
cut off, no other begins, and work on this machine stops between two texts.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Generator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, TypeVar, Unpack

from thresher.answer import Answer
from thresher.collection import Collection
from thresher.collection.options import AddOptions, AskOptions, SearchOptions
from thresher.indexing.ingest import Report
from thresher.models.usage import Meter
from thresher.types import SearchResult, Step

Value = TypeVar("Value")


class AsyncCollection:
    """A collection whose questions may be awaited; `collection` is the one that is asked."""

    def __init__(self, collection: Collection) -> None:
        self.collection = collection

    async def __aenter__(self) -> AsyncCollection:
        return self

    async def __aexit__(self, *error: object) -> None:
        self.collection.close()

    async def ask(self, question: str, **options: Unpack[AskOptions]) -> Answer:
        """As `Collection.ask`. A cancelled question leaves no trace."""
        *_, last = [step async for step in self.run(question, **options)]
        assert isinstance(last, Answer)
        return last

    def run(self, question: str, **options: Unpack[AskOptions]) -> AsyncIterator[Step | Answer]:
        """As `Collection.run`: the steps as they finish, the answer last."""
        meter = Meter.of(options)
        return _awaited(self.collection.run(question, meter=meter, **options), meter)

    def stream(self, question: str, **options: Unpack[AskOptions]) -> AsyncIterator[str | Answer]:
        """As `Collection.stream`: the sentences as they are written and checked, the answer last."""
        meter = Meter.of(options)
        return _awaited(self.collection.stream(question, meter=meter, **options), meter)

    async def search(self, question: str, **options: Unpack[SearchOptions]) -> SearchResult:
        """As `Collection.search`."""
        return await asyncio.to_thread(self.collection.search, question, **options)

    async def add(self, *sources: str | Path, **options: Unpack[AddOptions]) -> Report:
        """As `Collection.add`, which goes on to its end when it is cancelled: what is committed stays either way."""
        return await asyncio.to_thread(self.collection.add, *sources, **options)

    async def add_text(self, text: str, *, source: str, **options: Any) -> Report:
        """As `Collection.add_text`, under the same rule."""
        return await asyncio.to_thread(partial(self.collection.add_text, text, source=source, **options))


async def _awaited(pieces: Generator[Value, None, None], meter: Meter) -> AsyncIterator[Value]:
    """Pieces, each made in a thread. When this is cancelled or left, the work is ended and waited for.

    Who cancels again no longer waits; the work still ends.
    """
    loop = asyncio.get_running_loop()
    call = loop.run_in_executor(None, next, pieces, None)
    try:
        while (piece := await asyncio.shield(call)) is not None:
            yield piece
            call = loop.run_in_executor(None, next, pieces, None)
    except (asyncio.CancelledError, GeneratorExit):
        meter.cancel()
        call.add_done_callback(lambda ended: ended.exception())  # asyncio reports one that nobody looks at
        with suppress(Exception):
            await asyncio.shield(call)
        await asyncio.to_thread(pieces.close)  # of one that gave a piece after all
        raise
