"""A collection of Thresher as a retriever."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from haystack import Document, component, default_from_dict, default_to_dict
from haystack_integrations.components.retrievers.thresher.filters import where_of

import thresher
from thresher import EvidenceResult

UNDECIDED = "none"
"""Verdict of a recipe that decides nothing."""


@component
class ThresherRetriever:
    """Judged passages of your own documents, and the verdict; no passage if they do not answer.

        retriever = ThresherRetriever(home=".thresher", top_k=3)
        retriever.run(query="How many layers has BERT-base?")
        # {"documents": [...], "verdict": "correct"}

    Each document's meta has its location (`source`, `title`, `page`, `start`, `end`, `locator`) and score (`score` with
    its `scale`, `probability`), with the `verdict` and the `confidence` of the whole search.
    """

    def __init__(
        self,
        home: str | Path = ".thresher",
        collection: str = "default",
        *,
        top_k: int = 5,
        recipe: str = "corrective",
        outside: str | None = None,
        where: str | None = None,
        settings: Mapping[str, Any] | None = None,
        refined: bool = False,
        keep_incorrect: bool = False,
    ) -> None:
        """Cheap: `warm_up` or the first question loads the models.

        `outside`: where to look if the documents do not suffice (`web` or `collection:NAME`). `where`: a filter on
        metadata (`kind = 'pdf' AND page <= 3`). `settings`: Thresher's, by dotted key. `refined` cuts documents to the
        sentences that are evidence. `keep_incorrect` returns the best passages even if they do not answer.
        """
        self.home = str(home)
        self.collection = collection
        self.top_k = top_k
        self.recipe = recipe
        self.outside = outside
        self.where = where
        self.settings = dict(settings or {})
        self.refined = refined
        self.keep_incorrect = keep_incorrect
        self._engine = thresher.Engine(self.home)

    def warm_up(self) -> None:
        """Load the models, once."""
        self._engine.warm_up()

    def to_dict(self) -> dict[str, Any]:
        """Serialised form for `from_dict`."""
        return default_to_dict(
            self,
            home=self.home,
            collection=self.collection,
            top_k=self.top_k,
            recipe=self.recipe,
            outside=self.outside,
            where=self.where,
            settings=self.settings,
            refined=self.refined,
            keep_incorrect=self.keep_incorrect,
        )

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> ThresherRetriever:
        """From the form of `to_dict`."""
        return default_from_dict(cls, data)

    @component.output_types(documents=list[Document], verdict=str)
    def run(self, query: str, filters: dict[str, Any] | None = None, top_k: int | None = None) -> dict[str, Any]:
        """The documents, best first, and the verdict. `filters` are Haystack's, applied in addition to `where`."""
        found = self._engine.collection(self.collection).evidence(
            query,
            recipe=self.recipe,
            limit=self.top_k if top_k is None else top_k,
            outside=self.outside,
            where=self._restricted(filters),
            settings=self.settings,
            refined=self.refined,
        )
        verdict = UNDECIDED if found.verdict is None else str(found.verdict)
        return {"documents": self._documents(found), "verdict": verdict}

    @component.output_types(documents=list[Document], verdict=str)
    async def run_async(
        self, query: str, filters: dict[str, Any] | None = None, top_k: int | None = None
    ) -> dict[str, Any]:
        """The same, in a thread."""
        return await asyncio.to_thread(self.run, query, filters, top_k)

    def _restricted(self, filters: Mapping[str, Any] | None) -> str | None:
        given = [where for where in (self.where, where_of(filters) if filters else None) if where]
        return " AND ".join(f"({where})" for where in given) or None

    def _documents(self, found: EvidenceResult) -> list[Document]:
        passages = found.passages or (found.rejected if self.keep_incorrect else ())
        return [
            Document(
                id=passage.hit.chunk.id,
                content=passage.text,
                meta=found.metadata(passage),
                score=passage.hit.score.value,
            )
            for passage in passages
        ]
