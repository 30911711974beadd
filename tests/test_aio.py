"""Questions that are awaited, and what becomes of a model's call when one is cancelled."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Generator
from contextlib import closing
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import pytest

import thresher
from thresher.answer import Answer
from thresher.collection import Collection
from thresher.collection.aio import AsyncCollection
from thresher.errors import Cancelled, UsageError
from thresher.models.usage import Meter
from thresher.pipeline import SLOTS
from thresher.types import Step
from thresher_testing.llm_server import Reply, ScriptedServer

Serve = Callable[..., ScriptedServer]
QUESTION = "When was the lighthouse built?"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "notes.txt").write_text("The lighthouse of Kõpu was built in 1531.", encoding="utf-8")
    with thresher.open(tmp_path / "home") as collection:
        collection.add(tmp_path / "notes.txt", recipe="rag")
    return tmp_path / "home"


def test_a_question_is_awaited_and_its_steps_and_sentences_come_one_by_one(home: Path) -> None:
    async def asked() -> tuple[Answer, list[Step | Answer], list[str | Answer]]:
        async with thresher.aopen(home) as collection:
            answer = await collection.ask(QUESTION, recipe="rag")
            steps = [step async for step in collection.run(QUESTION, recipe="rag")]
            return answer, steps, [piece async for piece in collection.stream(QUESTION, recipe="rag")]

    answer, (*steps, last), (*sentences, end) = asyncio.run(asked())
    assert "1531" in answer.text
    assert [step.name for step in steps if isinstance(step, Step)] == list(SLOTS)
    assert isinstance(last, Answer)
    assert isinstance(end, Answer)
    assert "".join(map(str, sentences)) == end.text == last.text == answer.text


@pytest.mark.parametrize("way", ["ask", "stream"])
def test_what_is_cancelled_cuts_off_the_call_under_way_and_begins_no_other(home: Path, serve: Serve, way: str) -> None:
    server = serve(Reply("late", seconds=60))
    settings = {"llm.base_url": server.base_url, "llm.model": "slow"}

    async def cancelled() -> float:
        async with thresher.aopen(home) as collection:

            async def asked() -> None:
                if way == "ask":
                    await collection.ask(QUESTION, recipe="rag", settings=settings)
                async for _ in collection.stream(QUESTION, recipe="rag", settings=settings):
                    pass

            asking = asyncio.create_task(asked())
            while not server.requests:
                await asyncio.sleep(0.01)
            started = monotonic()
            asking.cancel()
            with pytest.raises(asyncio.CancelledError):
                await asking
            return monotonic() - started

    assert asyncio.run(cancelled()) < 20  # the model would have answered after 60 s
    assert len(server.requests) == 1
    assert not list((home / "collections" / "default" / "traces").glob("*.json"))


class Slow(Collection):
    """Says one sentence, and goes on until its question is ended."""

    def run(self, question: str, *, meter: Meter | None = None, **options: Any) -> Generator[Step | Answer, None, None]:
        options["on_sentence"]("It was built. ")
        while meter is not None:
            yield Step("generate", 0.0, 1, 1)
            sleep(0.3)
            meter.allow_time()


@pytest.mark.parametrize("awaited", [True, False])
def test_a_reader_that_leaves_a_stream_ends_the_question(home: Path, awaited: bool) -> None:
    async def first() -> str | Answer:
        sentences = AsyncCollection(Slow(home, "default")).stream(QUESTION)
        try:
            return await anext(sentences)
        finally:
            await sentences.aclose()  # type: ignore[attr-defined]

    if awaited:
        assert asyncio.run(first()) == "It was built. "
    else:
        with closing(Slow(home, "default").stream(QUESTION)) as sentences:
            assert next(sentences) == "It was built. "
    assert "stream" not in [thread.name for thread in threading.enumerate()]  # whoever left may close the collection


@pytest.mark.parametrize("way", ["run", "stream"])
def test_what_is_cancelled_twice_is_cancelled(home: Path, way: str) -> None:
    async def cancelled() -> None:
        collection = AsyncCollection(Slow(home, "default"))

        async def asked() -> None:
            async for _ in getattr(collection, way)(QUESTION, on_sentence=str):
                pass

        asking = asyncio.create_task(asked())
        for _ in range(2):
            await asyncio.sleep(0.1)
            asking.cancel()
            await asyncio.sleep(0)
        with pytest.raises(asyncio.CancelledError):
            await asking

    asyncio.run(cancelled())


def test_a_cancelled_meter_allows_nothing_and_ends_what_comes_late() -> None:
    meter, ended = Meter(), []
    meter.on_cancel(lambda: ended.append("before"))
    meter.cancel()
    meter.on_cancel(lambda: ended.append("after"))
    assert ended == ["before", "after"]
    assert meter.seconds_left == 0
    with pytest.raises(Cancelled):
        meter.allow()


def test_what_cannot_be_asked_is_told_when_it_is_asked(home: Path) -> None:
    collection = thresher.aopen(home)
    for asked in (collection.run, collection.stream, collection.collection.run, collection.collection.stream):
        with pytest.raises(UsageError, match="the question is empty; ask something"):
            asked(" ")
    with pytest.raises(UsageError, match="the question is empty"):
        asyncio.run(collection.ask(""))
    with pytest.raises(UsageError, match="the question is empty"):
        asyncio.run(collection.search(""))
    with pytest.raises(UsageError, match="k: unknown option of `search`; say `limit`"):
        asyncio.run(collection.search(QUESTION, k=3))


async def tell(sentence: str) -> None:
    """Cannot be told anything without being awaited."""


def test_an_async_function_is_refused_where_a_plain_one_is_called(home: Path) -> None:
    with pytest.raises(UsageError, match="`on_sentence` tell: is an async function, which nothing here awaits"):
        thresher.open(home).run(QUESTION, on_sentence=tell)  # type: ignore[arg-type]


def test_a_closed_collection_says_that_it_is_closed(home: Path, tmp_path: Path) -> None:
    async def closed() -> AsyncCollection:
        async with thresher.aopen(home) as collection:
            return collection

    collection = asyncio.run(closed())
    told = "collection default: is closed; open it again"
    for asked in (collection.run, collection.stream):
        with pytest.raises(UsageError, match=told):
            asked(QUESTION)
    for awaited in (collection.ask(QUESTION), collection.search(QUESTION), collection.add(tmp_path / "notes.txt")):
        with pytest.raises(UsageError, match=told):
            asyncio.run(awaited)
    with pytest.raises(UsageError, match=told):
        collection.collection.documents()
