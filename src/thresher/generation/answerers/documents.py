"""Answers to questions about documents themselves: who wrote one, when, what it says in short, which speak of what."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol

from thresher.generation.candidates import Candidate, Signs
from thresher.generation.citations import cite, in_turn, quoted
from thresher.generation.material import Material
from thresher.generation.sentence_support import Sentence
from thresher.questions.kinds import OF_DOCUMENTS, Kind
from thresher.structure.front_matter import author_lines, summary_spans
from thresher.text.boilerplate import says_nothing
from thresher.text.figures import without_figures
from thresher.text.sentences import Span, line_spans, sentence_spans
from thresher.text.terms import index_terms, term_set
from thresher.types import Document, Evidence, Generation, Hit, Query

MOST_LISTED = 10
"""Documents named of those that speak of something."""

AUTHOR_CHARACTERS = 600
"""Of the lines between title and abstract; more are a team's list that no one reads to its end."""


class Finds(Protocol):
    """Finds the documents a question means."""

    def hits(self, query: Query, question: str) -> list[Hit]:
        """One hit for each."""

    def count(self) -> int:
        """Documents of the collection."""


@dataclass(frozen=True, slots=True)
class DocumentAnswerer:
    """Proposes what whole documents and their records say, where a question is about documents and names one."""

    find: Finds
    documents: Callable[[Sequence[str]], Mapping[str, Document]]
    most: int = 5
    """Sentences of a summary that is no abstract."""
    name: ClassVar[str] = "documents"

    def __call__(self, query: Query, material: Material) -> Sequence[Candidate]:
        """The answer with citations wherever there is text to cite."""
        kind = query.intent.kind
        if kind not in OF_DOCUMENTS or query.where is not None:
            return ()
        if kind is Kind.NUMBER_OF_DOCUMENTS:
            number = self.find.count()
            return [self._candidate(_exact(f"{number} document{'' if number == 1 else 's'}.", []), 1.0)]
        hits = self.find.hits(query, query.question)
        if kind is Kind.DOCUMENTS:
            return self._listed(query.intent.things[0], hits)
        known = self.documents([hit.chunk.document_id for hit in hits])
        read = {Kind.AUTHORS: _authors, Kind.PUBLISHED: _published, Kind.SUMMARY: self._summary}[kind]
        answers = [
            (f"{document.title or document.source}:", answer)
            for hit in hits
            if (document := known.get(hit.chunk.document_id)) and (answer := read(document, hit)) is not None
        ]
        return [self._candidate(of_named(answers), max(hit.score.value for hit in hits))] if answers else ()

    def _candidate(self, answer: Generation, name: float, objection: str = "") -> Candidate:
        return Candidate(answer, self.name, Signs(name=name), objection=objection)

    def _listed(self, subject: str, hits: Sequence[Hit]) -> Sequence[Candidate]:
        """The titles, with the sentence of each that speaks of the subject."""
        if not hits:
            return [self._candidate(_exact("", []), 0.0, f"No document speaks of {subject}.")]
        shown = hits[:MOST_LISTED]
        lines = [f"{len(hits)} document{'' if len(hits) == 1 else 's'}:"]
        sentences = [_speaking(hit, subject) for hit in shown]
        for marker, (hit, sentence) in enumerate(zip(shown, sentences, strict=True), start=1):
            lines.append(f"{hit.chunk.title or hit.chunk.source}: {quoted(cite(marker, sentence))}")
        if len(hits) > len(shown):
            lines.append(f"And {len(hits) - len(shown)} more.")
        return [self._candidate(_exact("\n".join(lines), sentences), 1.0)]

    def _summary(self, document: Document, hit: Hit) -> Generation | None:
        return _quoting(document, hit, summary_spans(without_figures(document), self.most))


def of_named(answers: Sequence[tuple[str, Generation]]) -> Generation:
    """Answers of documents that were named, several in turn."""
    return answers[0][1] if len(answers) == 1 else in_turn(answers)


def _authors(document: Document, hit: Hit) -> Generation | None:
    """The authors that the file states, and the lines of the text that name them."""
    stated = str(document.metadata.get("author") or "")
    span = author_lines(document.text, document.title)
    if span is None:
        return _exact(stated, []) if stated else None
    start, end = span
    lines = _sentence(document, hit, start, min(end, start + AUTHOR_CHARACTERS))
    if not stated:
        return _quoting(document, hit, [(lines.start, lines.end)])
    shown = any(name in lines.text for name in re.findall(r"\w{3,}", stated))
    return _exact(f"{stated} [1]", [lines]) if shown else _exact(stated, [])


def _published(document: Document, hit: Hit) -> Generation | None:
    """The date of the document, and the line at its front that says so where there is one."""
    if not document.date:
        return None
    year = document.date[:4]
    lines = (span for span in line_spans(hit.chunk.text) if year in hit.chunk.text[slice(*span)])
    span = next(lines, None)
    if span is None:
        return _exact(f"{document.date}, as the file says.", [])
    return _exact(f"{document.date} [1]", [_sentence(document, hit, *span)])


def _quoting(document: Document, hit: Hit, spans: Sequence[Span]) -> Generation | None:
    sentences = [_sentence(document, hit, *span) for span in spans]
    quotes = (quoted(cite(marker, sentence)) for marker, sentence in enumerate(sentences, start=1))
    return _exact(" ".join(quotes), sentences) if sentences else None


def _speaking(hit: Hit, subject: str) -> Sentence:
    """The sentence of a hit's chunk that has most words of a subject, a heading or caption only for want of others."""
    wanted, text = set(index_terms(subject)), hit.chunk.text
    spans = sentence_spans(text) or [(0, len(text))]

    def worth(span: Span) -> tuple[int, bool]:
        sentence = text[slice(*span)]
        return len(wanted & term_set(sentence)), not says_nothing(sentence)

    start, end = max(spans, key=worth)
    return Sentence(_whole(hit), hit.chunk.start + start, hit.chunk.start + end, text[start:end], hit.score)


def _sentence(document: Document, hit: Hit, start: int, end: int) -> Sentence:
    return Sentence(_whole(hit), start, end, document.text[start:end], hit.score)


def _whole(hit: Hit) -> Evidence:
    chunk = hit.chunk
    return Evidence(hit, chunk.start, chunk.end, chunk.text, chunk.page)


def _exact(text: str, sentences: Sequence[Sentence]) -> Generation:
    citations = tuple(cite(marker, sentence) for marker, sentence in enumerate(sentences, start=1))
    return Generation(text, citations, exact=True)
