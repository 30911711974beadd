"""The client for programs that wait."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
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


class Client:
    """A server at an address, asked about one collection; `at` names another. Safe to use from several threads.

    `key` is one of `thresher keys`; none is needed on loopback. `timeout` is in seconds, of one reply.
    """

    def __init__(
        self, url: str = "http://127.0.0.1:8765", *, key: str = "", collection: str = "default", timeout: float = 180.0
    ) -> None:
        self.url = url.rstrip("/")
        self.collection = collection
        waits = httpx.Timeout(timeout, connect=CONNECT_SECONDS)
        self._http = httpx.Client(base_url=self.url, headers=headers(key), timeout=waits)

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the connections, also those of clients that `at` made."""
        self._http.close()

    def at(self, collection: str) -> Client:
        """A client of another collection over the same connections."""
        other = object.__new__(Client)
        other.url, other.collection, other._http = self.url, collection, self._http
        return other

    # --- collections

    def session(self) -> Mapping[str, Any]:
        """Who is asking, and what is offered."""
        return self._done(requests.session())

    def collections(self) -> list[Summary]:
        """The collections of the key, with their sizes."""
        return self._done(requests.collections())

    def status(self) -> Mapping[str, Any]:
        """What the collection holds."""
        return self._done(requests.status(self.collection))

    def make(self) -> None:
        """Make the collection, empty."""
        self._done(requests.make(self.collection))

    def rename(self, new: str) -> Client:
        """Give the collection another name; returns its client."""
        self._done(requests.rename(self.collection, new))
        return self.at(new)

    def copy(self, new: str) -> Client:
        """Make a second collection of the same documents; returns its client."""
        self._done(requests.copy(self.collection, new))
        return self.at(new)

    def drop(self) -> None:
        """Remove the collection."""
        self._done(requests.drop(self.collection))

    # --- documents

    def add(
        self, *sources: Source, recipe: str | None = None, progress: Callable[[Progress], None] | None = None
    ) -> Report:
        """Send files, folders (a name with its bytes works too) and addresses, and wait until they are read.

        What cannot be read is in the report's `failed`. Raises UsageError for a path that is not there.
        """
        if not sources:
            raise UsageError("nothing was given to add", next_step="give files, folders or addresses")
        jobs = []
        with form(sources) as files:
            if files:
                path, asked = at(self.collection, "documents"), given(recipe=recipe)
                told = self._reply("POST", path, files=files, data=asked)
                jobs.append(str(told.json()["job"]))
        if urls := addresses(sources):
            jobs.append(self._done(requests.add_addresses(self.collection, urls, recipe)))
        return together([self.wait(job, progress).report for job in jobs])

    def documents(
        self, *, where: str | None = None, words: str | None = None, limit: int = 1000, offset: int = 0
    ) -> list[DocumentRecord]:
        """Documents that a filter holds for and that have words in source or title."""
        return self._done(requests.documents(self.collection, where, words, limit, offset))

    def text(self, document: str, *, start: int = 0, end: int | None = None) -> str:
        """A stretch of a document's text."""
        return self._done(requests.text(self.collection, document, start, end))

    def file(self, document: str) -> bytes:
        """A document's original. StoreError where the server has none."""
        return self._reply("GET", at(self.collection, "documents", document, "file")).content

    def delete(self, document: str, *, purge: bool = False) -> list[str]:
        """Forget a document; returns the sources that went. `purge` removes what quotes it too."""
        return self._done(requests.delete(self.collection, document, purge))

    def reindex(self, document: str) -> Report:
        """Read a document again."""
        return self.wait(self._done(requests.reindex(self.collection, document))).report

    # --- jobs

    def jobs(self) -> list[Job]:
        """The jobs of the collection, the newest first."""
        return self._done(requests.jobs(self.collection))

    def job(self, id_: str) -> Job:
        """A job with its log."""
        return self._done(requests.job(id_))

    def cancel(self, id_: str) -> Job:
        """Ask for a job's end."""
        return self._done(requests.cancel(id_))

    def wait(self, id_: str, progress: Callable[[Progress], None] | None = None) -> Job:
        """A job once it has ended; `progress` is told how far it is."""
        for _, told in self._events("GET", f"/api/jobs/{id_}/events"):
            job = Job.from_dict(told)
            if progress is not None:
                progress(job.progress)
            if not job.is_open:
                return job
        return self.wait(id_, progress)  # the server was stopped, and goes on after its start

    # --- questions

    def search(self, question: str, **options: Unpack[SearchOptions]) -> SearchResult:
        """As `Collection.search`."""
        return self._done(requests.search(self.collection, question, options))

    def ask(self, words: str, **options: Unpack[AskOptions]) -> Answer:
        """As `Collection.ask`; with `conversation` it follows up on that and is added to it."""
        return self._done(requests.ask(self.collection, question(words, options, stream=False)))

    def stream(self, words: str, **options: Unpack[AskOptions]) -> Iterator[Step | str | Answer]:
        """Steps as they end, sentences as they are written and checked, the answer last.

        A reader that stops before the end (and closes the iterator) ends the question.
        """
        body = question(words, options, stream=True)
        for name, told in self._events("POST", at(self.collection, "ask"), json=body):
            yield happened(name, told)

    def check(self, text: str, *, recipe: str | None = None, where: str | None = None) -> Check:
        """Every claim of a text held against the documents."""
        return self._done(requests.check(self.collection, text, {"recipe": recipe, "where": where}))

    def begin(self) -> str:
        """Begin a conversation; returns its id."""
        return self._done(requests.begin(self.collection))

    def conversation(self, id_: str) -> list[Answer]:
        """The answers of a conversation."""
        return self._done(requests.conversation(self.collection, id_))

    # --- past questions

    def traces(self, *, limit: int = 50, before: datetime | None = None) -> list[PastQuestion]:
        """Past questions, the newest first."""
        return self._done(requests.traces(self.collection, limit, before))

    def explain(self, trace: str) -> Explained:
        """A stored answer with the fate of every chunk."""
        return self._done(requests.explain(self.collection, trace))

    def replay(self, trace: str) -> tuple[Answer, list[str]]:
        """A stored answer made again, and what differs."""
        return self._done(requests.replay(self.collection, trace))

    def feedback(self, trace: str, right: bool, answer: str | None = None) -> None:
        """Say whether an answer is right, and what would be."""
        self._done(requests.feedback(self.collection, trace, right, answer))

    def calibrate(
        self,
        questions: Sequence[tuple[str, bool]] | None = None,
        *,
        recipe: str | None = None,
        number: int | None = None,
        progress: Callable[[Progress], None] | None = None,
    ) -> Calibration:
        """Learn what a recipe's judge is worth in the collection, and wait for it."""
        asked = {"questions": questions, "recipe": recipe, "number": number}
        job = self.wait(self._done(requests.calibrate(self.collection, asked)), progress)
        return job.calibration

    def recipes(self) -> list[dict[str, Any]]:
        """The recipes and what stands in their slots."""
        return self._done(requests.recipes())

    # --- inside

    def _done(self, call: Call[Value]) -> Value:
        reply = self._reply(call.method, call.path, json=call.json, params=call.params)
        return call.read(reply.json() if reply.content else None)

    def _reply(self, method: str, path: str, **sent: Any) -> httpx.Response:
        """A reply that is a success, after waiting where the server asks for it."""
        tried = 0
        with reaching(self.url):
            while True:
                reply = self._http.request(method, path, **sent)
                wait = None if "files" in sent else wait_of(reply, tried)
                if wait is None:
                    break
                tried += 1
                time.sleep(wait)
        check_reply(reply)
        return reply

    def _events(self, method: str, path: str, **sent: Any) -> Iterator[tuple[str, Any]]:
        """The events of a stream."""
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
