"""Thresher's bundled judge over a retriever's results."""

from __future__ import annotations

from collections.abc import Mapping

from llama_index.core.bridge.pydantic import Field, PrivateAttr
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

from thresher import RankedText, Reranker


class ThresherPostprocessor(BaseNodePostprocessor):
    """Sorts nodes by the probability that they answer, and drops those below `min_score`.

        index.as_query_engine(node_postprocessors=[ThresherPostprocessor(min_score=0.3)])

    Needs no collection and no chat model, and sends nothing anywhere. The probability is the node's score, 0 to 1; the
    metadata get its earlier score as `retrieval_score`, with the `verdict` on all nodes and its `confidence`.
    """

    top_n: int | None = Field(default=None, ge=1, description="Most nodes; None for all.")
    min_score: float = Field(default=0.0, ge=0, le=1, description="Least probability of a node.")
    refined: bool = Field(
        default=False, description="Whether to cut nodes to their relevant sentences; nodes without any are dropped."
    )
    title_key: str = Field(default="title", description="Metadata key of a text's title, which the judge reads first.")

    _rerank: Reranker = PrivateAttr(default_factory=Reranker)

    @classmethod
    def class_name(cls) -> str:
        """The name in serialised form."""
        return "ThresherPostprocessor"

    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        if query_bundle is None:
            raise ValueError("ThresherPostprocessor judges nodes for a question: give `query_str` or `query_bundle`")
        if not nodes:
            return []
        titles = [str(node.metadata.get(self.title_key) or "") for node in nodes]
        texts = [node.get_content() for node in nodes]
        ranked = self._rerank(query_bundle.query_str, texts, titles, top_n=self.top_n, spans=self.refined)
        decision = self._rerank.decide(query_bundle.query_str, ranked)
        told = {"verdict": str(decision.verdict), "confidence": decision.confidence}
        return [
            self._copy(nodes[one.index], one, told)
            for one in ranked
            if one.score >= self.min_score and (one.spans or not self.refined)
        ]

    def _copy(self, given: NodeWithScore, ranked: RankedText, told: Mapping[str, object]) -> NodeWithScore:
        """The node under its own id with new metadata; if it is cut, `spans` are offsets in its text."""
        node = given.node.model_copy()
        added: dict[str, object] = {**told, "retrieval_score": given.score}
        if self.refined and isinstance(node, TextNode):
            added["spans"] = [[span.start, span.end] for span in ranked.spans]
            node.set_content(" … ".join(node.text[span.start : span.end] for span in ranked.spans))
        node.metadata = {**node.metadata, **added}
        node.excluded_llm_metadata_keys = [*node.excluded_llm_metadata_keys, *added]
        node.excluded_embed_metadata_keys = [*node.excluded_embed_metadata_keys, *added]
        return NodeWithScore(node=node, score=ranked.score)
