"""Finds whole documents: the one a question names, or those that are about something."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import ClassVar, Protocol

from thresher.protocols import ChunkTable
from thresher.text.boilerplate import is_bibliography
from thresher.text.questions import OF_DOCUMENTS, Kind, asked_for, parts_of
from thresher.text.terms import term_set
from thresher.types import BM25, Chunk, Document, Hit, Judged, Judgement, Notes, Query, Score

GENERIC = term_set(
    "paper document article report file pdf study text publication page note letter contract called titled "
    "minutes memo mail email message presentation slides spreadsheet transcript"
)
"""Words that say what sort of document is meant, not which."""

_NOUN = re.compile(
    r"\b(?:documents?|reports?|papers?|preprints?|articles?|(?:web)?pages?|sites?|files?|pdfs?|e-?mails?|mails?|messages?"
    r"|memos?|minutes|notes?|handbooks?|manuals?|guides?|contracts?|leases?|presentations?|slides?|spreadsheets?"
    r"|transcripts?|stud(?:y|ies)|surveys?|thes[ei]s|dissertations?|publications?|texts?|attachments?"
    r"|\w+\.(?:pdf|docx?|pptx?|xlsx?|txt|md|html?|epub|eml|csv|json))\b",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"[\"“”«»„].{2,}[\"“”«»„]|(?<!\w)['‘].{2,}['’](?!\w)")
_SUMMED = re.compile(r"\b(?:summar\w+|sum up|tl;?dr|overview|abstract)\b", re.IGNORECASE)
_IT = re.compile(r"\bit\b", re.IGNORECASE)


def names_document(question: str) -> bool:
    """Whether a question speaks of a document: by a noun, by a title in quotes, as "it", or for a summary.

    "Who wrote the song As Time Goes By?" asks for no author of the page that is called so.
    """
    return any(pattern.search(question) for pattern in (_NOUN, _QUOTED, _SUMMED, _IT))


MOST_NAMED = 3
"""Documents that fit a name equally well are all meant up to so many; more are a sign that no document is."""

INITIALS = 3
"""Words of a title whose initials are its name: Direct Preference Optimization is DPO."""

MATCHED = 400
"""Chunks looked at for what documents are about."""

ABOUT_CHUNKS = 3
"""A document is about what its title or so many of its chunks speak of; it mentions what one speaks of."""


class Listed(Protocol):
    """What is known of a document without reading it."""

    @property
    def id(self) -> str:
        """Hash of its text."""

    @property
    def title(self) -> str:
        """As it states it."""

    @property
    def source(self) -> str:
        """File or URL."""


@dataclass(frozen=True, slots=True)
class DocumentFinder:
    """The documents that a question about documents means, each as one hit."""

    listed: Callable[[], Sequence[Listed]]
    documents: Callable[[Sequence[str]], Mapping[str, Document]]
    table: ChunkTable
    about: ClassVar[str] = "documents by title"

    def __call__(self, query: Query) -> Judged:
        """A hit for each document, its beginning or the chunk that speaks most of the subject."""
        hits = [hit for part in parts_of(query.question) for hit in self.hits(query, part)]
        unique = {hit.chunk.document_id: hit for hit in hits}
        found = tuple(Judgement(replace(hit, rank=rank), True) for rank, hit in enumerate(unique.values(), start=1))
        return Judged(found, Notes(facts={"documents": self.count()}))

    def count(self) -> int:
        """Documents of the collection."""
        return len(self.listed())

    def answers(self, question: str) -> bool:
        """Whether every part of a question is about documents that are here."""
        asked = [asked_for(part) for part in parts_of(question)]
        if not all(one.kind in OF_DOCUMENTS for one in asked) or not names_document(question):
            return False
        return all(
            one.kind in (Kind.NUMBER_OF_DOCUMENTS, Kind.DOCUMENTS) or self.named(one.things[0] if one.things else "it")
            for one in asked
        )

    def hits(self, query: Query, question: str) -> list[Hit]:
        """The documents that one question means, best first."""
        asked = asked_for(question)
        if asked.kind is Kind.DOCUMENTS:
            return self._speaking(query, asked.things[0], mentioned="mention" in question or "contain" in question)
        if asked.kind not in OF_DOCUMENTS or asked.kind is Kind.NUMBER_OF_DOCUMENTS or not names_document(question):
            return []
        ids = [listed.id for listed in self.named(asked.things[0] if asked.things else "it")]
        return [_hit(_opening(document), 1.0) for document in self.documents(ids).values()]

    def named(self, thing: str) -> list[Listed]:
        """The documents that a name fits best: all its words stand in the title or the name of the file.

        The only document of a collection is meant by "it", the only report of one by "the report".
        """
        every = self.listed()
        words = term_set(thing)
        own = words - GENERIC
        if not own:
            sort = [one for one in every if words & _words(one)]
            chosen = sort if words and len(sort) == 1 else every
            return list(chosen) if len(chosen) == 1 else []
        plain = _squeezed(" ".join(word for word in thing.split() if not term_set(word) <= GENERIC))
        fits = {
            one.id: 2.0 if plain in _called(one) else len(own) / len(_words(one))
            for one in every
            if own <= _words(one) or plain in _called(one)
        }
        best = max(fits.values(), default=0.0)
        found = [one for one in every if fits.get(one.id) == best]
        alike = {_squeezed(one.title): one for one in reversed(found)}  # of copies the first
        return list(reversed(alike.values())) if len(alike) <= MOST_NAMED else []

    def _speaking(self, query: Query, subject: str, *, mentioned: bool) -> list[Hit]:
        """The documents whose title or chunks have all words of a subject, or of one of several, best first."""
        wanted = [term_set(one) for one in re.split(r",? or |, ", subject)]
        speaking: dict[str, list[Chunk]] = {}
        for chunk, _ in self.table.matching(subject, limit=MATCHED, where=query.where):
            if is_bibliography(chunk.text):
                continue
            both, own = term_set(f"{chunk.title} {chunk.text}"), term_set(chunk.text)
            if any(one <= both and one & own for one in wanted):
                speaking.setdefault(chunk.document_id, []).append(chunk)
        hits = []
        alike = {
            (chunks[0].title, chunks[0].text): chunks for chunks in reversed(speaking.values())
        }  # of copies the first
        for chunks in reversed(alike.values()):
            titled = any(one <= term_set(chunks[0].title) for one in wanted)
            if titled or mentioned or len(chunks) >= ABOUT_CHUNKS:
                hits.append(_hit(chunks[0], len(chunks) + (MATCHED if titled else 0)))
        return sorted(hits, key=lambda hit: -hit.score.value)


def _hit(chunk: Chunk, score: float) -> Hit:
    return Hit(chunk, Score(float(score), BM25), 1)


def _opening(document: Document) -> Chunk:
    """The beginning of a document as a chunk: its title and what stands before the text proper."""
    end = min(len(document.text), OPENING_CHARACTERS)
    identity = f"{document.id}:opening"
    return Chunk(
        identity, document.id, document.source, document.title, 0, end, document.text[:end], document.page_at(0)
    )


OPENING_CHARACTERS = 4_000
"""Title, authors and abstract are within so many."""


def _words(listed: Listed) -> frozenset[str]:
    return term_set(f"{listed.title} {re.sub(r'[_-]+', ' ', _stem(listed))}")


def _stem(listed: Listed) -> str:
    return PurePath(listed.source.split("#")[0]).stem


def _called(listed: Listed) -> set[str]:
    """What a document is called: the name of its file, its title up to a colon, and the initials of that."""
    short = re.split(r"\s*[:–—]\s|\s-\s", listed.title)[0]
    words = short.split()
    initials = "".join(word[0] for word in words) if len(words) >= INITIALS else short
    return {_squeezed(name) for name in (_stem(listed), short, initials)}


def _squeezed(text: str) -> str:
    return re.sub(r"\W|_", "", text.casefold())
