"""Answers to questions about e-mails themselves: a line of the head, cited."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol

from thresher.generation.candidates import Candidate, Signs
from thresher.generation.citations import cite, in_turn
from thresher.generation.material import Material
from thresher.generation.sentence_support import Sentence
from thresher.text.mails import Header, asked_of_mail
from thresher.types import Document, Evidence, Generation, Hit, Query


class FindsMails(Protocol):
    """Finds the mails that a question means."""

    def hits(self, question: str) -> list[Hit]:
        """One hit for each."""


@dataclass(frozen=True, slots=True)
class MailAnswerer:
    """Proposes a line of a mail's head; several mails are told in turn, behind their subjects."""

    find: FindsMails
    documents: Callable[[Sequence[str]], Mapping[str, Document]]
    name: ClassVar[str] = "mails"

    def __call__(self, query: Query, material: Material) -> Sequence[Candidate]:
        """The line with citations; nothing where no mail is meant, or it lacks the line."""
        asked, hits = asked_of_mail(query.question), self.find.hits(query.question)
        if asked is None or not hits or query.where is not None:
            return ()
        known = self.documents([hit.chunk.document_id for hit in hits])
        answers = [
            (f"{document.title or document.source}:", answer)
            for hit in hits
            if (document := known.get(hit.chunk.document_id)) and (answer := _of_head(document, hit, asked.header))
        ]
        if not answers:
            return ()
        answer = answers[0][1] if len(answers) == 1 else in_turn(answers)
        return [Candidate(answer, self.name, Signs(name=max(hit.score.value for hit in hits)))]


def _of_head(document: Document, hit: Hit, header: Header) -> Generation | None:
    """A line of the head and, where it is another, the line of the subject, by which the mail is known."""
    asked, subject = _line(document, hit, header), _line(document, hit, "Subject")
    if asked is None:
        return None
    lines = [asked] if subject is None or header == "Subject" else [asked, subject]
    said = document.date if header == "Date" and document.date else asked.text.partition(": ")[2]
    citations = tuple(cite(marker, line) for marker, line in enumerate(lines, start=1))
    marked = " ".join(f"[{citation.marker}]" for citation in citations)
    return Generation(f"{said} {marked}", citations, exact=True)


def _line(document: Document, hit: Hit, header: Header) -> Sentence | None:
    head = document.text.partition("\n\n")[0]
    found = re.search(rf"^{header}: \S.*$", head, re.MULTILINE)
    if found is None:
        return None
    chunk = hit.chunk
    whole = Evidence(hit, chunk.start, chunk.end, chunk.text, chunk.page)
    return Sentence(whole, *found.span(), found[0], hit.score)
