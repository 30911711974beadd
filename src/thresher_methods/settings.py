"""The settings of `crag`, `ecrag`, `chunkrag` and their presets; data only, as in `thresher.recipes.settings`."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from thresher.recipes.settings import (
    RERANK,
    FixedChunking,
    JudgeSettings,
    ListSettings,
    ListWeights,
    OutsideSettings,
    RedundancySettings,
    RefineSettings,
    RerankerSettings,
    SentenceChunking,
    Subchunking,
)
from thresher.settings import Frozen

Actions = Literal[
    "all",
    "without-correct",
    "without-incorrect",
    "without-ambiguous",
    "only-correct",
    "only-incorrect",
    "only-ambiguous",
]
"""Verdicts that are acted on (CRAG, Tables 2 and 11): one that is taken away acts as ambiguous."""


class CragSettings(OutsideSettings):
    """Settings of `crag`."""

    t5: ClassVar[bool] = False
    """Scores are on the scale of the fine-tuned evaluator, -1 to 1, and not from 0 to 1."""

    chunk: FixedChunking = FixedChunking()
    dense: ListSettings = ListSettings(depth=10)
    upper: float = Field(0.7, description="score above which one chunk makes the retrieval correct")
    lower: float = Field(0.3, description="score up to which a chunk is irrelevant")
    bounds: Literal["blog", "paper", "code"] = Field("blog", description="on which side the bounds themselves lie")
    actions: Actions = Field(
        "all",
        description="verdicts that are acted on: one that is taken away acts as ambiguous, and without ambiguous the "
        "upper bound alone decides",
    )


class PrintedCragSettings(CragSettings):
    """Settings of `crag-paper` and `crag-code`."""

    titled = False
    t5 = True


class EcragSubchunking(Subchunking):
    """The same, as printed or whole."""

    tail: Literal["flush", "literal"] = Field("flush", description="keep the last subchunk, or lose it as printed")


class ConfidenceSettings(Frozen):
    """The knowledge detection module."""

    combine: Literal["weighted", "sum"] = Field("weighted", description="0.7 cosine + 0.3 BM25, or their sum")
    cosine_weight: float = Field(0.7, ge=0, le=1, description="of the cosine in the weighted form; BM25 has the rest")
    cut: float = Field(0.5, ge=0, le=2, description="confidence a subchunk needs to stay")
    nonzero_rule: Literal["raw", "off", "normalized"] = Field("raw", description="which zero drops a subchunk")
    fit: Literal["corpus", "retrieved"] = Field("corpus", description="whose statistics BM25 uses")
    idf: Literal["robertson", "okapi"] = Field(
        "robertson", description="which idf BM25 uses; with it k1 is 1.2, or 1.5 as in the code's rank_bm25"
    )
    route: Literal["absolute", "survivors", "off"] = Field(
        "absolute",
        description="by the absolute confidence, by whether any subchunk stayed, or off: no verdict, never outside",
    )
    internal: float = Field(0.5, ge=0, le=1, description="absolute confidence from which the collection suffices")
    external: float = Field(0.3, ge=0, le=1, description="absolute confidence below which it does not help")


class EcragSettings(OutsideSettings):
    """Settings of `ecrag`."""

    drop_references = True  # section 3.3
    literal: ClassVar[bool] = False
    """Cut as the pseudo-code does, with the printed depths whatever the limit."""

    judge: str = Field("kdm", description="'kdm' (confidence of cosine and BM25), or as for the other recipes")
    chunk: SentenceChunking = SentenceChunking(size=2500, overlap=100)  # L, M = 300, O
    subchunk: EcragSubchunking = EcragSubchunking()
    summary: Literal["auto", "llm", "extractive", "text"] = Field(
        "auto", description="what is encoded of a chunk: a chat model's summary, sentences of it, or all of it"
    )
    flat: bool = Field(False, description="look among all subchunks at once, without the summaries first")
    coarse: int = Field(5, ge=1, description="chunks looked into (k1)")
    fine: int = Field(10, ge=1, description="subchunks taken from them (k2)")
    metric: Literal["l2", "ip"] = Field("l2", description="of the index; on unit vectors both order alike")
    kdm: ConfidenceSettings = ConfidenceSettings()
    refine: RefineSettings = RefineSettings(of="outside")


class EcragLiteralSettings(EcragSettings):
    """Settings of `ecrag-literal`."""

    titled = False
    literal = True


class SemanticChunking(Frozen):
    """Semantic chunks."""

    theta: float | None = Field(
        None,
        description="cosine of neighbouring sentences below which a chunk ends; when not set the published 0.8, or "
        "what it amounts to for the encoder (0.22 for the bundled one)",
    )
    theta_mode: Literal["absolute", "percentile", "std"] = Field("absolute", description="what theta is")
    compare: Literal["previous_sentence", "chunk_centroid"] = Field(
        "previous_sentence", description="what a sentence is compared with"
    )
    size: int = Field(500, ge=50, description="characters of a chunk at most")


class EnsembleSettings(ListWeights):
    """How BM25 and dense retrieval become one list."""

    method: Literal["rrf", "minmax"] = Field("rrf", description="weighted reciprocal ranks, or weighted scores")


class CriticSettings(Frozen):
    """The third score."""

    sees_scores: bool = Field(
        True, description="show it the base score and the reflection, and how the years of question and chunk compare"
    )
    model: str | None = Field(None, description="another chat model of the same server that criticises")


class CombineSettings(Frozen):
    """Weights of two of the three scores; the base score counts 1."""

    reflection: float = Field(1.0, ge=0, description="weight of the model's second thoughts; 0 asks for none")
    critic: float = Field(1.0, ge=0, description="weight of the critic; 0 asks none")


class ChunkragSettings(JudgeSettings, RerankerSettings):
    """Settings of `chunkrag`."""

    rerank: str | None = Field("bundled", description=RERANK)
    chunk: SemanticChunking = SemanticChunking()
    dense: ListSettings = ListSettings(depth=10)
    lexical: ListSettings = ListSettings(depth=10)
    fuse: EnsembleSettings = EnsembleSettings()
    dedup: RedundancySettings = RedundancySettings()
    rewrite: bool = Field(True, description="rewrite the question before retrieval")
    critic: CriticSettings = CriticSettings()
    combine: CombineSettings = CombineSettings()
    threshold: Literal["stat", "llm", "fixed", "none"] = Field("stat", description="where the scores are cut")
    min_keep: int = Field(1, ge=0, description="chunks that stay whatever the threshold, with all that tie")
    score_floor: float = Field(0.0, ge=0, le=1, description="score below which a chunk never stays")
    score_query: Literal["rewritten", "original"] = Field("rewritten", description="what chunks are scored for")
    edge_order: bool = Field(False, description="put the best chunks at both ends")


class ChunkragV1Settings(ChunkragSettings):
    """Settings of `chunkrag-v1`."""

    titled = False
