"""How sources are shown: addresses where a span of a document opens, highlighted, states and names of files.

    https://docs.example.org/d/handbook/1f6c0a?start=130&end=410&page=4

A document's id is a hash of its text, so that an address means the same span for as long as the document is there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields, is_dataclass, replace
from pathlib import PurePath
from typing import Any, TypeVar
from urllib.parse import parse_qs, quote, unquote, urlencode, urlsplit

from thresher.answer import Answer
from thresher.errors import UsageError
from thresher.types import Check, Chunk, Citation, Excerpt, Hit, Origin, SearchResult, Stale

_PATH = re.compile(r"(?:.*/)?d/(?P<collection>[^/]+)/(?P<document>[^/]+)/?")
_NUMBER = re.compile(r"[0-9]{1,15}")


@dataclass(frozen=True, slots=True)
class LinkedPlace:
    """What an address leads to; offsets in the document's text, end exclusive."""

    collection: str
    document_id: str
    start: int
    end: int
    page: int | None = None


def address(public_url: str, collection: str, document_id: str, start: int, end: int, page: int | None) -> str:
    """The address of a span of a document below `public_url`, which may have a path of its own.

    >>> address("https://docs.example.org", "notes & more", "1f6c", 130, 410, 4)
    'https://docs.example.org/d/notes%20%26%20more/1f6c?start=130&end=410&page=4'
    """
    stretch = {"start": start, "end": end} | ({} if page is None else {"page": page})
    place = f"{quote(collection, safe='')}/{quote(document_id, safe='')}"
    return f"{public_url.rstrip('/')}/d/{place}?{urlencode(stretch)}"


def place_of(url: str) -> LinkedPlace:
    """What an address that `address` made leads to. Raises UsageError for any other.

    >>> place_of("/d/notes/1f6c?start=130&end=410")
    LinkedPlace(collection='notes', document_id='1f6c', start=130, end=410, page=None)
    """
    parts = urlsplit(url)
    found, asked = _PATH.fullmatch(parts.path), parse_qs(parts.query)
    start, end, page = (_number(asked.get(name, [""])) for name in ("start", "end", "page"))
    if found is None or start is None or end is None or start > end:
        form = "an address ends with /d/COLLECTION/DOCUMENT?start=NUMBER&end=NUMBER"
        raise UsageError("is no address of a span of a document", subject=url, next_step=form)
    return LinkedPlace(unquote(found["collection"]), unquote(found["document"]), start, end, page)


def quoted(stored: Mapping[str, Any]) -> set[str]:
    """The sources and the ids of documents that an answer as JSON quotes."""
    others = (one["citation"] for one in stored.get("alternatives", ()))
    cited = [*stored.get("chunks", ()), *stored["citations"], *others]
    names = {one["source"] for one in cited}
    for one in cited:
        with suppress(UsageError):
            names.add(place_of(one.get("url", "")).document_id)
    return names


def _number(given: list[str]) -> int | None:
    return int(given[-1]) if _NUMBER.fullmatch(given[-1]) else None


# --- hits and citations -----------------------------------------------------------------------------------------------


def _not_looked_at(origin: Origin, document_ids: Sequence[str]) -> Mapping[str, Stale]:
    return {}


@dataclass(frozen=True, slots=True)
class Links:
    """Gives what is found and cited its address, and what is cited the state of its file."""

    public_url: str
    collection: str
    """That was asked."""
    other: str = ""
    """The collection that text from outside is from; empty where that is none."""
    stale: Callable[[Origin, Sequence[str]], Mapping[str, Stale]] = _not_looked_at
    """What became of the files of documents, by their ids; see `indexing.on_disk.stale`."""

    def search(self, result: SearchResult) -> SearchResult:
        """A result whose hits and spans have addresses."""
        spans = None if result.spans is None else tuple(map(self.excerpt, result.spans))
        return replace(result, hits=tuple(map(self.hit, result.hits)), spans=spans)

    def answer(self, answer: Answer) -> Answer:
        """An answer whose citations and chunks have addresses."""
        chunks = tuple(replace(fate, hit=self.hit(fate.hit)) for fate in answer.chunks)
        cited = self.cited([*answer.citations, *(one.citation for one in answer.alternatives)])
        citations, further = cited[: len(answer.citations)], cited[len(answer.citations) :]
        others = tuple(replace(one, citation=two) for one, two in zip(answer.alternatives, further, strict=True))
        return replace(answer, citations=citations, alternatives=others, chunks=chunks)

    def check(self, check: Check) -> Check:
        """A check whose citations have addresses."""
        claims = (replace(claim, citations=self.cited(claim.citations)) for claim in check.claims)
        return replace(check, claims=tuple(claims))

    def hit(self, hit: Hit) -> Hit:
        """A hit with the address of its chunk."""
        return replace(hit, url=self.url(hit.origin, hit.chunk.document_id, hit.chunk))

    def excerpt(self, span: Excerpt) -> Excerpt:
        """A span with its address."""
        if span.evidence is None:
            return span
        hit = span.evidence.hit
        return replace(span, url=self.url(hit.origin, hit.chunk.document_id, span))

    def cited(self, citations: Sequence[Citation]) -> tuple[Citation, ...]:
        """Citations with the addresses of their quotes, and with what became of their files."""
        by_origin = {origin: [one.document_id for one in citations if one.origin is origin] for origin in Origin}
        stale = {origin: self.stale(origin, ids) for origin, ids in by_origin.items() if ids}
        return tuple(
            replace(
                one,
                url=self.url(one.origin, one.document_id, one),
                stale=stale[one.origin].get(one.document_id, ""),
            )
            for one in citations
        )

    def url(self, origin: Origin, document_id: str, at: Chunk | Excerpt | Citation) -> str:
        """The source itself of text that came from the web; else the address below `public_url`.

        Without that the source where it is an address itself, and else nothing.
        """
        on_web = at.source.startswith(("http://", "https://"))
        collection = self.other if origin is Origin.OUTSIDE else self.collection
        if not (self.public_url and collection) or (on_web and origin is Origin.OUTSIDE):
            return at.source if on_web else ""
        return address(self.public_url, collection, document_id, at.start, at.end, at.page)


# --- sources without the folders of this machine ----------------------------------------------------------------------

SOURCES = ("source", "also")
"""Fields and keys that hold sources, wherever they stand."""

Value = TypeVar("Value")


def file_name(source: str) -> str:
    """A file's name, an address or a row's name as it is.

    >>> file_name("/srv/minutes/may.md"), file_name("https://example.org/may"), file_name("ticket:4711/2")
    ('may.md', 'https://example.org/may', 'ticket:4711/2')
    """
    path = PurePath(source)
    return path.name if path.is_absolute() else source


def renamed(value: Value, name: Callable[[str], str]) -> Value:
    """A value with every source in it, however deep, under the name that `name` gives it."""
    made: Value = _renamed(value, name, is_source=False)
    return made


def _renamed(value: Any, name: Callable[[str], str], *, is_source: bool) -> Any:
    match value:
        case str():
            return name(value) if is_source else value
        case dict():
            return {key: _renamed(item, name, is_source=key in SOURCES) for key, item in value.items()}
        case list() | tuple():
            return type(value)(_renamed(item, name, is_source=is_source) for item in value)
    if not is_dataclass(value) or isinstance(value, type):
        return value
    before = {field.name: getattr(value, field.name) for field in fields(value) if field.init}
    after = {key: _renamed(item, name, is_source=key in SOURCES) for key, item in before.items()}
    return replace(value, **{key: item for key, item in after.items() if item is not before[key]})
