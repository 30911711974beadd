"""Every call of the API as a value, for both clients."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from thresher.answer import Answer
from thresher.home.folders import Summary
from thresher.indexing.records import DocumentRecord
from thresher.types import Check, SearchResult
from thresher_server.client import reading
from thresher_server.client.calls import Call, at, given
from thresher_server.client.jobs import Job
from thresher_server.client.tracing import Explained, PastQuestion

Told = Mapping[str, Any]


def session() -> Call[Told]:
    """The caller and what the server offers."""
    return Call("GET", "/api/session", dict)


def collections() -> Call[list[Summary]]:
    """The collections of the key."""
    return Call("GET", "/api/collections", lambda told: [reading.summary(one) for one in told["collections"]])


def status(collection: str) -> Call[Told]:
    """What a collection holds."""
    return Call("GET", at(collection), dict)


def make(name: str) -> Call[None]:
    """Make an empty collection."""
    return Call("POST", "/api/collections", _nothing, {"name": name})


def rename(collection: str, new: str) -> Call[None]:
    """Rename a collection."""
    return Call("PATCH", at(collection), _nothing, {"name": new})


def copy(collection: str, new: str) -> Call[None]:
    """Copy a collection."""
    return Call("POST", at(collection, "copy"), _nothing, {"name": new})


def drop(collection: str) -> Call[None]:
    """Remove a collection."""
    return Call("DELETE", at(collection), _nothing)


def documents(
    collection: str, where: str | None, words: str | None, limit: int, offset: int
) -> Call[list[DocumentRecord]]:
    """A page of the documents."""
    asked = given(where=where, words=words, limit=limit, offset=offset)
    read = lambda told: [reading.document(one) for one in told["documents"]]  # noqa: E731
    return Call("GET", at(collection, "documents"), read, params=asked)


def text(collection: str, document: str, start: int, end: int | None) -> Call[str]:
    """A range of a document's text, in characters."""
    asked = given(start=start, end=end)
    return Call("GET", at(collection, "documents", document, "text"), _text, params=asked)


def delete(collection: str, document: str, purge: bool) -> Call[list[str]]:
    """Delete a document."""
    asked = {"purge": str(purge).lower()}
    return Call("DELETE", at(collection, "documents", document), lambda told: list(told["deleted"]), params=asked)


def reindex(collection: str, document: str) -> Call[str]:
    """Read a document again; returns the job's id."""
    return Call("POST", at(collection, "documents", document, "reindex"), _job)


def add_addresses(collection: str, urls: Sequence[str], recipe: str | None) -> Call[str]:
    """Index web addresses; returns the job's id."""
    return Call("POST", at(collection, "documents"), _job, {"urls": list(urls), **given(recipe=recipe)})


def job(id_: str) -> Call[Job]:
    """A job."""
    return Call("GET", f"/api/jobs/{id_}", Job.from_dict)


def jobs(collection: str) -> Call[list[Job]]:
    """The jobs of a collection."""
    read = lambda told: [Job.from_dict(one) for one in told["jobs"]]  # noqa: E731
    return Call("GET", "/api/jobs", read, params={"collection": collection})


def cancel(id_: str) -> Call[Job]:
    """Cancel a job."""
    return Call("POST", f"/api/jobs/{id_}/cancel", Job.from_dict)


def search(collection: str, question: str, options: Told) -> Call[SearchResult]:
    """A search."""
    return Call("POST", at(collection, "search"), reading.search_result, {"question": question, **given(**options)})


def ask(collection: str, body: Told) -> Call[Answer]:
    """A question."""
    return Call("POST", at(collection, "ask"), reading.answer, body)


def check(collection: str, text: str, options: Told) -> Call[Check]:
    """Check a text."""
    return Call("POST", at(collection, "check"), reading.check, {"text": text, **given(**options)})


def begin(collection: str) -> Call[str]:
    """Begin a conversation; returns its id."""
    return Call("POST", at(collection, "conversations"), lambda told: str(told["id"]))


def conversation(collection: str, id_: str) -> Call[list[Answer]]:
    """The answers of a conversation."""
    read = lambda told: [reading.answer(one) for one in told["turns"]]  # noqa: E731
    return Call("GET", at(collection, "conversations", id_), read)


def traces(collection: str, limit: int, before: datetime | None) -> Call[list[PastQuestion]]:
    """Past questions."""
    asked = given(limit=limit, before=None if before is None else before.isoformat())
    read = lambda told: [PastQuestion.from_dict(one) for one in told["traces"]]  # noqa: E731
    return Call("GET", at(collection, "traces"), read, params=asked)


def explain(collection: str, trace: str) -> Call[Explained]:
    """A stored answer."""
    return Call("GET", at(collection, "traces", trace), Explained.from_dict)


def replay(collection: str, trace: str) -> Call[tuple[Answer, list[str]]]:
    """Answer a stored question again."""
    read = lambda told: (reading.answer(told["answer"]), list(told["differences"]))  # noqa: E731
    return Call("POST", at(collection, "traces", trace, "replay"), read)


def feedback(collection: str, trace: str, right: bool, answer: str | None) -> Call[None]:
    """Record feedback on an answer."""
    said = {"right": right, **given(answer=answer)}
    return Call("POST", at(collection, "traces", trace, "feedback"), _nothing, said)


def calibrate(collection: str, options: Told) -> Call[str]:
    """Start a calibration; returns the job's id."""
    return Call("POST", at(collection, "calibrate"), _job, given(**options))


def recipes() -> Call[list[dict[str, Any]]]:
    """The recipes."""
    return Call("GET", "/api/recipes", list)


def _nothing(told: Any) -> None:
    return None


def _text(told: Told) -> str:
    return str(told["text"])


def _job(told: Told) -> str:
    return str(told["job"])
