"""Thresher's bundled judge over another retriever's results."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

from langchain_core.callbacks import Callbacks
from langchain_core.documents import BaseDocumentCompressor, Document
from pydantic import ConfigDict, Field, PrivateAttr

from thresher import RankedText, Reranker


class ThresherCompressor(BaseDocumentCompressor):
    """Sorts documents by the probability that they answer, and drops those below `min_score`.

        ContextualCompressionRetriever(base_retriever=yours, base_compressor=ThresherCompressor(min_score=0.3))

    Needs no collection and no chat model, and sends nothing anywhere. The metadata get the probability as
    `relevance_score`, 0 to 1, with the `verdict` on all documents and its `confidence`.
    """

    model_config = ConfigDict(extra="forbid")

    top_n: int | None = Field(None, ge=1)
    """Most documents; None for all."""
    min_score: float = Field(0.0, ge=0, le=1)
    """Least probability of a document."""
    refined: bool = False
    """Whether to cut documents to their relevant sentences; documents without any are dropped."""
    title_key: str = "title"
    """Metadata key of a text's title, which the judge reads first."""

    _rerank: Reranker = PrivateAttr(default_factory=Reranker)

    def compress_documents(
        self, documents: Sequence[Document], query: str, callbacks: Callbacks | None = None
    ) -> Sequence[Document]:
        """Copies of the kept documents, best first. Raises UsageError for an empty query."""
        if not documents:
            return []
        titles = [str(document.metadata.get(self.title_key) or "") for document in documents]
        texts = [document.page_content for document in documents]
        ranked = self._rerank(query, texts, titles, top_n=self.top_n, spans=self.refined)
        decision = self._rerank.decide(query, ranked)
        told = {"verdict": str(decision.verdict), "confidence": decision.confidence}
        return [
            self._copy(documents[one.index], one, told)
            for one in ranked
            if one.score >= self.min_score and (one.spans or not self.refined)
        ]

    async def acompress_documents(
        self, documents: Sequence[Document], query: str, callbacks: Callbacks | None = None
    ) -> Sequence[Document]:
        """The same, in a thread."""
        return await asyncio.to_thread(self.compress_documents, documents, query, callbacks)

    def _copy(self, document: Document, ranked: RankedText, told: Mapping[str, object]) -> Document:
        text, metadata = document.page_content, {**document.metadata, "relevance_score": ranked.score, **told}
        if self.refined:
            metadata["spans"] = [[span.start, span.end] for span in ranked.spans]
            text = " … ".join(text[span.start : span.end] for span in ranked.spans)
        return document.model_copy(update={"page_content": text, "metadata": metadata})
