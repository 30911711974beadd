"""How a method scores what it found and decides: scorers, thresholds, judges, deciders."""

from __future__ import annotations

from thresher.judging.judge import DIGITS, Fixed, KeepAll, ScoringJudge, Threshold, ThresholdResult, cut
from thresher.judging.llm_scorers import REPLY, ModelScorer, Prompt, contents
from thresher.judging.scorers import CrossEncoderScorer, QueryText, WrappedScorer
from thresher.judging.verdicts import ABSOLUTE, NOTHING_RETRIEVED, Bounds, ThreeWay
from thresher.models.replies import asked
from thresher.recipes.judges import evaluator, stand_in
from thresher.text.injection import fenced
from thresher.text.terms import index_terms, query_terms

__all__ = [
    "ABSOLUTE",
    "DIGITS",
    "NOTHING_RETRIEVED",
    "REPLY",
    "Bounds",
    "CrossEncoderScorer",
    "Fixed",
    "KeepAll",
    "ModelScorer",
    "Prompt",
    "QueryText",
    "ScoringJudge",
    "ThreeWay",
    "Threshold",
    "ThresholdResult",
    "WrappedScorer",
    "asked",
    "contents",
    "cut",
    "evaluator",
    "fenced",
    "index_terms",
    "query_terms",
    "stand_in",
]
