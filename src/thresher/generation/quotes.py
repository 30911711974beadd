"""Every citation is looked up in its document: the quote must stand there, and the page is the quote's own."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from thresher.types import Citation, Document, Draft, Evidence, Origin, Query

Documents = Callable[[Sequence[str]], Mapping[str, Document]]


@dataclass(frozen=True, slots=True)
class QuoteChecker:
    """Sets the page of each citation and removes, counted, what its document does not say at that place."""

    documents: Documents

    def __call__(self, query: Query, draft: Draft, evidence: Sequence[Evidence]) -> Draft:
        """The draft with checked citations; an answer left without any is withdrawn."""
        inside = [citation for citation in draft.citations if citation.origin is Origin.INSIDE]
        if not inside:
            return draft
        documents = self.documents(sorted({citation.document_id for citation in inside}))
        checked = [(citation, _located(citation, documents)) for citation in draft.citations]
        kept = tuple(located for _, located in checked if located is not None)
        detail = {**draft.detail, "quotes_checked": len(inside), "quotes_removed": len(checked) - len(kept)}
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


def _located(citation: Citation, documents: Mapping[str, Document]) -> Citation | None:
    if citation.origin is not Origin.INSIDE:
        return citation
    document = documents.get(citation.document_id)
    if document is None or document.text[citation.start : citation.end] != citation.quote:
        return None
    return replace(citation, page=document.page_at(citation.start))
