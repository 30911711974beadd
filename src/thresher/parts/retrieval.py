"""How a method searches: retrievers, fusions, rewriting."""

from __future__ import annotations

from thresher.question.rewrite import LLMRewriter
from thresher.recipes.components import nothing
from thresher.retrieval.search import (
    CutRetriever,
    DenseRetriever,
    FusedRetriever,
    Fusion,
    LexicalRetriever,
    children_of,
    depth_about,
    depth_for,
    lexical_scores,
    reciprocal_rank_fusion,
    weighted_fusion,
)
from thresher.retrieval.wrappers import DeduplicatedRetriever, Redundancy

__all__ = [
    "CutRetriever",
    "DeduplicatedRetriever",
    "DenseRetriever",
    "FusedRetriever",
    "Fusion",
    "LLMRewriter",
    "LexicalRetriever",
    "Redundancy",
    "children_of",
    "depth_about",
    "depth_for",
    "lexical_scores",
    "nothing",
    "reciprocal_rank_fusion",
    "weighted_fusion",
]
