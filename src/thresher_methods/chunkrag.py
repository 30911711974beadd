"""`chunkrag`: every chunk is scored by the chat model, reconsidered and criticised; a threshold from the scores cuts.

Follows:   ChunkRAG (arXiv:2410.19572v2), section 3 and Algorithm 1: semantic chunks (a new one where the cosine of two
           neighbouring sentences falls below theta, at most 500 characters); the question is rewritten; BM25 and dense
           retrieval with 0.5 each; greedy removal of chunks with a cosine above 0.9 to a better one, of the texts alone
           (chunks of one document under one title would all be alike); what is left is sorted by its similarity to the
           rewritten question; base score, self-reflection and critic, combined; threshold mu + sigma where the variance
           is below epsilon, else mu, scores from it on are kept; a reranker orders, last (line 24); answered from the
           context only, concisely.
Departs:   Y13 with mu + sigma more than half of the chunks can tie above mu and nothing would reach it: the threshold
           is at most the maximum, so that `min_keep` = 1 (with all its ties) stays. Many chunks are scored in one call;
           `batch=1` is a call for each chunk and stage, as published. Y3 500 characters are a bound; a longer sentence
           is split. Y4 the threshold of chunking and that of redundancy are two settings. Y1 the published theta of 0.8
           is that of text-embedding-3-small; the bundled encoder has 0.22, which gives chunks of the published length,
           where 0.8 leaves every sentence alone. The title of its document stands in front of a chunk for the encoder,
           BM25 and the reranker (the preset is without). The reranker is the cross-encoder that comes along,
           not Cohere's rerank-english-v3.0, which `rerank` may name by its address. Sentences are cut by sentencex,
           not by NLTK; vectors are in LanceDB, not in Chroma (first version). The prompts are our own wording of the
           printed purposes, for many chunks a call; appendix A.1 prints those of rewriting, score, reflection and
           threshold, for one chunk.
Left open: epsilon = 0.01; 10 + 10 candidates; Y9 "LLM-based retrieval" is dense retrieval, and the lists are fused as
           LangChain's EnsembleRetriever does it, weighted reciprocal ranks with constant 60; Y11 how the scores
           combine: their mean; the critic's prompt, and "temporal consistency": years of question and chunk are
           compared; Y15 the model. Without a chat model the local judge scores; rewriting, reflection and critic are
           left out, visibly. With `rerank=none` the order is that of the scores.
Answer:    written by the chat model where one is configured and shown as it came, as published, with the state of each
           sentence beside it (`answer.check=none`). Without a model, and where it fails, the best passage or cell.
Settings:  `chunk.theta`, `chunk.theta_mode` (Y1), `chunk.compare` (Y2), `chunk.size` (Y3),
           `dedup.vectors`, `dedup.threshold` (Y4, Y7), Y8 retrieval is hybrid from the start, `fuse.method` (Y9),
           `critic.sees_scores` (Y10), `critic.model` (a second model), `combine.*` (Y11; 0 leaves a stage out),
           `threshold` (Y12), `min_keep`, `score_floor` (Y13), `score_query` (Y14), `edge_order` (Y16).

`chunkrag-v1` is the first version: theta 0.7 whatever the encoder, chunks without titles, redundancy by TF-IDF, an
independent critic (who is shown neither scores nor notes on years), a threshold that the model proposes, kept above it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from thresher.parts.answering import PassageRefiner, generator, quote_checker
from thresher.parts.chunking import Components, index_terms
from thresher.parts.judging import Fixed, KeepAll, QueryText, ScoringJudge, Threshold, evaluator, stand_in
from thresher.parts.retrieval import (
    DeduplicatedRetriever,
    DenseRetriever,
    FusedRetriever,
    Fusion,
    LexicalRetriever,
    LLMRewriter,
    Redundancy,
    nothing,
    reciprocal_rank_fusion,
    weighted_fusion,
)
from thresher.pipeline import Pipeline, as_asked
from thresher.protocols import ChunkTable, Retriever, Rewriter, Scorer
from thresher_methods import cuts
from thresher_methods.ordering import RerankedJudge, SimilarityRetriever
from thresher_methods.settings import ChunkragSettings, EnsembleSettings
from thresher_methods.stages import Critic, MultiStageScorer, Reflection
from thresher_methods.thresholds import FromModel, Statistical

if TYPE_CHECKING:
    from thresher.types import Hit, Query, Vectors

FIXED_THRESHOLD = 0.5
"""`threshold=fixed`: the middle of the scale, for an ablation of what is computed."""

LLM_STAGES = "judge: no chat model is configured (llm.base_url, llm.model); reflection and critic were left out"
NOT_REWRITTEN = "rewrite: no chat model is configured (llm.base_url, llm.model); the question was searched as asked"
COMPUTED = "judge: no chat model is configured (llm.base_url, llm.model); the threshold is from the mean of the scores"


def pipeline(settings: ChunkragSettings, parts: Components, name: str) -> Pipeline:
    """Rewritten, retrieved, deduplicated, scored in three stages, cut, reranked."""
    encoder = parts.encoder(settings)
    table = parts.table(cuts.chunkrag(settings, parts))
    model = parts.language_model(settings.llm)
    retrieve: Retriever = FusedRetriever(
        (
            DenseRetriever(table, encoder, settings.dense.depth) if settings.fuse.dense_weight else nothing,
            LexicalRetriever(table, settings.lexical.depth) if settings.fuse.lexical_weight else nothing,
        ),
        ensemble(settings.fuse),
    )
    scorer, without_judge = stages(settings, parts, table)
    generate, without_model = generator(settings, parts, table)
    rewrite: Rewriter = LLMRewriter(model) if settings.rewrite and model is not None else as_asked
    reranker = parts.reranker(settings)
    judge = ScoringJudge(scorer, threshold(settings, parts), otherwise=stand_in(settings, parts, table, scorer))
    dedup, reading = settings.dedup, parts.encoder(settings, reading=True)

    def texts_alone(hits: Sequence[Hit]) -> Vectors:
        return reading.encode([hit.chunk.text for hit in hits])

    def similarities(query: Query, hits: Sequence[Hit]) -> Sequence[float]:
        return [float(cosine) for cosine in texts_alone(hits) @ reading.encode_query(query.search)]

    alike = Redundancy(dedup.vectors, dedup.threshold, embed=texts_alone, terms=index_terms)
    degraded = (
        *((NOT_REWRITTEN,) if settings.rewrite and model is None else ()),
        *without_judge,
        *((COMPUTED,) if settings.threshold == "llm" and model is None else ()),
        *without_model,
    )
    return Pipeline(
        recipe=name,
        rewrite=rewrite,
        retrieve=SimilarityRetriever(DeduplicatedRetriever(retrieve, alike), similarities),
        judge=judge if reranker is None else RerankedJudge(judge, reranker, titled=settings.titled),
        refine=PassageRefiner("edge" if settings.edge_order else "given"),
        generate=generate,
        verify=quote_checker(parts),
        meter=parts.meter,
        degraded=degraded,
    )


def stages(settings: ChunkragSettings, parts: Components, table: ChunkTable) -> tuple[Scorer, tuple[str, ...]]:
    """Base score, reflection and critic; the base alone with another judge or without a model."""
    query_text: QueryText = "question" if settings.score_query == "original" else "search"
    base, lacks = evaluator(settings, parts, table, query_text=query_text)
    model = parts.language_model(settings.llm)
    if settings.judge not in ("auto", "llm"):
        return base, ()
    if model is None:
        return base, (*lacks, LLM_STAGES)
    second = settings.critic.model
    critic = parts.language_model(settings.llm.model_copy(update={"model": second})) if second else None
    asked = (settings.batch, settings.llm.concurrency, query_text)
    weigh = settings.combine
    reflect = Reflection(model, *asked) if weigh.reflection else None
    criticise = Critic(critic or model, *asked, settings.critic.sees_scores) if weigh.critic else None
    return MultiStageScorer(base, reflect, criticise, weights=(1.0, weigh.reflection, weigh.critic)), lacks


def threshold(settings: ChunkragSettings, parts: Components) -> Threshold:
    """Where the scores are cut; a model's threshold falls back to the statistical one, visibly."""
    statistical = Statistical(min_keep=settings.min_keep, floor=settings.score_floor)
    match settings.threshold:
        case "stat":
            return statistical
        case "llm":
            model = parts.language_model(settings.llm)
            return statistical if model is None else FromModel(model, otherwise=statistical)
        case "fixed":
            return Fixed(FIXED_THRESHOLD)
        case "none":
            return KeepAll()


def ensemble(settings: EnsembleSettings) -> Fusion:
    """BM25 and dense as one list."""
    weights = (settings.dense_weight, settings.lexical_weight)
    if settings.method == "minmax":
        return partial(weighted_fusion, weights=weights)
    return partial(reciprocal_rank_fusion, weights=weights)
