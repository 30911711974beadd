"""The published methods and their presets by name, as data; the entry points of `thresher.recipes` name them."""

from __future__ import annotations

from dataclasses import replace

from thresher.recipes import Recipe

SETTINGS = "thresher_methods.settings"

CRAG = Recipe(
    "crag",
    "retrieval judged, refined strip by strip, corrected from outside",
    "thresher_methods:crag",
    f"{SETTINGS}:CragSettings",
    cut="thresher_methods.cuts:crag",
    corrects=True,
    bounds=("lower", "upper"),
)
CRAG_PAPER = CRAG.variant(
    "crag-paper",
    "the CRAG paper's scale, bounds and keywords",
    f"{SETTINGS}:PrintedCragSettings",
    {
        "upper": 0.59,
        "lower": -0.99,
        "bounds": "paper",
        "refine.top_k": 5,
        "refine.min_score": -0.5,
        "search.style": "keywords3",
    },
)
CRAG_CODE = CRAG.variant(
    "crag-code",
    "the CRAG repository's run script: whole chunks as strips, the best three",
    f"{SETTINGS}:PrintedCragSettings",
    {
        "upper": 0.592,
        "lower": -0.995,
        "bounds": "code",
        "decompose": "selection",
        "refine.top_k": 3,
        "refine.min_score": -1.0,
        "refine.order": "score",
        "search.style": "keywords3",
        "web.sites": "wikipedia.org",
    },
)

ECRAG = Recipe(
    "ecrag",
    "chunk summaries first, then their subchunks; a confidence of cosine and BM25 routes",
    "thresher_methods:ecrag",
    f"{SETTINGS}:EcragSettings",
    cut="thresher_methods.cuts:ecrag",
    corrects=True,
    bounds=("kdm.external", "kdm.internal"),
)
ECRAG_LITERAL = replace(ECRAG, bounds=None).variant(
    "ecrag-literal",
    "the thesis's code as printed, with its defects",
    f"{SETTINGS}:EcragLiteralSettings",
    {
        "subchunk.tail": "literal",
        "kdm.combine": "sum",
        "kdm.nonzero_rule": "normalized",
        "kdm.fit": "retrieved",
        "kdm.idf": "okapi",
        "kdm.route": "survivors",
    },
)

CHUNKRAG = Recipe(
    "chunkrag",
    "every chunk scored, reconsidered and criticised; cut where the scores say",
    "thresher_methods:chunkrag",
    f"{SETTINGS}:ChunkragSettings",
    cut="thresher_methods.cuts:chunkrag",
    bounds=("score_floor",),
)
CHUNKRAG_V1 = replace(CHUNKRAG, bounds=None).variant(
    "chunkrag-v1",
    "the first version: TF-IDF, an independent critic, a threshold from the model",
    f"{SETTINGS}:ChunkragV1Settings",
    {"chunk.theta": 0.7, "dedup.vectors": "tfidf", "critic.sees_scores": False, "threshold": "llm"},
)
