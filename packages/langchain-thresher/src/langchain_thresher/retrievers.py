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
from thresher import EvidenceResult


class ThresherRetriever(BaseRetriever):
    """Judged passages of your own documents; none if they do not answer the question.

        retriever = ThresherRetriever(home=".thresher", k=3)
        documents = retriever.invoke("How many layers has BERT-base?")

    The metadata have each document's location (`source`, `title`, `page`, `start`, `end`, `locator`) and score (`score`
    with its `scale`, `probability`), with the `verdict` and the `confidence` of the whole search.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True, extra="forbid")

    home: str | Path = ".thresher"
    collection: str | thresher.Collection = "default"
    """Its name in the home folder, or an open collection."""
    k: int = Field(5, ge=1)
    """Most documents; fewer if fewer pass the judge."""
    recipe: str = "corrective"
    outside: str | None = None
    """Where to look if the documents do not suffice: `web` or `collection:NAME`."""
    where: str | None = None
    """A filter on metadata, e.g. `kind = 'pdf' AND page <= 3`."""
    settings: dict[str, Any] = Field(default_factory=dict)
    """Thresher's settings by dotted key."""
    refined: bool = False
    """Whether to cut documents to the sentences that are evidence; documents without any are dropped."""
    keep_incorrect: bool = False
    """Whether to return the best passages even if the verdict is incorrect."""
    fallback: BaseRetriever | None = None
    """Retriever to ask instead if the verdict is incorrect."""

    _opened: thresher.Collection = PrivateAttr()

    def model_post_init(self, context: Any) -> None:
        """Opening is cheap: the first question loads the models."""
        given = self.collection
        self._opened = thresher.open(self.home, given) if isinstance(given, str) else given

    def evidence(self, query: str, *, k: int | None = None) -> EvidenceResult:
        """The evidence behind the documents, with the verdict."""
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
