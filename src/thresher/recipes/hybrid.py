"""`hybrid`: dense and BM25 retrieval, fused by reciprocal ranks, reranked, with two dense hits protected.

Follows:   hybrid report, section 1: dense 8 and BM25 4, RRF 1/(60 + rank) with ranks from 1, a cross-encoder over all
           candidates, 5 results, the top 2 dense hits preserved. From the report's own repository: all-MiniLM-L6-v2,
           recursive chunks of 1500 characters with 300 overlap.
Departs:   W4 the safety mechanism exists (in the commit that made the numbers it does not): it guarantees membership,
           not quality; `protect.position=front` puts the protected hits first, `protect.n=0` is without.
           W5 the lists are merged by chunk id (the published code compares object identities, so the dense and the
           lexical copy of a chunk never merge).
           BM25 on folded, stemmed words with the title in front, idf ln(1 + (N-n+.5)/(n+.5)), k1 1.2 (the repository:
           rank_bm25, split at white space, case-sensitive, k1 1.5). Lists are as deep as twice the wanted results: 10
           and 10 for 5 of them, where the report has 8 and 4. The title of its document stands in front of a chunk for
           the encoder and the cross-encoder too (the preset is without). Vectors are in LanceDB, not in
           ChromaDB.
           The bundled cross-encoder is not the repository's (ms-marco-MiniLM-L-6-v2); it orders together with
           the fused ranks, half and half, because alone it makes good lists worse.
Left open: weights of the two lists ("weighted ranking scores" without weights, W7): 1 and 1.
           What to do without a cross-encoder (`rerank=none`): the fused order is then final, and fusion is by a
           weighted sum of scores, which orders better than reciprocal ranks; `fuse.method=rrf` keeps those.
Answer:    written by the chat model where one is configured and shown as it came, as published, with what is not
           supported marked (`answer.check=open`). Without a model, and where it fails, the best passage or cell.

`hybrid-literal` is the report as printed: dense 8, BM25 4, RRF, the order of the cross-encoder alone,
5 results whatever the limit, 2 dense hits protected, chunks without titles. `protect.n=0` is the commit that made its
numbers.
"""

from __future__ import annotations

from functools import partial

from thresher.pipeline import Pipeline
from thresher.protocols import Retriever
from thresher.recipes import cuts
from thresher.recipes.build import generator, quote_checker
from thresher.recipes.components import BUNDLED, Components, nothing
from thresher.recipes.settings import FuseSettings, HybridSettings
from thresher.retrieval.search import (
    CutRetriever,
    DenseRetriever,
    FusedRetriever,
    Fusion,
    LexicalRetriever,
    reciprocal_rank_fusion,
    weighted_fusion,
)
from thresher.retrieval.wrappers import RerankedRetriever

PUBLISHED_RESULTS = 5
"""Hybrid report, section 5: "Final Results (k=5)"."""

RECIPROCAL = (1.0, 1.0)
"""The report says "weighted" and gives no weights; its repository has none."""

WEIGHTED = (0.4, 0.6)
"""Dense and lexical. SciFact training questions, nDCG@10 without a reranker: weighted .3/.7 .735, .4/.6 .741,
.5/.5 .737, .6/.4 .730; reciprocal ranks 1/1 .719, 1/1.5 .726."""

BUNDLED_WEIGHT = 0.5
"""Of the bundled cross-encoder, which alone makes good lists worse: mean nDCG@10 of the tune questions of five sets at
0, .3, .5, .7, 1: .821 .834 .837 .830 .796 (docs/decisions.md)."""


def pipeline(settings: HybridSettings, parts: Components, name: str) -> Pipeline:
    """Two lists, fused, reranked, cut."""
    encoder = parts.encoder(settings)
    table = parts.table(cuts.hybrid(settings, parts))
    dense = DenseRetriever(table, encoder, settings.dense.depth, literal=settings.literal)
    lexical = LexicalRetriever(table, settings.lexical.depth, literal=settings.literal)
    retrieve: Retriever = FusedRetriever(
        (
            nothing if settings.fuse.dense_weight == 0 else dense,
            nothing if settings.fuse.lexical_weight == 0 else lexical,
        ),
        fusion(settings.fuse, reranked=settings.rerank not in (None, "none")),
    )
    reranker = parts.reranker(settings)
    if reranker is not None:
        weight = BUNDLED_WEIGHT if settings.rerank == BUNDLED and not settings.literal else 1.0
        retrieve = RerankedRetriever(retrieve, reranker, weight, titled=settings.titled)
    generate, degraded = generator(settings, parts, table)
    return Pipeline(
        recipe=name,
        retrieve=CutRetriever(
            retrieve,
            protect=settings.protect.n,
            position=settings.protect.position,
            limit=PUBLISHED_RESULTS if settings.literal else None,
        ),
        generate=generate,
        verify=quote_checker(parts),
        meter=parts.meter,
        degraded=degraded,
    )


def fusion(settings: FuseSettings, *, reranked: bool) -> Fusion:
    """The fusion that the settings name; `auto` is the published one where a reranker makes the final order."""
    weighted = settings.method == "weighted" or (settings.method == "auto" and not reranked)
    usual = WEIGHTED if weighted else RECIPROCAL
    given = (settings.dense_weight, settings.lexical_weight)
    weights = [default if weight is None else weight for weight, default in zip(given, usual, strict=True)]
    if weighted:
        return partial(weighted_fusion, weights=weights)
    return partial(reciprocal_rank_fusion, weights=weights)
