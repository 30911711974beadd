"""The client for asyncio."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from datetime import datetime
from types import TracebackType
from typing import Any, Unpack

import httpx

from thresher.answer import Answer
from thresher.errors import UsageError
from thresher.home.folders import Summary
from thresher.indexing.ingest import Report
from thresher.indexing.records import DocumentRecord
from thresher.judging.calibration import Calibration
from thresher.types import Check, SearchResult, Step
from thresher_server.client import requests
from thresher_server.client.calls import (
    CONNECT_SECONDS,
    Call,
    Events,
    Source,
    Value,
    addresses,
    at,
    check_reply,
    form,
    given,
    happened,
    question,
    reaching,
    wait_of,
)
from thresher_server.client.jobs import Job, Progress, together
from thresher_server.client.options import AskOptions, SearchOptions, headers
from thresher_server.client.tracing import Explained, PastQuestion


class AsyncClient:
    """A client of one collection of a server; `at` selects another. Belongs to one event loop.

    `key` is made by `thresher keys add`; a server on loopback takes the token that it prints, and needs neither with
    `--open`. `timeout`: seconds for one reply.
    """

    def __init__(
        self, url: str = "http://127.0.0.1:8765", *, key: str = "", collection: str = "default", timeout: float = 180.0
    ) -> None:
        self.url = url.rstrip("/")
        self.collection = collection
        waits = httpx.Timeout(timeout, connect=CONNECT_SECONDS)
        self._http = httpx.AsyncClient(base_url=self.url, headers=headers(key), timeout=waits)

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

    # --- collections

    async def session(self) -> Mapping[str, Any]:
        """The caller and what the server offers."""
        return await self._done(requests.session())

    async def collections(self) -> list[Summary]:
        """The collections of the key, with their sizes."""
        return await self._done(requests.collections())

    async def status(self) -> Mapping[str, Any]:
        """What the collection holds."""
        return await self._done(requests.status(self.collection))

    async def make(self) -> None:
        """Make the collection, empty."""
        await self._done(requests.make(self.collection))

    async def rename(self, new: str) -> AsyncClient:
        """Give the collection another name; returns its client."""
        await self._done(requests.rename(self.collection, new))
        return self.at(new)

    async def copy(self, new: str) -> AsyncClient:
        """Make a second collection of the same documents; returns its client."""
        await self._done(requests.copy(self.collection, new))
        return self.at(new)

    async def drop(self) -> None:
        """Remove the collection."""
        await self._done(requests.drop(self.collection))

    # --- documents

    async def add(
        self, *sources: Source, recipe: str | None = None, progress: Callable[[Progress], None] | None = None
    ) -> Report:
        """Send files, folders, web addresses or (name, bytes) pairs, and wait until they are indexed.

        `failed` of the report lists what cannot be read. Raises UsageError for a path that does not exist.
        """
        if not sources:
            raise UsageError("nothing was given to add", next_step="give files, folders or addresses")
        jobs = []
        with form(sources) as files:
            if files:
                path, asked = at(self.collection, "documents"), given(recipe=recipe)
                told = await self._reply("POST", path, files=files, data=asked)
                jobs.append(str(told.json()["job"]))
        if urls := addresses(sources):
            jobs.append(await self._done(requests.add_addresses(self.collection, urls, recipe)))
        return together([(await self.wait(job, progress)).report for job in jobs])

    async def documents(
        self, *, where: str | None = None, words: str | None = None, limit: int = 1000, offset: int = 0
    ) -> list[DocumentRecord]:
        """Documents that match a filter and have words in source or title."""
        return await self._done(requests.documents(self.collection, where, words, limit, offset))

    async def text(self, document: str, *, start: int = 0, end: int | None = None) -> str:
        """A range of a document's text, in characters."""
        return await self._done(requests.text(self.collection, document, start, end))

    async def file(self, document: str) -> bytes:
        """A document's original. Raises StoreError if the server has none."""
        return (await self._reply("GET", at(self.collection, "documents", document, "file"))).content

    async def delete(self, document: str, *, purge: bool = False) -> list[str]:
        """Forget a document; returns its sources. `purge` also removes what quotes it."""
        return await self._done(requests.delete(self.collection, document, purge))

    async def reindex(self, document: str) -> Report:
        """Read a document again."""
        return (await self.wait(await self._done(requests.reindex(self.collection, document)))).report

    # --- jobs

    async def jobs(self) -> list[Job]:
        """The jobs of the collection, the newest first."""
        return await self._done(requests.jobs(self.collection))

    async def job(self, id_: str) -> Job:
        """A job with its log."""
        return await self._done(requests.job(id_))

    async def cancel(self, id_: str) -> Job:
        """Request the cancellation of a job."""
        return await self._done(requests.cancel(id_))

    async def wait(self, id_: str, progress: Callable[[Progress], None] | None = None) -> Job:
        """Wait for the end of a job; `progress` receives its progress."""
        async for _, told in self._events("GET", f"/api/jobs/{id_}/events"):
            job = Job.from_dict(told)
            if progress is not None:
                progress(job.progress)
            if not job.is_open:
                return job
        return await self.wait(id_, progress)  # the server stopped; the job continues once it runs again

    # --- questions

    async def search(self, question: str, **options: Unpack[SearchOptions]) -> SearchResult:
        """As `Collection.search`."""
        return await self._done(requests.search(self.collection, question, options))

    async def ask(self, words: str, **options: Unpack[AskOptions]) -> Answer:
        """As `Collection.ask`; with `conversation` the question follows up on it and is added to it."""
        return await self._done(requests.ask(self.collection, question(words, options, stream=False)))

    async def stream(self, words: str, **options: Unpack[AskOptions]) -> AsyncIterator[Step | str | Answer]:
        """Steps and checked sentences as they end, the answer last. Closing the iterator early ends the question."""
        body = question(words, options, stream=True)
        async for name, told in self._events("POST", at(self.collection, "ask"), json=body):
            yield happened(name, told)

    async def check(self, text: str, *, recipe: str | None = None, where: str | None = None) -> Check:
        """Check every claim of a text against the documents."""
        return await self._done(requests.check(self.collection, text, {"recipe": recipe, "where": where}))

    async def begin(self) -> str:
        """Begin a conversation; returns its id."""
        return await self._done(requests.begin(self.collection))

    async def conversation(self, id_: str) -> list[Answer]:
        """The answers of a conversation."""
        return await self._done(requests.conversation(self.collection, id_))

    # --- past questions

    async def traces(self, *, limit: int = 50, before: datetime | None = None) -> list[PastQuestion]:
        """Past questions, the newest first."""
        return await self._done(requests.traces(self.collection, limit, before))

    async def explain(self, trace: str) -> Explained:
        """A stored answer with the fate of every chunk."""
        return await self._done(requests.explain(self.collection, trace))

    async def replay(self, trace: str) -> tuple[Answer, list[str]]:
        """Answer a stored question again; returns the answer and what differs."""
        return await self._done(requests.replay(self.collection, trace))

    async def feedback(self, trace: str, right: bool, answer: str | None = None) -> None:
        """Record whether an answer is right, and the right answer."""
        await self._done(requests.feedback(self.collection, trace, right, answer))

    async def calibrate(
        self,
        questions: Sequence[tuple[str, bool]] | None = None,
        *,
        recipe: str | None = None,
        number: int | None = None,
        progress: Callable[[Progress], None] | None = None,
    ) -> Calibration:
        """Calibrate a recipe's judge on the collection, and wait for the result."""
        asked = {"questions": questions, "recipe": recipe, "number": number}
        job = await self.wait(await self._done(requests.calibrate(self.collection, asked)), progress)
        return job.calibration

    async def recipes(self) -> list[dict[str, Any]]:
        """The recipes and their slots."""
        return await self._done(requests.recipes())

    # --- inside

    async def _done(self, call: Call[Value]) -> Value:
        reply = await self._reply(call.method, call.path, json=call.json, params=call.params)
        return call.read(reply.json() if reply.content else None)

    async def _reply(self, method: str, path: str, **sent: Any) -> httpx.Response:
        tried = 0
        with reaching(self.url):
            while True:
                reply = await self._http.request(method, path, **sent)
                wait = None if "files" in sent else wait_of(reply, tried)
                if wait is None:
                    break
                tried += 1
                await asyncio.sleep(wait)
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
