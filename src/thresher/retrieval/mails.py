"""Finds the e-mails that a question about mails means: by subject, sender and recipient, else by what they say."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Protocol

from thresher.questions.intent import read_intent
from thresher.retrieval.documents import MOST_NAMED, Listed, hit_of
from thresher.text.mails import AskedOfMail, asked_of_mail
from thresher.text.terms import term_set
from thresher.types import Document, Hit, Judged, Judgement, Metadata, Query

MOST_READ = 200
"""Mails whose text is looked through for a subject that none has in its subject line."""
IN_TEXT = 0.4
"""How well a subject fits that only the text of a mail speaks of: below what makes a name sure."""


class ListedMail(Listed, Protocol):
    """The same, where it may be a mail: its title is its subject."""

    @property
    def kind(self) -> str:
        """Its format: `email`."""

    @property
    def metadata(self) -> Metadata:
        """Of a mail `from`, `to` and `cc` as they are written."""


@dataclass(frozen=True, slots=True)
class MailFinder:
    """The mails that a question means, each as one hit: its beginning."""

    listed: Callable[[], Sequence[ListedMail]]
    documents: Callable[[Sequence[str]], Mapping[str, Document]]
    about: ClassVar[str] = "e-mails by subject and sender"

    def __call__(self, query: Query) -> Judged:
        """A hit for each mail that a part of the question means."""
        hits = {hit.chunk.document_id: hit for part in query.intent.parts for hit in self.hits(part)}
        return Judged(tuple(Judgement(replace(hit, rank=at), True) for at, hit in enumerate(hits.values(), start=1)))

    def answers(self, question: str) -> bool:
        """Whether every part of a question asks for something in the head of a mail."""
        return all(asked_of_mail(part) is not None for part in read_intent(question).parts)

    def hits(self, question: str) -> list[Hit]:
        """The mails that one question means, none where it means more than a few."""
        asked = asked_of_mail(question)
        if asked is None:
            return []
        mails = [one for one in self.listed() if one.kind == "email" and asked.is_between(one.metadata)]
        subject = term_set(asked.about)
        titled = [one.id for one in mails if subject <= term_set(one.title)]
        found = titled or self._speaking(asked, [one.id for one in mails])
        known = self.documents(found) if len(found) <= MOST_NAMED else {}
        return [hit_of(document, 1.0 if titled else IN_TEXT) for document in known.values()]

    def _speaking(self, asked: AskedOfMail, ids: Sequence[str]) -> list[str]:
        """The mails whose text has all words of the subject."""
        if len(ids) > MOST_READ:
            return []
        subject = term_set(asked.about)
        return [id_ for id_, document in self.documents(ids).items() if subject <= term_set(document.text)]
