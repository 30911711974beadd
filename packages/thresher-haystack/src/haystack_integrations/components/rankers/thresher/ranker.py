"""Thresher's bundled judge over a retriever's results."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from haystack import Document, component, default_from_dict, default_to_dict

from thresher import RankedText, Reranker
from thresher.errors import UsageError


@component
class ThresherRanker:
    """Sorts documents by the probability that they answer, with a verdict on all of them.

        ranker = ThresherRanker(min_score=0.3)
        ranker.run(query="How many layers has BERT-base?", documents=documents)
        # {"documents": [...], "verdict": "correct"}

    Needs no collection and no chat model, and sends nothing anywhere. The probability is the document's score, 0 to 1.
    `verdict` is correct, ambiguous, incorrect or unsure, for a `ConditionalRouter`.
    """

    def __init__(
        self, top_k: int | None = None, *, min_score: float = 0.0, refined: bool = False, title_field: str = "title"
    ) -> None:
        """Cheap: `warm_up` or the first question loads the models. Raises UsageError.

        `top_k`: most documents. `min_score`: least probability of a document. `refined` cuts documents to their
        relevant sentences and drops those without any. `title_field`: meta field of the title, which the judge reads
        first.
        """
        if not 0 <= min_score <= 1:
            raise UsageError("is no probability", subject=f"`min_score` {min_score}", next_step="give one from 0 to 1")
        _check(top_k)
        self.top_k = top_k
        self.min_score = min_score
        self.refined = refined
        self.title_field = title_field
        self._rerank = Reranker()

    def warm_up(self) -> None:
        """Load the judge, once."""
        self._rerank.warm_up()

    def to_dict(self) -> dict[str, Any]:
        """Serialised form for `from_dict`."""
        given = {"top_k": self.top_k, "min_score": self.min_score, "refined": self.refined}
        return default_to_dict(self, **given, title_field=self.title_field)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> ThresherRanker:
        """From the form of `to_dict`."""
        return default_from_dict(cls, data)

    @component.output_types(documents=list[Document], verdict=str)
    def run(self, query: str, documents: list[Document], top_k: int | None = None) -> dict[str, Any]:
        """Copies of the kept documents, best first, and the verdict. Raises UsageError for an empty query."""
        most = self.top_k if top_k is None else _check(top_k)
        titles = [str(document.meta.get(self.title_field) or "") for document in documents]
        texts = [document.content or "" for document in documents]
        ranked = self._rerank(query, texts, titles, top_n=most, spans=self.refined)
        decision = self._rerank.decide(query, ranked)
        told = {"verdict": str(decision.verdict), "confidence": decision.confidence}
        stay = [one for one in ranked if one.score >= self.min_score and (one.spans or not self.refined)]
        return {"documents": [self._copy(documents[one.index], one, told) for one in stay], "verdict": told["verdict"]}

    @component.output_types(documents=list[Document], verdict=str)
    async def run_async(self, query: str, documents: list[Document], top_k: int | None = None) -> dict[str, Any]:
        """The same, in a thread."""
        return await asyncio.to_thread(self.run, query, documents, top_k)

    def _copy(self, document: Document, ranked: RankedText, told: Mapping[str, Any]) -> Document:
        """A copy under the same id; if it is cut, `spans` are offsets in the original text."""
        if not self.refined:
            return replace(document, score=ranked.score, meta={**document.meta, **told})
        text = document.content or ""
        cut = " … ".join(text[span.start : span.end] for span in ranked.spans)
        spans = [[span.start, span.end] for span in ranked.spans]
        return replace(document, content=cut, score=ranked.score, meta={**document.meta, **told, "spans": spans})


def _check(top_k: int | None) -> int | None:
    if top_k is not None and top_k < 1:
        raise UsageError("must be at least 1", subject=f"`top_k` {top_k}")
    return top_k
