"""Every citation is looked up in its document: the quote must stand there, and the page is the quote's own."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from thresher.types import Citation, Document, Draft, Evidence, Origin, Query

Documents = Callable[[Sequence[str]], Mapping[str, Document]]


@dataclass(frozen=True, slots=True)
class QuoteChecker:
    """Sets the page of each citation and removes, counted, what its document does not say at that place.

    A web page is no stored document: what is quoted from one must stand in the evidence that was cut from it.
    """

    documents: Documents

    def __call__(self, query: Query, draft: Draft, evidence: Sequence[Evidence]) -> Draft:
        """The draft with checked citations; an answer left without any is withdrawn."""
        if not draft.citations:
            return draft
        documents = self.documents(sorted({citation.document_id for citation in draft.citations}))
        checked = [(citation, _located(citation, documents, evidence)) for citation in draft.citations]
        kept = tuple(located for _, located in checked if located is not None)
        detail = {**draft.detail, "quotes_checked": len(checked), "quotes_removed": len(checked) - len(kept)}
        if not kept:
            return replace(
                draft,
                text="The documents do not answer this question.",
                citations=(),
                abstained=True,
                reason="The quoted text does not stand in the documents.",
                detail=detail,
            )
        text = draft.text
        for citation, located in checked:
            if located is None:
                text = text.replace(quoted(citation), "").replace(f" [{citation.marker}]", "").strip()
        return replace(draft, text=text, citations=kept, detail=detail)


def quoted(citation: Citation) -> str:
    """A quote as the extractive reader sets it: on one line, its marker behind it."""
    return f"“{' '.join(citation.quote.split())}” [{citation.marker}]"


def _located(citation: Citation, documents: Mapping[str, Document], evidence: Sequence[Evidence]) -> Citation | None:
    document = documents.get(citation.document_id)
    if document is not None:
        stands = document.text[citation.start : citation.end] == citation.quote
        return replace(citation, page=document.page_at(citation.start)) if stands else None
    outside = citation.origin is Origin.OUTSIDE and any(_holds(piece, citation) for piece in evidence)
    return citation if outside else None


def _holds(piece: Evidence, citation: Citation) -> bool:
    """Whether a piece of evidence has the quote at the citation's place."""
    at = citation.start - piece.start
    same = piece.hit.chunk.document_id == citation.document_id and at >= 0
    return same and piece.text[at : citation.end - piece.start] == citation.quote
