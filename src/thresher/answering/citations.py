"""What an answer cites: quotes looked up in their documents, conflicts shown beside it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from thresher.answering.sentence_support import Sentence
from thresher.reasons import NEAREST
from thresher.types import (
    NO_NOTES,
    AnswerSentence,
    Citation,
    Document,
    Evidence,
    Generation,
    Notes,
    Origin,
    Query,
    Refined,
)
from thresher.verification.claims import sentences_of


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
    """No answer, and why; the text is the reason without what is nearest."""
    return Generation(reason.partition(NEAREST)[0], abstained=True, reason=reason, notes=notes)


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

    documents: Callable[[Sequence[str]], Mapping[str, Document]]
    locate: Callable[[Document, int, int], str]
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
        place = self.locate(document, citation.start, citation.end)
        return replace(citation, page=document.page_at(citation.start), locator=place)
