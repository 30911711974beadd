"""The clients: `AsyncClient` for asyncio, and `Client` with the same calls, each of which waits for its reply.

Every call is written once, as a coroutine over four primitives (`_send`, `_opened`, `_sleep`, `close`). Those of
`Client` block, so that its coroutines end at their first step and need no event loop.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from datetime import datetime
from functools import wraps
from types import TracebackType
from typing import Any, Concatenate, ParamSpec, TypedDict, TypeVar, Unpack
from urllib.parse import quote

import httpx

from thresher.answer import Answer
from thresher.collection import Calibration, DocumentRecord, Report, Summary
from thresher.types import Check, SearchResult, Step
from thresher_server.client import reading
from thresher_server.client.reading import Explained, Job, Json, PastQuestion, Progress
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

Value = TypeVar("Value")
Parameters = ParamSpec("Parameters")
Watching = Callable[[Progress], None]

HERE = "http://127.0.0.1:8765"


class SearchOptions(TypedDict, total=False):
    """Options of `Collection.search`."""

    recipe: str | None
    limit: int
    where: str | None
    max_tokens: int | None
    settings: Mapping[str, Any] | None


class AskOptions(TypedDict, total=False):
    """Options of `Collection.ask`."""

    recipe: str | None
    outside: str | None
    """none, web or collection:NAME."""
    where: str | None
    settings: Mapping[str, Any] | None
    strict: bool
    budget_calls: int | None
    budget_tokens: int | None
    budget_seconds: float | None
    max_tokens: int | None
    history: Sequence[tuple[str, str] | Answer]
    conversation: str | None
    """Id of a conversation on the server."""


class AsyncClient:
    """As `Client`, for one event loop."""

    def __init__(self, url: str = HERE, *, key: str = "", collection: str = "default", timeout: float = 180.0) -> None:
        self.url = url.rstrip("/")
        self.collection = collection
        self._http: Any = self._connected(
            base_url=self.url,
            headers={"Authorization": f"Bearer {key}"} if key else {},
            timeout=httpx.Timeout(timeout, connect=CONNECT_SECONDS),
        )

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def at(self, collection: str) -> AsyncClient:
        """A client of another collection over the same connections."""
        other = object.__new__(type(self))
        other.url, other.collection, other._http = self.url, collection, self._http
        return other

    # --- collections

    async def session(self) -> Json:
        """The caller and what the server offers."""
        return dict(await self._json("GET", "/api/session"))

    async def collections(self) -> list[Summary]:
        """The collections of the key, with their sizes."""
        return list(map(reading.summary, (await self._json("GET", "/api/collections"))["collections"]))

    async def status(self) -> Json:
        """What the collection holds."""
        return dict(await self._json("GET", self._at()))

    async def make(self) -> None:
        """Make the collection, empty."""
        await self._json("POST", "/api/collections", json={"name": self.collection})

    async def rename(self, new: str) -> AsyncClient:
        """Give the collection another name; returns its client."""
        await self._json("PATCH", self._at(), json={"name": new})
        return self.at(new)

    async def copy(self, new: str) -> AsyncClient:
        """Make a second collection of the same documents; returns its client."""
        await self._json("POST", self._at("copy"), json={"name": new})
        return self.at(new)

    async def drop(self) -> None:
        """Remove the collection."""
        await self._json("DELETE", self._at())

    async def recipes(self) -> list[dict[str, Any]]:
        """The recipes and their slots."""
        return list(await self._json("GET", "/api/recipes"))

    # --- documents

    async def add(self, *sources: Source, recipe: str | None = None, progress: Watching | None = None) -> Report:
        """Send files, folders, web addresses or (name, bytes) pairs, and wait until they are indexed.

        `failed` of the report lists what cannot be read. Raises UsageError for a path that does not exist.
        """
        path, given, jobs = self._at("documents"), _given(recipe=recipe), []
        with form(sources) as files:
            if files:
                jobs.append(await self._json("POST", path, files=files, data=given))
        if urls := addresses(sources):
            jobs.append(await self._json("POST", path, json={"urls": urls, **given}))
        return reading.together([(await self.wait(one["job"], progress)).report for one in jobs])

    async def documents(
        self, *, where: str | None = None, words: str | None = None, limit: int = 1000, offset: int = 0
    ) -> list[DocumentRecord]:
        """Documents that match a filter and have words in source or title."""
        asked = _given(where=where, words=words, limit=limit, offset=offset)
        return list(map(reading.document, (await self._json("GET", self._at("documents"), params=asked))["documents"]))

    async def text(self, document: str, *, start: int = 0, end: int | None = None) -> str:
        """A range of a document's text, in characters."""
        asked = _given(start=start, end=end)
        return str((await self._json("GET", self._at("documents", document, "text"), params=asked))["text"])

    async def file(self, document: str) -> bytes:
        """A document's original. Raises StoreError if the server has none."""
        return (await self._reply("GET", self._at("documents", document, "file"))).content

    async def delete(self, document: str, *, purge: bool = False) -> list[str]:
        """Forget a document; returns its sources. `purge` also removes what quotes it."""
        asked = {"purge": str(purge).lower()}
        return list((await self._json("DELETE", self._at("documents", document), params=asked))["deleted"])

    async def reindex(self, document: str) -> Report:
        """Read a document again."""
        started = await self._json("POST", self._at("documents", document, "reindex"))
        return (await self.wait(started["job"])).report

    # --- jobs

    async def jobs(self) -> list[Job]:
        """The jobs of the collection, the newest first."""
        told = await self._json("GET", "/api/jobs", params={"collection": self.collection})
        return list(map(Job.from_dict, told["jobs"]))

    async def job(self, id_: str) -> Job:
        """A job with its log."""
        return Job.from_dict(await self._json("GET", f"/api/jobs/{id_}"))

    async def cancel(self, id_: str) -> Job:
        """Request the cancellation of a job."""
        return Job.from_dict(await self._json("POST", f"/api/jobs/{id_}/cancel"))

    async def wait(self, id_: str, progress: Watching | None = None) -> Job:
        """Wait for the end of a job; `progress` receives its progress."""
        while True:
            async with aclosing(self._events("GET", f"/api/jobs/{id_}/events")) as events:
                async for _, told in events:
                    job = Job.from_dict(told)
                    if progress is not None:
                        progress(job.progress)
                    if not job.is_open:
                        return job
            # the server stopped; the job continues once it runs again

    async def calibrate(
        self,
        questions: Sequence[tuple[str, bool]] | None = None,
        *,
        recipe: str | None = None,
        number: int | None = None,
        progress: Watching | None = None,
    ) -> Calibration:
        """Calibrate a recipe's judge on the collection, and wait for the result."""
        asked = _given(questions=questions, recipe=recipe, number=number)
        started = await self._json("POST", self._at("calibrate"), json=asked)
        return (await self.wait(started["job"], progress)).calibration

    # --- questions

    async def search(self, question: str, **options: Unpack[SearchOptions]) -> SearchResult:
        """As `Collection.search`."""
        asked = {"question": question, **_given(**options)}
        return reading.search_result(await self._json("POST", self._at("search"), json=asked))

    async def ask(self, words: str, **options: Unpack[AskOptions]) -> Answer:
        """As `Collection.ask`; with `conversation` the question follows up on it and is added to it."""
        asked = _question(words, options, stream=False)
        return reading.answer(await self._json("POST", self._at("ask"), json=asked))

    async def stream(self, words: str, **options: Unpack[AskOptions]) -> AsyncGenerator[Step | str | Answer, None]:
        """Steps and checked sentences as they end, the answer last. Closing the iterator early ends the question."""
        asked = _question(words, options, stream=True)
        async with aclosing(self._events("POST", self._at("ask"), json=asked)) as events:
            async for name, told in events:
                yield reading.event_of_question(name, told)

    async def check(self, text: str, *, recipe: str | None = None, where: str | None = None) -> Check:
        """Check every claim of a text against the documents."""
        asked = {"text": text, **_given(recipe=recipe, where=where)}
        return reading.check(await self._json("POST", self._at("check"), json=asked))

    async def begin(self) -> str:
        """Begin a conversation; returns its id."""
        return str((await self._json("POST", self._at("conversations")))["id"])

    async def conversation(self, id_: str) -> list[Answer]:
        """The answers of a conversation."""
        return list(map(reading.answer, (await self._json("GET", self._at("conversations", id_)))["turns"]))

    # --- past questions

    async def traces(self, *, limit: int = 50, before: datetime | None = None) -> list[PastQuestion]:
        """Past questions, the newest first."""
        asked = _given(limit=limit, before=None if before is None else before.isoformat())
        told = await self._json("GET", self._at("traces"), params=asked)
        return list(map(PastQuestion.from_dict, told["traces"]))

    async def explain(self, trace: str) -> Explained:
        """A stored answer with the fate of every chunk."""
        return Explained.from_dict(await self._json("GET", self._at("traces", trace)))

    async def replay(self, trace: str) -> tuple[Answer, list[str]]:
        """Answer a stored question again; returns the answer and what differs."""
        told = await self._json("POST", self._at("traces", trace, "replay"))
        return reading.answer(told["answer"]), list(told["differences"])

    async def feedback(self, trace: str, right: bool, answer: str | None = None) -> None:
        """Record whether an answer is right, and the right answer."""
        said = {"right": right, **_given(answer=answer)}
        await self._json("POST", self._at("traces", trace, "feedback"), json=said)

    # --- requests

    def _at(self, *rest: str) -> str:
        return "/".join(("/api/collections", *(quote(part, safe="") for part in (self.collection, *rest))))

    async def _json(self, method: str, path: str, **sent: Any) -> Any:
        reply = await self._reply(method, path, **sent)
        return reply.json() if reply.content else None

    async def _reply(self, method: str, path: str, **sent: Any) -> httpx.Response:
        tried = 0
        with reaching(self.url):
            reply = await self._send(method, path, **sent)
            while "files" not in sent and (wait := wait_of(reply, tried)) is not None:
                tried += 1
                await self._sleep(wait)
                reply = await self._send(method, path, **sent)
        check_reply(reply)
        return reply

    async def _events(self, method: str, path: str, **sent: Any) -> AsyncGenerator[tuple[str, Any], None]:
        tried, events = 0, Events()
        with reaching(self.url):
            while True:
                async with self._opened(method, path, **sent) as (reply, lines):
                    if reply.is_success:
                        async for line in lines:
                            if (event := events.of(line)) is not None:
                                yield event
                        return
                    wait = wait_of(reply, tried)
                    if wait is None:
                        check_reply(reply)
                tried += 1
                await self._sleep(wait or 0.0)

    # --- primitives

    @staticmethod
    def _connected(**options: Any) -> Any:
        return httpx.AsyncClient(**options)

    async def close(self) -> None:
        """Close the connections, also those of clients that `at` made."""
        await self._http.aclose()

    async def _sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)

    async def _send(self, method: str, path: str, **sent: Any) -> httpx.Response:
        reply: httpx.Response = await self._http.request(method, path, **sent)
        return reply

    @asynccontextmanager
    async def _opened(
        self, method: str, path: str, **sent: Any
    ) -> AsyncIterator[tuple[httpx.Response, AsyncIterator[str]]]:
        """A reply with its lines; that of a refused request has been read."""
        async with self._http.stream(method, path, **sent) as reply:
            if not reply.is_success:
                await reply.aread()
            yield reply, reply.aiter_lines()


class _Blocking(AsyncClient):
    """A client whose coroutines never suspend, see `_ended`."""

    @staticmethod
    def _connected(**options: Any) -> Any:
        return httpx.Client(**options)

    async def close(self) -> None:
        self._http.close()

    async def _sleep(self, seconds: float) -> None:
        time.sleep(seconds)

    async def _send(self, method: str, path: str, **sent: Any) -> httpx.Response:
        reply: httpx.Response = self._http.request(method, path, **sent)
        return reply

    @asynccontextmanager
    async def _opened(
        self, method: str, path: str, **sent: Any
    ) -> AsyncIterator[tuple[httpx.Response, AsyncIterator[str]]]:
        with self._http.stream(method, path, **sent) as reply:
            if not reply.is_success:
                reply.read()
            yield reply, _one_by_one(reply.iter_lines())


async def _one_by_one(lines: Iterator[str]) -> AsyncIterator[str]:
    for line in lines:
        yield line


def _ended(work: Awaitable[Value]) -> Value:
    """The result of work that never suspends."""
    try:
        next(work.__await__())
    except StopIteration as end:
        result: Value = end.value
        return result
    raise AssertionError("a blocking call was suspended")


def _waited(
    call: Callable[Concatenate[AsyncClient, Parameters], Awaitable[Value]],
) -> Callable[Concatenate[Client, Parameters], Value]:
    @wraps(call)
    def method(client: Client, /, *args: Parameters.args, **options: Parameters.kwargs) -> Value:
        return _ended(call(client._calls, *args, **options))

    return method


class Client:
    """A client of one collection of a server; `at` selects another. Safe to use from several threads.

    `key` is made by `thresher keys add`; a server on loopback takes the token that it prints, and needs neither with
    `--open`. `timeout`: seconds for one reply.
    """

    def __init__(self, url: str = HERE, *, key: str = "", collection: str = "default", timeout: float = 180.0) -> None:
        self._calls: AsyncClient = _Blocking(url, key=key, collection=collection, timeout=timeout)
        self.url = self._calls.url
        self.collection = collection

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections, also those of clients that `at` made."""
        _ended(self._calls.close())

    def at(self, collection: str) -> Client:
        """A client of another collection over the same connections."""
        other = object.__new__(Client)
        other._calls, other.url, other.collection = self._calls.at(collection), self.url, collection
        return other

    def rename(self, new: str) -> Client:
        """Give the collection another name; returns its client."""
        _ended(self._calls.rename(new))
        return self.at(new)

    def copy(self, new: str) -> Client:
        """Make a second collection of the same documents; returns its client."""
        _ended(self._calls.copy(new))
        return self.at(new)

    def stream(self, words: str, **options: Unpack[AskOptions]) -> Iterator[Step | str | Answer]:
        """Steps and checked sentences as they end, the answer last. Closing the iterator early ends the question."""
        events = self._calls.stream(words, **options)
        try:
            while True:
                yield _ended(anext(events))
        except StopAsyncIteration:
            return
        finally:
            _ended(events.aclose())

    session = _waited(AsyncClient.session)
    collections = _waited(AsyncClient.collections)
    status = _waited(AsyncClient.status)
    make = _waited(AsyncClient.make)
    drop = _waited(AsyncClient.drop)
    recipes = _waited(AsyncClient.recipes)
    add = _waited(AsyncClient.add)
    documents = _waited(AsyncClient.documents)
    text = _waited(AsyncClient.text)
    file = _waited(AsyncClient.file)
    delete = _waited(AsyncClient.delete)
    reindex = _waited(AsyncClient.reindex)
    jobs = _waited(AsyncClient.jobs)
    job = _waited(AsyncClient.job)
    cancel = _waited(AsyncClient.cancel)
    wait = _waited(AsyncClient.wait)
    calibrate = _waited(AsyncClient.calibrate)
    search = _waited(AsyncClient.search)
    ask = _waited(AsyncClient.ask)
    check = _waited(AsyncClient.check)
    begin = _waited(AsyncClient.begin)
    conversation = _waited(AsyncClient.conversation)
    traces = _waited(AsyncClient.traces)
    explain = _waited(AsyncClient.explain)
    replay = _waited(AsyncClient.replay)
    feedback = _waited(AsyncClient.feedback)


def _given(**options: Any) -> dict[str, Any]:
    return {name: value for name, value in options.items() if value is not None}


def _question(words: str, options: Mapping[str, Any], *, stream: bool) -> dict[str, Any]:
    """The body of a question; an Answer in `history` becomes its question and text."""
    history = [
        (turn.standalone or turn.question, turn.text) if isinstance(turn, Answer) else turn
        for turn in options.get("history") or ()
    ]
    return {**_given(**options), "question": words, "stream": stream, "history": history}
