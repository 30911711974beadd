"""A collection of Thresher as a retriever."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from pydantic import ConfigDict, Field, PrivateAttr

import thresher
from thresher.recipes.evidence import EvidenceResult


class ThresherRetriever(BaseRetriever):
    """Passages of your own documents, judged: none at all where they do not answer the question.

        retriever = ThresherRetriever(home=".thresher", k=3)
        documents = retriever.invoke("How many layers has BERT-base?")

    Each document says in its metadata where it stands (`source`, `title`, `page`, `start`, `end`, `locator`) and what
    it is worth (`score` and its `scale`, `probability`), with the `verdict` and the `confidence` of the whole search.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True, extra="forbid")

    home: str | Path = ".thresher"
    collection: str | thresher.Collection = "default"
    """Its name in the home folder, or one that is open."""
    k: int = Field(5, ge=1)
    """Documents at most; there are fewer where fewer are worth it."""
    recipe: str = "corrective"
    outside: str | None = None
    """Where to look when the documents do not suffice: `web` or `collection:NAME`."""
    where: str | None = None
    """A filter on metadata, e.g. `kind = 'pdf' AND page <= 3`."""
    settings: dict[str, Any] = Field(default_factory=dict)
    """Of Thresher, by dotted key."""
    refined: bool = False
    """Whether a document is cut to the sentences that are evidence; what has none is left out."""
    keep_incorrect: bool = False
    """Whether the best passages are returned though the verdict on them is incorrect."""
    fallback: BaseRetriever | None = None
    """Asked instead where the verdict is incorrect."""

    _opened: thresher.Collection = PrivateAttr()

    def model_post_init(self, context: Any) -> None:
        """Opening is cheap: models are loaded with the first question."""
        given = self.collection
        self._opened = thresher.open(self.home, given) if isinstance(given, str) else given

    def evidence(self, query: str, *, k: int | None = None) -> EvidenceResult:
        """What the documents are made of, for those who want the verdict without them."""
        return self._opened.evidence(
            query,
            recipe=self.recipe,
            limit=self.k if k is None else k,
            outside=self.outside,
            where=self.where,
            settings=self.settings,
            refined=self.refined,
        )

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun, k: int | None = None
    ) -> list[Document]:
        found = self.evidence(query, k=k)
        if self.fallback is None or found.verdict is not thresher.Verdict.INCORRECT:
            return self._documents(found)
        return self.fallback.invoke(query, {"callbacks": run_manager.get_child()})

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun, k: int | None = None
    ) -> list[Document]:
        found = await asyncio.to_thread(self.evidence, query, k=k)
        if self.fallback is None or found.verdict is not thresher.Verdict.INCORRECT:
            return self._documents(found)
        return await self.fallback.ainvoke(query, {"callbacks": run_manager.get_child()})

    def _documents(self, found: EvidenceResult) -> list[Document]:
        passages = found.passages or (found.rejected if self.keep_incorrect else ())
        return [
            Document(
                passage.text,
                id=passage.hit.chunk.id,
                metadata=found.metadata(passage),
            )
            for passage in passages
        ]
