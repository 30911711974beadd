"""A collection of Thresher as a retriever."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.schema import NodeRelationship, NodeWithScore, QueryBundle, RelatedNodeInfo, TextNode

import thresher
from thresher import EvidenceResult, Passage

READ_BY_A_MODEL = frozenset({"source", "title", "locator"})
"""Metadata shown above a passage to a chat model; the rest is for programs."""


class ThresherRetriever(BaseRetriever):
    """Judged passages of your own documents; none if they do not answer the question.

        retriever = ThresherRetriever(home=".thresher", similarity_top_k=3)
        nodes = retriever.retrieve("How many layers has BERT-base?")

    The metadata have each node's location (`source`, `title`, `page`, `start`, `end`, `locator`) and score (`score`
    with its `scale`, `probability`), with the `verdict` and the `confidence` of the whole search.

    `collection` is a name in the home folder, or an open collection. `refined` cuts nodes to the sentences that are
    evidence. If the verdict is incorrect nothing is returned, unless `outside` names another place to look (`web` or
    `collection:NAME`), `fallback` is another retriever, or `keep_incorrect` asks for the best passages anyway.
    """

    def __init__(
        self,
        home: str | Path = ".thresher",
        collection: str | thresher.Collection = "default",
        *,
        similarity_top_k: int = 5,
        recipe: str = "corrective",
        outside: str | None = None,
        where: str | None = None,
        settings: Mapping[str, Any] | None = None,
        refined: bool = False,
        keep_incorrect: bool = False,
        fallback: BaseRetriever | None = None,
        **more: Any,
    ) -> None:
        super().__init__(**more)
        self.similarity_top_k = similarity_top_k
        self._asked = thresher.open(home, collection) if isinstance(collection, str) else collection
        self._recipe, self._outside, self._where = recipe, outside, where
        self._settings, self._refined = dict(settings or {}), refined
        self._keep_incorrect, self._fallback = keep_incorrect, fallback

    def evidence(self, question: str) -> EvidenceResult:
        """The evidence behind the nodes, with the verdict."""
        return self._asked.evidence(
            question,
            recipe=self._recipe,
            limit=self.similarity_top_k,
            outside=self._outside,
            where=self._where,
            settings=self._settings,
            refined=self._refined,
        )

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        found = self.evidence(query_bundle.query_str)
        if self._fallback is None or found.verdict is not thresher.Verdict.INCORRECT:
            return self._nodes(found)
        return self._fallback.retrieve(query_bundle)

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        found = await asyncio.to_thread(self.evidence, query_bundle.query_str)
        if self._fallback is None or found.verdict is not thresher.Verdict.INCORRECT:
            return self._nodes(found)
        return await self._fallback.aretrieve(query_bundle)

    def _nodes(self, found: EvidenceResult) -> list[NodeWithScore]:
        passages = found.passages or (found.rejected if self._keep_incorrect else ())
        return [NodeWithScore(node=self._node(found, passage), score=passage.hit.score.value) for passage in passages]

    def _node(self, found: EvidenceResult, passage: Passage) -> TextNode:
        chunk, metadata = passage.hit.chunk, found.metadata(passage)
        hidden = [key for key in metadata if key not in READ_BY_A_MODEL]
        return TextNode(
            id_=chunk.id,
            text=passage.text,
            start_char_idx=chunk.start,
            end_char_idx=chunk.end,
            metadata=metadata,
            excluded_llm_metadata_keys=hidden,
            excluded_embed_metadata_keys=hidden,
            relationships={NodeRelationship.SOURCE: RelatedNodeInfo(node_id=chunk.document_id)},
        )
