"""Every call of the API as a value, for both clients."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Generic, TypedDict, TypeVar, Unpack
from urllib.parse import quote

from thresher.answer import Answer
from thresher.home.folders import Summary
from thresher.indexing.catalog import DocumentRecord
from thresher.types import Check, SearchResult
from thresher_server.client import reading
from thresher_server.client.reading import Explained, Job, PastQuestion

Value = TypeVar("Value")
Told = Mapping[str, Any]


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


@dataclass(frozen=True, slots=True)
class Call(Generic[Value]):
    """A request, and how its reply is read."""

    method: str
    path: str
    read: Callable[[Any], Value]
    json: Any = None
    params: Mapping[str, Any] | None = None


def given(**options: Any) -> dict[str, Any]:
    """The options that are not None."""
    return {name: value for name, value in options.items() if value is not None}


def question_body(words: str, options: Mapping[str, Any], *, stream: bool) -> dict[str, Any]:
    """The body of a question; an Answer in `history` becomes its question and text."""
    history = [
        (turn.standalone or turn.question, turn.text) if isinstance(turn, Answer) else turn
        for turn in options.get("history") or ()
    ]
    return {**given(**options), "question": words, "stream": stream, "history": history}


@dataclass(frozen=True, slots=True)
class Calls:
    """The calls of one collection and those of the whole server."""

    collection: str

    def at(self, *rest: str) -> str:
        """A path below the collection."""
        return "/".join(("/api/collections", *(quote(part, safe="") for part in (self.collection, *rest))))

    # --- collections

    def session(self) -> Call[Told]:
        """The caller and what the server offers."""
        return Call("GET", "/api/session", dict)

    def collections(self) -> Call[list[Summary]]:
        """The collections of the key, with their sizes."""
        return Call("GET", "/api/collections", lambda told: [reading.summary(one) for one in told["collections"]])

    def status(self) -> Call[Told]:
        """What the collection holds."""
        return Call("GET", self.at(), dict)

    def make(self) -> Call[None]:
        """Make the collection, empty."""
        return Call("POST", "/api/collections", _nothing, {"name": self.collection})

    def rename(self, new: str) -> Call[None]:
        """Give the collection another name."""
        return Call("PATCH", self.at(), _nothing, {"name": new})

    def copy(self, new: str) -> Call[None]:
        """Make a second collection of the same documents."""
        return Call("POST", self.at("copy"), _nothing, {"name": new})

    def drop(self) -> Call[None]:
        """Remove the collection."""
        return Call("DELETE", self.at(), _nothing)

    def recipes(self) -> Call[list[dict[str, Any]]]:
        """The recipes and their slots."""
        return Call("GET", "/api/recipes", list)

    # --- documents

    def documents(
        self, *, where: str | None = None, words: str | None = None, limit: int = 1000, offset: int = 0
    ) -> Call[list[DocumentRecord]]:
        """Documents that match a filter and have words in source or title."""
        asked = given(where=where, words=words, limit=limit, offset=offset)
        return Call(
            "GET", self.at("documents"), lambda told: list(map(reading.document, told["documents"])), None, asked
        )

    def text(self, document: str, *, start: int = 0, end: int | None = None) -> Call[str]:
        """A range of a document's text, in characters."""
        asked = given(start=start, end=end)
        return Call("GET", self.at("documents", document, "text"), lambda told: str(told["text"]), None, asked)

    def delete(self, document: str, *, purge: bool = False) -> Call[list[str]]:
        """Forget a document; returns its sources. `purge` also removes what quotes it."""
        asked = {"purge": str(purge).lower()}
        return Call("DELETE", self.at("documents", document), lambda told: list(told["deleted"]), None, asked)

    def reindex(self, document: str) -> Call[str]:
        """Read a document again; returns the job's id."""
        return Call("POST", self.at("documents", document, "reindex"), _job)

    def add_addresses(self, urls: Sequence[str], recipe: str | None) -> Call[str]:
        """Index web addresses; returns the job's id."""
        return Call("POST", self.at("documents"), _job, {"urls": list(urls), **given(recipe=recipe)})

    # --- jobs

    def jobs(self) -> Call[list[Job]]:
        """The jobs of the collection, the newest first."""
        asked = {"collection": self.collection}
        return Call("GET", "/api/jobs", lambda told: list(map(Job.from_dict, told["jobs"])), None, asked)

    def job(self, id_: str) -> Call[Job]:
        """A job with its log."""
        return Call("GET", f"/api/jobs/{id_}", Job.from_dict)

    def cancel(self, id_: str) -> Call[Job]:
        """Request the cancellation of a job."""
        return Call("POST", f"/api/jobs/{id_}/cancel", Job.from_dict)

    def calibrate(self, **asked: Any) -> Call[str]:
        """Start a calibration; returns the job's id."""
        return Call("POST", self.at("calibrate"), _job, given(**asked))

    # --- questions

    def search(self, question: str, **options: Unpack[SearchOptions]) -> Call[SearchResult]:
        """As `Collection.search`."""
        return Call("POST", self.at("search"), reading.search_result, {"question": question, **given(**options)})

    def ask(self, words: str, **options: Unpack[AskOptions]) -> Call[Answer]:
        """As `Collection.ask`; with `conversation` the question follows up on it and is added to it."""
        return Call("POST", self.at("ask"), reading.answer, question_body(words, options, stream=False))

    def check(self, text: str, *, recipe: str | None = None, where: str | None = None) -> Call[Check]:
        """Check every claim of a text against the documents."""
        return Call("POST", self.at("check"), reading.check, {"text": text, **given(recipe=recipe, where=where)})

    def begin(self) -> Call[str]:
        """Begin a conversation; returns its id."""
        return Call("POST", self.at("conversations"), lambda told: str(told["id"]))

    def conversation(self, id_: str) -> Call[list[Answer]]:
        """The answers of a conversation."""
        return Call("GET", self.at("conversations", id_), lambda told: list(map(reading.answer, told["turns"])))

    # --- past questions

    def traces(self, *, limit: int = 50, before: datetime | None = None) -> Call[list[PastQuestion]]:
        """Past questions, the newest first."""
        asked = given(limit=limit, before=None if before is None else before.isoformat())
        return Call(
            "GET", self.at("traces"), lambda told: list(map(PastQuestion.from_dict, told["traces"])), None, asked
        )

    def explain(self, trace: str) -> Call[Explained]:
        """A stored answer with the fate of every chunk."""
        return Call("GET", self.at("traces", trace), Explained.from_dict)

    def replay(self, trace: str) -> Call[tuple[Answer, list[str]]]:
        """Answer a stored question again; returns the answer and what differs."""
        path = self.at("traces", trace, "replay")
        return Call("POST", path, lambda told: (reading.answer(told["answer"]), list(told["differences"])))

    def feedback(self, trace: str, right: bool, answer: str | None = None) -> Call[None]:
        """Record whether an answer is right, and the right answer."""
        said = {"right": right, **given(answer=answer)}
        return Call("POST", self.at("traces", trace, "feedback"), _nothing, said)


def _nothing(told: Any) -> None:
    return None


def _job(told: Told) -> str:
    return str(told["job"])
