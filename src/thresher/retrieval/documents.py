"""Finds whole documents: the one a question names, or those that are about something."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Protocol

from thresher.protocols import ChunkTable
from thresher.questions.intent import read_intent
from thresher.questions.kinds import OF_DOCUMENTS, Kind
from thresher.text.boilerplate import is_bibliography
from thresher.text.document_names import (
    LEAST_FIT,
    NAME_SCORE,
    Named,
    fit,
    names_document,
    own_words,
    squeezed,
    words_of,
)
from thresher.text.terms import term_set
from thresher.types import UNIT, Chunk, Document, Hit, Judged, Judgement, Notes, Query, Score

MOST_NAMED = 3
"""Documents that fit a name equally well are all meant up to so many; more are a sign that no document is."""

MATCHED = 400
"""Chunks looked at for what documents are about."""

ABOUT_CHUNKS = 3
"""A document is about what its title or so many of its chunks speak of; it mentions what one speaks of."""


class Listed(Named, Protocol):
    """What is known of a document without reading it."""

    @property
    def id(self) -> str:
        """Hash of its text."""


@dataclass(frozen=True, slots=True)
class DocumentFinder:
    """The documents that a question about documents means, each as one hit."""

    listed: Callable[[], Sequence[Listed]]
    documents: Callable[[Sequence[str]], Mapping[str, Document]]
    table: ChunkTable
    about: ClassVar[str] = "documents by title"

    def __call__(self, query: Query) -> Judged:
        """A hit for each document, its beginning or the chunk that speaks most of the subject."""
        hits = [hit for part in query.intent.parts for hit in self.hits(query, part)]
        unique = {hit.chunk.document_id: hit for hit in hits}
        found = tuple(Judgement(replace(hit, rank=rank), True) for rank, hit in enumerate(unique.values(), start=1))
        return Judged(found, Notes(facts={"documents": self.count()}))

    def count(self) -> int:
        """Documents of the collection."""
        return len(self.listed())

    def answers(self, question: str) -> bool:
        """Whether every part of a question is about documents that are here."""
        asked = [read_intent(part) for part in read_intent(question).parts]
        if not all(one.kind in OF_DOCUMENTS for one in asked) or not names_document(question):
            return False
        return all(
            one.kind in (Kind.NUMBER_OF_DOCUMENTS, Kind.DOCUMENTS) or self.named(one.things[0] if one.things else "it")
            for one in asked
        )

    def hits(self, query: Query, question: str) -> list[Hit]:
        """The documents that one question means, best first."""
        asked = read_intent(question)
        if asked.kind is Kind.DOCUMENTS:
            return self._speaking(query, asked.things[0], mentioned="mention" in question or "contain" in question)
        if asked.kind not in OF_DOCUMENTS or asked.kind is Kind.NUMBER_OF_DOCUMENTS or not names_document(question):
            return []
        thing = asked.things[0] if asked.things else "it"
        named = {listed.id: listed for listed in self.named(thing)}
        known = self.documents(list(named))
        return [hit_of(document, fit(thing, named[id_])) for id_, document in known.items()]

    def named(self, thing: str) -> list[Listed]:
        """The documents that a name fits best: all its words stand in the title or the name of the file.

        The only document of a collection is meant by "it", the only report of one by "the report".
        """
        every = self.listed()
        if not own_words(thing):
            words = term_set(thing)
            sort = [one for one in every if words & words_of(one)]
            chosen = sort if words and len(sort) == 1 else every
            return list(chosen) if len(chosen) == 1 else []
        fits = {one.id: share for one in every if (share := fit(thing, one)) > LEAST_FIT}
        best = max(fits.values(), default=0.0)
        found = [one for one in every if fits.get(one.id) == best]
        alike = {squeezed(one.title): one for one in reversed(found)}  # of copies the first
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
        found = []
        alike = {
            (chunks[0].title, chunks[0].text): chunks for chunks in reversed(speaking.values())
        }  # of copies the first
        for chunks in reversed(alike.values()):
            titled = any(one <= term_set(chunks[0].title) for one in wanted)
            if titled or mentioned or len(chunks) >= ABOUT_CHUNKS:
                found.append((len(chunks) + (MATCHED if titled else 0), chunks[0]))
        # all words of the subject stand there: that they are about it is no question of degree
        return [_hit(chunk, 1.0) for _, chunk in sorted(found, key=lambda one: -one[0])]


def hit_of(document: Document, score: float) -> Hit:
    """A whole document as a hit: its beginning, with how well it fits, 0 to 1."""
    return _hit(_opening(document), score)


def _hit(chunk: Chunk, score: float) -> Hit:
    fits = Score(float(score), UNIT)
    return Hit(chunk, fits, 1, scores={NAME_SCORE: fits})


def _opening(document: Document) -> Chunk:
    """The beginning of a document as a chunk: its title and what stands before the text proper."""
    end = min(len(document.text), OPENING_CHARACTERS)
    identity = f"{document.id}:opening"
    return Chunk(
        identity, document.id, document.source, document.title, 0, end, document.text[:end], document.page_at(0)
    )


OPENING_CHARACTERS = 4_000
"""Title, authors and abstract are within so many."""
