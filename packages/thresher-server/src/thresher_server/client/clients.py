"""The clients: one that waits for each reply, and one for asyncio with the same calls, awaited."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from functools import wraps
from types import TracebackType
from typing import Any, Concatenate, ParamSpec, Unpack

import httpx

from thresher.answer import Answer
from thresher.indexing.ingest import Report
from thresher.judging.calibration import Calibration
from thresher.types import Step
from thresher_server.client.calls import AskOptions, Call, Calls, Value, given, question_body
from thresher_server.client.reading import Job, Progress, event_of_question, together
from thresher_server.client.transport import (
    CONNECT_SECONDS,
    Events,
    Source,
    addresses,
    check_reply,
    form,
    reaching,
    wait_of,
)

Parameters = ParamSpec("Parameters")
Watching = Callable[[Progress], None]


def _sent(
    call: Callable[Concatenate[Calls, Parameters], Call[Value]],
) -> Callable[Concatenate[Client, Parameters], Value]:
    @wraps(call)
    def method(client: Client, /, *args: Parameters.args, **options: Parameters.kwargs) -> Value:
        return client._done(call(client._calls, *args, **options))

    return method


def _awaited(
    call: Callable[Concatenate[Calls, Parameters], Call[Value]],
) -> Callable[Concatenate[AsyncClient, Parameters], Awaitable[Value]]:
    @wraps(call)
    async def method(client: AsyncClient, /, *args: Parameters.args, **options: Parameters.kwargs) -> Value:
        return await client._done(call(client._calls, *args, **options))

    return method


class _Base:
    """Address and collection of a client."""

    def __init__(self, url: str, key: str, collection: str, timeout: float) -> None:
        self.url = url.rstrip("/")
        self.collection = collection
        self._options: dict[str, Any] = {
            "base_url": self.url,
            "headers": {"Authorization": f"Bearer {key}"} if key else {},
            "timeout": httpx.Timeout(timeout, connect=CONNECT_SECONDS),
        }

    @property
    def _calls(self) -> Calls:
        return Calls(self.collection)


class Client(_Base):
    """A client of one collection of a server; `at` selects another. Safe to use from several threads.

    `key` is made by `thresher keys add`; a server on loopback takes the token that it prints, and needs neither with
    `--open`. `timeout`: seconds for one reply.
    """

    def __init__(
        self, url: str = "http://127.0.0.1:8765", *, key: str = "", collection: str = "default", timeout: float = 180.0
    ) -> None:
        super().__init__(url, key, collection, timeout)
        self._http = httpx.Client(**self._options)

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections, also those of clients that `at` made."""
        self._http.close()

    def at(self, collection: str) -> Client:
        """A client of another collection over the same connections."""
        other = object.__new__(Client)
        other.url, other.collection, other._http = self.url, collection, self._http
        return other

    session = _sent(Calls.session)
    collections = _sent(Calls.collections)
    status = _sent(Calls.status)
    make = _sent(Calls.make)
    drop = _sent(Calls.drop)
    recipes = _sent(Calls.recipes)
    documents = _sent(Calls.documents)
    text = _sent(Calls.text)
    delete = _sent(Calls.delete)
    jobs = _sent(Calls.jobs)
    job = _sent(Calls.job)
    cancel = _sent(Calls.cancel)
    search = _sent(Calls.search)
    ask = _sent(Calls.ask)
    check = _sent(Calls.check)
    begin = _sent(Calls.begin)
    conversation = _sent(Calls.conversation)
    traces = _sent(Calls.traces)
    explain = _sent(Calls.explain)
    replay = _sent(Calls.replay)
    feedback = _sent(Calls.feedback)

    def rename(self, new: str) -> Client:
        """Give the collection another name; returns its client."""
        self._done(self._calls.rename(new))
        return self.at(new)

    def copy(self, new: str) -> Client:
        """Make a second collection of the same documents; returns its client."""
        self._done(self._calls.copy(new))
        return self.at(new)

    def add(self, *sources: Source, recipe: str | None = None, progress: Watching | None = None) -> Report:
        """Send files, folders, web addresses or (name, bytes) pairs, and wait until they are indexed.

        `failed` of the report lists what cannot be read. Raises UsageError for a path that does not exist.
        """
        jobs = []
        with form(sources) as files:
            if files:
                told = self._reply("POST", self._calls.at("documents"), files=files, data=given(recipe=recipe))
                jobs.append(str(told.json()["job"]))
        if urls := addresses(sources):
            jobs.append(self._done(self._calls.add_addresses(urls, recipe)))
        return together([self.wait(job, progress).report for job in jobs])

    def file(self, document: str) -> bytes:
        """A document's original. Raises StoreError if the server has none."""
        return self._reply("GET", self._calls.at("documents", document, "file")).content

    def reindex(self, document: str) -> Report:
        """Read a document again."""
        return self.wait(self._done(self._calls.reindex(document))).report

    def calibrate(
        self,
        questions: Sequence[tuple[str, bool]] | None = None,
        *,
        recipe: str | None = None,
        number: int | None = None,
        progress: Watching | None = None,
    ) -> Calibration:
        """Calibrate a recipe's judge on the collection, and wait for the result."""
        started = self._done(self._calls.calibrate(questions=questions, recipe=recipe, number=number))
        return self.wait(started, progress).calibration

    def wait(self, id_: str, progress: Watching | None = None) -> Job:
        """Wait for the end of a job; `progress` receives its progress."""
        while True:
            for _, told in self._events("GET", f"/api/jobs/{id_}/events"):
                job = Job.from_dict(told)
                if progress is not None:
                    progress(job.progress)
                if not job.is_open:
                    return job
            # the server stopped; the job continues once it runs again

    def stream(self, words: str, **options: Unpack[AskOptions]) -> Iterator[Step | str | Answer]:
        """Steps and checked sentences as they end, the answer last. Closing the iterator early ends the question."""
        body = question_body(words, options, stream=True)
        for name, told in self._events("POST", self._calls.at("ask"), json=body):
            yield event_of_question(name, told)

    def _done(self, call: Call[Value]) -> Value:
        reply = self._reply(call.method, call.path, json=call.json, params=call.params)
        return call.read(reply.json() if reply.content else None)

    def _reply(self, method: str, path: str, **sent: Any) -> httpx.Response:
        tried = 0
        with reaching(self.url):
            reply = self._http.request(method, path, **sent)
            while "files" not in sent and (wait := wait_of(reply, tried)) is not None:
                tried += 1
                time.sleep(wait)
                reply = self._http.request(method, path, **sent)
        check_reply(reply)
        return reply

    def _events(self, method: str, path: str, **sent: Any) -> Iterator[tuple[str, Any]]:
        tried, events = 0, Events()
        with reaching(self.url):
            while True:
                with self._http.stream(method, path, **sent) as reply:
                    if reply.is_success:
                        for line in reply.iter_lines():
                            if (event := events.of(line)) is not None:
                                yield event
                        return
                    reply.read()
                    wait = wait_of(reply, tried)
                    if wait is None:
                        check_reply(reply)
                tried += 1
                time.sleep(wait or 0.0)


class AsyncClient(_Base):
    """As `Client`, for one event loop."""

    def __init__(
        self, url: str = "http://127.0.0.1:8765", *, key: str = "", collection: str = "default", timeout: float = 180.0
    ) -> None:
        super().__init__(url, key, collection, timeout)
        self._http = httpx.AsyncClient(**self._options)

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connections, also those of clients that `at` made."""
        await self._http.aclose()

    def at(self, collection: str) -> AsyncClient:
        """A client of another collection over the same connections."""
        other = object.__new__(AsyncClient)
        other.url, other.collection, other._http = self.url, collection, self._http
        return other

    session = _awaited(Calls.session)
    collections = _awaited(Calls.collections)
    status = _awaited(Calls.status)
    make = _awaited(Calls.make)
    drop = _awaited(Calls.drop)
    recipes = _awaited(Calls.recipes)
    documents = _awaited(Calls.documents)
    text = _awaited(Calls.text)
    delete = _awaited(Calls.delete)
    jobs = _awaited(Calls.jobs)
    job = _awaited(Calls.job)
    cancel = _awaited(Calls.cancel)
    search = _awaited(Calls.search)
    ask = _awaited(Calls.ask)
    check = _awaited(Calls.check)
    begin = _awaited(Calls.begin)
    conversation = _awaited(Calls.conversation)
    traces = _awaited(Calls.traces)
    explain = _awaited(Calls.explain)
    replay = _awaited(Calls.replay)
    feedback = _awaited(Calls.feedback)

    async def rename(self, new: str) -> AsyncClient:
        """As `Client.rename`."""
        await self._done(self._calls.rename(new))
        return self.at(new)

    async def copy(self, new: str) -> AsyncClient:
        """As `Client.copy`."""
        await self._done(self._calls.copy(new))
        return self.at(new)

    async def add(self, *sources: Source, recipe: str | None = None, progress: Watching | None = None) -> Report:
        """As `Client.add`."""
        jobs = []
        with form(sources) as files:
            if files:
                told = await self._reply("POST", self._calls.at("documents"), files=files, data=given(recipe=recipe))
                jobs.append(str(told.json()["job"]))
        if urls := addresses(sources):
            jobs.append(await self._done(self._calls.add_addresses(urls, recipe)))
        return together([(await self.wait(job, progress)).report for job in jobs])

    async def file(self, document: str) -> bytes:
        """As `Client.file`."""
        return (await self._reply("GET", self._calls.at("documents", document, "file"))).content

    async def reindex(self, document: str) -> Report:
        """As `Client.reindex`."""
        return (await self.wait(await self._done(self._calls.reindex(document)))).report

    async def calibrate(
        self,
        questions: Sequence[tuple[str, bool]] | None = None,
        *,
        recipe: str | None = None,
        number: int | None = None,
        progress: Watching | None = None,
    ) -> Calibration:
        """As `Client.calibrate`."""
        started = await self._done(self._calls.calibrate(questions=questions, recipe=recipe, number=number))
        return (await self.wait(started, progress)).calibration

    async def wait(self, id_: str, progress: Watching | None = None) -> Job:
        """As `Client.wait`."""
        while True:
            async for _, told in self._events("GET", f"/api/jobs/{id_}/events"):
                job = Job.from_dict(told)
                if progress is not None:
                    progress(job.progress)
                if not job.is_open:
                    return job

    async def stream(self, words: str, **options: Unpack[AskOptions]) -> AsyncIterator[Step | str | Answer]:
        """As `Client.stream`."""
        body = question_body(words, options, stream=True)
        async for name, told in self._events("POST", self._calls.at("ask"), json=body):
            yield event_of_question(name, told)

    async def _done(self, call: Call[Value]) -> Value:
        reply = await self._reply(call.method, call.path, json=call.json, params=call.params)
        return call.read(reply.json() if reply.content else None)

    async def _reply(self, method: str, path: str, **sent: Any) -> httpx.Response:
        tried = 0
        with reaching(self.url):
            reply = await self._http.request(method, path, **sent)
            while "files" not in sent and (wait := wait_of(reply, tried)) is not None:
                tried += 1
                await asyncio.sleep(wait)
                reply = await self._http.request(method, path, **sent)
        check_reply(reply)
        return reply

    async def _events(self, method: str, path: str, **sent: Any) -> AsyncIterator[tuple[str, Any]]:
        tried, events = 0, Events()
        with reaching(self.url):
            while True:
                async with self._http.stream(method, path, **sent) as reply:
                    if reply.is_success:
                        async for line in reply.aiter_lines():
                            if (event := events.of(line)) is not None:
                                yield event
                        return
                    await reply.aread()
                    wait = wait_of(reply, tried)
                    if wait is None:
                        check_reply(reply)
                tried += 1
                await asyncio.sleep(wait or 0.0)
