"""The parts that methods are made of, under names that stay where files move.

A method imports `errors`, `types`, `protocols`, `pipeline`, `settings`, `recipes` and `recipes.settings` besides, and
nothing else of Thresher: `thresher_methods` is written so, and a test holds it to that.
"""

from __future__ import annotations

from thresher.chunking.fixed import FixedChunker
from thresher.chunking.spans import (
    LeftOut,
    check_sizes,
    chunk_regions,
    cut_before,
    fingerprint,
    split_at_whitespace,
    text_regions,
)
from thresher.indexing.index_config import IndexConfig
from thresher.judging.judge import DIGITS, Fixed, KeepAll, ScoringJudge, Threshold, ThresholdResult, cut
from thresher.judging.llm_scorers import REPLY, ModelScorer, Prompt, contents
from thresher.judging.scorers import CrossEncoderScorer, QueryText, WrappedScorer
from thresher.judging.verdicts import ABSOLUTE, NOTHING_RETRIEVED, Bounds, ThreeWay
from thresher.models.replies import asked
from thresher.recipes.build import corrector, generator, quote_checker, strips
from thresher.recipes.components import Components, nothing, prices_of
from thresher.recipes.cuts import hierarchy, left_out
from thresher.recipes.judges import evaluator, stand_in
from thresher.refinement.refine import PassageRefiner
from thresher.retrieval.rewrite import LLMRewriter
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
from thresher.text.injection import fenced
from thresher.text.sentences import VERSION as SENTENCES_VERSION
from thresher.text.sentences import Span, sentence_spans
from thresher.text.terms import index_terms, query_terms

__all__ = [
    "ABSOLUTE",
    "DIGITS",
    "NOTHING_RETRIEVED",
    "REPLY",
    "SENTENCES_VERSION",
    "Bounds",
    "Components",
    "CrossEncoderScorer",
    "CutRetriever",
    "DeduplicatedRetriever",
    "DenseRetriever",
    "Fixed",
    "FixedChunker",
    "FusedRetriever",
    "Fusion",
    "IndexConfig",
    "KeepAll",
    "LLMRewriter",
    "LeftOut",
    "LexicalRetriever",
    "ModelScorer",
    "PassageRefiner",
    "Prompt",
    "QueryText",
    "Redundancy",
    "ScoringJudge",
    "Span",
    "ThreeWay",
    "Threshold",
    "ThresholdResult",
    "WrappedScorer",
    "asked",
    "check_sizes",
    "children_of",
    "chunk_regions",
    "contents",
    "corrector",
    "cut",
    "cut_before",
    "depth_about",
    "depth_for",
    "evaluator",
    "fenced",
    "fingerprint",
    "generator",
    "hierarchy",
    "index_terms",
    "left_out",
    "lexical_scores",
    "nothing",
    "prices_of",
    "query_terms",
    "quote_checker",
    "reciprocal_rank_fusion",
    "sentence_spans",
    "split_at_whitespace",
    "stand_in",
    "strips",
    "text_regions",
    "weighted_fusion",
]
