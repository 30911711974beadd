"""What an answer cites: sentences of the evidence, looked up in their documents, and what contradicts them."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import ClassVar, NamedTuple

from thresher.answer import NOT_ANSWERED
from thresher.protocols import Documents, Verifier, about
from thresher.structure.versions import are_versions
from thresher.text.sentences import sentence_spans, spans_of, touched
from thresher.types import (
    NO_NOTES,
    Alternative,
    AnswerSentence,
    Citation,
    Document,
    Evidence,
    Generation,
    Notes,
    Origin,
    Query,
    Refined,
    Scale,
    Score,
)
from thresher.verification.claims import sentences_of
from thresher.verification.conflicts import find_conflicts

__all__ = ["SUPPORT", "Sentence", "abstention", "cite"]

SUPPORT = Scale("support", 0.0, 1.0)

MOST_ALTERNATIVES = 2


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence of a piece of evidence; `start` and `end` are offsets in the document."""

    evidence: Evidence
    start: int
    end: int
    text: str
    support: Score

    @classmethod
    def whole(cls, piece: Evidence, score: Score) -> Sentence:
        """All of a piece."""
        return cls(piece, piece.start, piece.end, piece.text, score)


def sentence_around(piece: Evidence, start: int, end: int, score: Score) -> Sentence:
    """The sentences, or rows of a table, that overlap a place of a piece, in its offsets; the whole piece for none."""
    spans = spans_of(piece.text, table=piece.hit.chunk.kind == "table")
    first, behind = touched(spans, start, end) or (0, len(piece.text))
    return Sentence(piece, piece.start + first, piece.start + behind, piece.text[first:behind], score)


def cite(marker: int, sentence: Sentence) -> Citation:
    """The place of a sentence in its document."""
    hit = sentence.evidence.hit
    return Citation(
        marker=marker,
        document_id=hit.chunk.document_id,
        source=hit.chunk.source,
        title=hit.chunk.title,
        page=sentence.evidence.page,
        start=sentence.start,
        end=sentence.end,
        quote=sentence.text,
        score=sentence.support,
        origin=hit.origin,
        fetched=hit.fetched,
    )


def same_place(one: Citation, other: Citation) -> bool:
    """Whether two citations overlap in a document."""
    return one.document_id == other.document_id and one.start < other.end and other.start < one.end


def beside(others: Iterable[Alternative], citations: Sequence[Citation]) -> tuple[Alternative, ...]:
    """The first of other passages that an answer does not cite, at most two, numbered behind its citations."""
    apart = (one for one in others if not any(same_place(one.citation, cited) for cited in citations))
    shown = enumerate(islice(apart, MOST_ALTERNATIVES), start=len(citations) + 1)
    return tuple(one.numbered(marker) for marker, one in shown)


def quoted(citation: Citation) -> str:
    """A quote as the extractive reader sets it: on one line, its marker behind it."""
    return f"“{' '.join(citation.quote.split())}” [{citation.marker}]"


def is_quoted_from(piece: Evidence, citation: Citation) -> bool:
    """Whether a piece of evidence has the quote at the citation's place."""
    at = citation.start - piece.start
    same = piece.hit.chunk.document_id == citation.document_id and at >= 0
    return same and piece.text[at : citation.end - piece.start] == citation.quote


NO_EVIDENCE = "Nothing was retrieved for this question."


def abstention(reason: str, notes: Notes = NO_NOTES) -> Generation:
    """No answer, and why; the text is the reason without its details."""
    text = NOT_ANSWERED if reason.startswith(NOT_ANSWERED) else reason
    return Generation(text, abstained=True, reason=reason, notes=notes)


class LocalReading(NamedTuple):
    """What evidence says to a question as it is read without a chat model."""

    answering: Container[int] | None
    """Positions in the evidence, from 0, of what answers; None where it was not read."""
    answer: Generation | None = None
    """What is shown where no sentence of a model holds: the passage that answers, where one probably does, or the
    refusal, where nothing does."""
    words: Sequence[str] = ()
    """The likeliest answer in each piece that answers."""
    conflicts: Sequence[tuple[Citation, Citation]] = ()
    """Places that contradict each other."""
    nearest: Sequence[Alternative] = ()
    """The likeliest sentences, each of another passage, for beside what is refused or not supported."""


UNREAD = LocalReading(None)


def with_sentences(draft: Generation) -> Generation:
    """The draft with its sentences where they stand in its text; of one that nobody checked, those that quote."""
    if not draft.sentences:
        return replace(draft, sentences=sentences_of(draft.text, draft.citations))
    known = {citation.marker for citation in draft.citations}
    placed: list[AnswerSentence] = []
    behind = 0
    for one in draft.sentences:
        start = draft.text.find(one.text, behind)
        if start >= 0:
            behind = start + len(one.text)
            markers = tuple(marker for marker in one.citations if marker in known)
            placed.append(replace(one, start=start, end=behind, citations=markers))
    return replace(draft, sentences=tuple(placed))


@dataclass(frozen=True, slots=True)
class QuoteChecker:
    """Sets page and locator of each citation; removes and counts those whose quote does not stand in their document.

    A web page is not stored: its quotes must stand in the evidence.
    """

    documents: Documents
    locate: Callable[[Document, int, int, int], str]
    """The place of a span of a document in its file."""
    about: ClassVar[str] = "quotes"

    def __call__(self, query: Query, draft: Generation, refined: Refined) -> Generation:
        """The draft with checked citations; an answer left without any is withdrawn."""
        cited = (*draft.citations, *(one.citation for one in draft.alternatives))
        documents = self.documents(sorted({citation.document_id for citation in cited}))
        others = [(one, self._located(one.citation, documents, refined.evidence)) for one in draft.alternatives]
        shown = tuple(replace(one, citation=located) for one, located in others if located is not None)
        draft = replace(draft, alternatives=shown)
        if not draft.citations:
            return draft if draft.abstained else with_sentences(draft)
        checked = [(citation, self._located(citation, documents, refined.evidence)) for citation in draft.citations]
        kept = tuple(located for _, located in checked if located is not None)
        counts = {"quotes_checked": len(checked), "quotes_removed": len(checked) - len(kept)}
        notes = draft.notes + Notes(facts=counts)
        if not kept:
            return abstention("The quoted text does not stand in the documents.", notes)
        text = draft.text
        for citation, located in checked:
            if located is None:
                text = text.replace(quoted(citation), "").replace(f" [{citation.marker}]", "").strip()
        return with_sentences(replace(draft, text=text, citations=kept, notes=notes))

    def placed(self, citation: Citation) -> Citation:
        """A citation whose quote is known to stand in its document, with page and locator."""
        return self._located(citation, self.documents([citation.document_id]), ()) or citation

    def _located(
        self, citation: Citation, documents: Mapping[str, Document], evidence: Sequence[Evidence]
    ) -> Citation | None:
        document = documents.get(citation.document_id)
        if document is None:
            outside = citation.origin is Origin.OUTSIDE and any(is_quoted_from(piece, citation) for piece in evidence)
            return citation if outside else None
        if document.text[citation.start : citation.end] != citation.quote:
            return None
        place = self.locate(document, citation.start, citation.end, citation.focus[0])
        return replace(citation, page=document.page_at(citation.start), locator=place)


@dataclass(frozen=True, slots=True)
class ConflictCiter:
    """Another verifier's answer, with evidence that contradicts a cited piece cited behind the others."""

    verify: Verifier
    placed: Callable[[Citation], Citation]
    """Says where in its file the quote of a citation stands."""
    documents: Documents = lambda ids: {}
    """The documents of some ids: versions of one document do not contradict each other."""

    @property
    def about(self) -> str:
        """What the verifier says of itself."""
        return about(self.verify)

    def __call__(self, query: Query, draft: Generation, refined: Refined) -> Generation:
        """The verified draft with the citations of both sides, and the pairs of their markers, behind its own pairs."""
        verified = self.verify(query, draft, refined)
        citations = list(verified.citations)
        markers = {citation.marker for citation in citations}
        pairs = dict.fromkeys(pair for pair in verified.conflicts if markers.issuperset(pair))
        for positions in refined.conflicts:
            one, other = (refined.evidence[position - 1] for position in positions)
            known = self.documents([one.hit.chunk.document_id, other.hit.chunk.document_id])
            if len(known) > 1 and are_versions(*known.values()):
                continue
            for side, against in ((one, other), (other, one)):
                for citation in [citation for citation in verified.citations if is_quoted_from(side, citation)]:
                    for sentence in _contradicting(side, citation, against):
                        marker = _marker(sentence, citations)
                        if marker is None:
                            marker = len(citations) + 1
                            citations.append(self.placed(cite(marker, sentence)))
                        pairs[min(citation.marker, marker), max(citation.marker, marker)] = None
        return replace(verified, citations=tuple(citations), conflicts=tuple(pairs))


def _contradicting(side: Evidence, citation: Citation, other: Evidence) -> list[Sentence]:
    """The sentences of other evidence that contradict what is cited from a piece: they may agree in all the rest."""
    start, end = citation.focus
    text = citation.quote[start - citation.start : end - citation.start]
    quote = replace(side, start=start, end=end, text=text)
    spans = sentence_spans(other.text) or [(0, len(other.text))]
    sentences = [replace(other, start=other.start + a, end=other.start + b, text=other.text[a:b]) for a, b in spans]
    found = find_conflicts([quote, *sentences])
    return [Sentence.whole(sentences[position - 2], other.hit.score) for first, position in found if first == 1]


def _marker(sentence: Sentence, citations: Sequence[Citation]) -> int | None:
    own = (one for one in citations if one.document_id == sentence.evidence.hit.chunk.document_id)
    return next((one.marker for one in own if one.start < sentence.end and sentence.start < one.end), None)


def renumbered(text: str, citations: Sequence[Citation], shift: int) -> str:
    """A text with its own markers raised; brackets within quotes and tables stay."""
    own = {citation.marker for citation in citations}

    def raised(found: re.Match[str]) -> str:
        return f"[{int(found[1]) + shift}]" if found[1] is not None and int(found[1]) in own else found[0]

    return re.sub(r"“[^”]*”|^\|.*$|\[(\d+)\]", raised, text, flags=re.MULTILINE)
