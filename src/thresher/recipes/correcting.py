"""What the recipes that judge and correct have in common, made from settings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from thresher.chunking.sentences import sentence_spans
from thresher.errors import UnknownSetting
from thresher.generation.llm_check import LLMCheck
from thresher.generation.local_check import LocalCheck
from thresher.generation.verification import ClaimCheck, ClaimVerifier
from thresher.indexing.analyzer import index_terms
from thresher.judging.calibration import SHIPPED, CalibratedScorer, Calibration
from thresher.judging.cross_encoder import CrossEncoderScorer
from thresher.judging.local import LocalScorer
from thresher.judging.relevance import LLMRelevance
from thresher.judging.trained import TrainedScorer
from thresher.models.relevance import LocalRelevance
from thresher.protocols import ChunkTable, Corrector, Judge, Refiner, Retriever, Scorer, Verifier
from thresher.recipes.parts import Parts
from thresher.recipes.recipe import DOES_NOTHING
from thresher.refinement.conflicts import ConflictFinder, RuleConflicts
from thresher.refinement.redundancy import Redundancy
from thresher.refinement.refine import PassageRefiner, StripRefiner
from thresher.refinement.strips import Decomposition, excerption, fixed_num, selection, sentences
from thresher.settings import (
    JudgeSettings,
    LanguageModelSettings,
    OutsideSettings,
    RecipeSettings,
    RedundancySettings,
)
from thresher.types import UNIT, Correction, Decision, Draft, Evidence, Hit, Judgement, Origin, Query, Refined

if TYPE_CHECKING:
    from thresher.protocols import Vectors

LOCAL_JUDGE = "judge: no chat model is configured (llm.base_url, llm.model); the local judge scored"
NO_WORDS = "correct: no chat model is configured (llm.base_url, llm.model); the question itself was searched for"

TRAINED = "trained"
JUDGES = ("auto", "llm", "local", TRAINED, "calibrated")

ScoreQuery = Literal["rewritten", "original"]


# --- judging ----------------------------------------------------------------------------------------------------------


def local_scorer(settings: RecipeSettings, parts: Parts, table: ChunkTable) -> LocalScorer:
    """The judge that needs no chat model."""
    encoder = parts.encoder(settings, reading=True)
    return LocalScorer(LocalRelevance(encoder, index_terms, parts.rarity(table), sentence_spans))


def trained_scorer(settings: RecipeSettings, parts: Parts, table: ChunkTable) -> TrainedScorer:
    """Our own judge: the bundled cross-encoder and what the local judge goes by."""
    return TrainedScorer(local_scorer(settings, parts, table), parts.models.judge())


def own_scorer(settings: JudgeSettings, parts: Parts, table: ChunkTable) -> Scorer:
    """Our own judge, or the local one where that is named."""
    make = local_scorer if settings.judge == "local" else trained_scorer
    return make(settings, parts, table)


def calibration(settings: RecipeSettings, parts: Parts, judge: str) -> Calibration:
    """The collection's own calibration of a judge, or the shipped one, whatever encoder that is for."""
    stored = None if parts.calibrations is None else parts.calibrations.get(judge, parts.encoder(settings).name)
    return stored or SHIPPED[judge]


def mapping(learned: Calibration, *, fits: bool) -> str:
    """Which calibration was used, for the trace; `fits` is whether it is for the encoder in use."""
    if learned.source != "shipped":
        return f"this collection's, from {learned.source}"
    return "shipped" if fits else "shipped for another encoder: run thresher calibrate"


def evaluator(
    settings: JudgeSettings, parts: Parts, table: ChunkTable, *, score_query: ScoreQuery = "rewritten"
) -> tuple[Scorer, tuple[str, ...]]:
    """What gives each chunk its relevance, and what it lacks."""
    query_text: Literal["search", "question"] = "question" if score_query == "original" else "search"
    if settings.judge in ("auto", "llm"):
        model = parts.language_model(settings.llm)
        if model is None:
            return local_scorer(settings, parts, table), (LOCAL_JUDGE,)
        workers = settings.llm.concurrency
        return LLMRelevance(model, batch=settings.batch, workers=workers, query_text=query_text), ()
    if settings.judge == "local":
        return local_scorer(settings, parts, table), ()
    if settings.judge in (TRAINED, "calibrated"):
        trained = trained_scorer(settings, parts, table)
        if settings.judge == TRAINED:
            return trained, ()
        return CalibratedScorer(trained, calibration(settings, parts, trained.name)), ()
    if not ("/" in settings.judge or Path(settings.judge).is_dir()):  # what a hub calls a model has a / in it
        raise UnknownSetting(settings.judge, JUDGES, kind="judge")
    cross_encoder = parts.reranker(settings.judge)
    assert cross_encoder is not None
    return CrossEncoderScorer(cross_encoder, query_text=query_text), ()


def stand_in(settings: RecipeSettings, parts: Parts, table: ChunkTable, scorer: Scorer) -> Scorer | None:
    """What scores the chunks that a model failed on: the local judge, where it is on the same scale."""
    unit = (scorer.scale.low, scorer.scale.high) == (UNIT.low, UNIT.high)
    return None if not unit or isinstance(scorer, LocalScorer) else local_scorer(settings, parts, table)


def judge_slot(settings: JudgeSettings) -> str:
    """What stands in the judge slot, for people."""
    if settings.judge in ("auto", "llm"):
        return "relevance 0..1 by the chat model" if settings.llm.configured else "relevance 0..1 by the local judge"
    return f"relevance by {settings.judge}"


def redundancy(settings: RedundancySettings, table: ChunkTable) -> Redundancy:
    """What drops a chunk that says what a better one says; vectors are those of the index."""

    def embed(hits: Sequence[Hit]) -> Vectors:
        return table.vectors([hit.chunk.id for hit in hits])

    return Redundancy(settings.vectors, settings.threshold, embed=embed, terms=index_terms)


# --- correction -------------------------------------------------------------------------------------------------------


def nowhere(query: Query, decision: Decision) -> Correction:
    """There is no outside: none was given with the question."""
    return Correction(detail={"outcome": "no outside source was given"})


def corrector(
    settings: OutsideSettings,
    parts: Parts,
    retriever: Callable[[Parts], Retriever],
    *,
    judge: Callable[[Parts], Judge] | None = None,
    keywords: bool = False,
    sure: float = 0.0,
) -> tuple[Corrector, tuple[str, ...]]:
    """What goes outside, and what it lacks; `retriever` and `judge` make the recipe's own over another collection.

    Without a chat model the web is asked for the question itself, or, with `keywords`, for its content words; with
    `search.rewrite` off always for the question itself.
    """
    if parts.outside is None:
        return nowhere, ()
    from thresher.recipes.outside import searching  # late: a question that stays inside needs no HTTP client

    if not settings.search.rewrite:  # what nobody rewrites is searched for as it was asked
        settings, keywords = settings.model_copy(update={"llm": LanguageModelSettings()}), False
    correct = searching(settings, parts, parts.outside, retriever, judge=judge, keywords=keywords, sure=sure)
    as_wished = keywords or not settings.search.rewrite or parts.language_model(settings.llm) is not None
    return correct, () if as_wished else (NO_WORDS,)


# --- refinement -------------------------------------------------------------------------------------------------------


def decomposition(settings: OutsideSettings) -> Decomposition:
    """How chunks are cut into strips."""
    match settings.decompose:
        case "sentences":
            return sentences(sentence_spans)
        case "fixed_num":
            return fixed_num()
        case "excerption":
            return excerption
        case "selection":
            return selection


def strips(
    settings: OutsideSettings,
    scorer: Scorer,
    min_score: float | None,
    *,
    first: int = 0,
    first_score: float | None = None,
) -> Refiner:
    """Strips that reach the score, the best ones, put together; of the hits that `refine.of` names.

    A score that the settings give counts for all of them, the `first` ones as well.
    """
    given = settings.refine.min_score
    conflicts = RuleConflicts(index_terms, sentence_spans)
    refiner = StripRefiner(
        decomposition(settings),
        scorer,
        top_k=settings.refine.top_k,
        min_score=min_score if given is None else given,
        first=first if given is None else 0,
        first_score=first_score,
        order=settings.refine.order,
        min_words=settings.refine.min_words,
        on_unreadable=settings.on_unreadable,
        conflicts=conflicts,
    )
    of = settings.refine.of
    return refiner if of == "all" else in_part(replace(refiner, conflicts=None), of, conflicts)


def in_part(refine: Refiner, of: Literal["inside", "outside", "none"], find: ConflictFinder) -> Refiner:
    """Refines the hits from there alone; the others are handed over whole, and all are looked through for conflicts."""
    whole = PassageRefiner()

    def refined(query: Query, hits: Sequence[Hit]) -> Refined:
        evidence: list[Evidence] = []
        judgements: list[Judgement] = []
        detail: dict[str, Any] = {}
        for origin in Origin:
            part = (refine if origin == of else whole)(query, [hit for hit in hits if hit.origin is origin])
            evidence += part.evidence
            judgements += part.judgements
            detail |= part.detail
        found = find(evidence)
        return Refined(tuple(evidence), tuple(judgements), found.pairs, {**detail, **found.detail})

    return refined


def strips_slot(settings: OutsideSettings) -> str:
    """What stands in the refine slot, for people."""
    of = settings.refine.of
    if of == "none":
        return DOES_NOTHING["refine"]
    number = "all" if settings.refine.top_k is None else f"best {settings.refine.top_k}"
    part = "" if of == "all" else f", of what is {of} alone"
    return f"strips ({settings.decompose}), {number}, {settings.refine.order} order{part}"


# --- verification -----------------------------------------------------------------------------------------------------


def verifier(settings: RecipeSettings, parts: Parts) -> Verifier:
    """Each sentence held against the evidence, then each quote against its document."""
    encoder = parts.encoder(settings, reading=True)

    def similarity(text: str, others: Sequence[str]) -> Sequence[float]:
        return [float(cosine) for cosine in encoder.encode(others) @ encoder.encode([text])[0]]

    local = LocalCheck(similarity, index_terms, sentence_spans)
    model = parts.language_model(settings.llm)
    check: ClaimCheck = local if model is None else LLMCheck(model, local)
    claims = ClaimVerifier(check, local.nearest, sentence_spans)
    quotes = parts.quote_checker()

    def verified(query: Query, draft: Draft, evidence: Sequence[Evidence]) -> Draft:
        return quotes(query, claims(query, draft, evidence), evidence)

    return verified
