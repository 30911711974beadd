"""What the recipes that judge and correct have in common, made from settings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from thresher.chunking.spans import split_at_whitespace
from thresher.correction.corrector import FetchPage, OutsideSource, RetrieverSource, SearchingCorrector, WebSource
from thresher.correction.recorded import RecordedPages, RecordedSearch
from thresher.correction.search_query import AsAsked, KeywordWords, LLMSearchWords, SearchWords
from thresher.correction.web import WebSearch
from thresher.errors import UnknownSetting, UsageError
from thresher.generation.verify import ClaimCheck, ClaimVerifier, LLMCheck, LocalCheck
from thresher.judging.calibration import SHIPPED, CalibratedScorer, Calibration
from thresher.judging.llm_scorers import LLMRelevance
from thresher.judging.scorers import CrossEncoderScorer, LocalRelevance, LocalScorer, TrainedScorer
from thresher.protocols import ChunkTable, Corrector, Judge, Refiner, Retriever, Scorer, Verifier
from thresher.recipes.components import Components, Outside
from thresher.recipes.registry import DOES_NOTHING
from thresher.refinement.refine import PassageRefiner, StripRefiner
from thresher.refinement.strips import Decomposition, excerption, fixed_num, selection, sentences
from thresher.retrieval.wrappers import Redundancy
from thresher.settings import (
    JudgeSettings,
    LanguageModelSettings,
    OutsideSettings,
    RecipeSettings,
    RedundancySettings,
    WebSettings,
)
from thresher.text.contradiction import ConflictFinder, RuleConflicts
from thresher.text.sentences import sentence_spans
from thresher.text.terms import index_terms
from thresher.types import (
    NO_NOTES,
    UNIT,
    Correction,
    Decision,
    Evidence,
    Generation,
    Hit,
    Judgement,
    Origin,
    Query,
    Refined,
)

if TYPE_CHECKING:
    from thresher.protocols import Vectors

LOCAL_JUDGE = "judge: no chat model is configured (llm.base_url, llm.model); the local judge scored"
NO_WORDS = "correct: no chat model is configured (llm.base_url, llm.model); the question itself was searched for"

TRAINED = "trained"
JUDGES = ("auto", "llm", "local", TRAINED, "calibrated")

ScoreQuery = Literal["rewritten", "original"]


# --- judging ----------------------------------------------------------------------------------------------------------


def local_scorer(settings: RecipeSettings, parts: Components, table: ChunkTable) -> LocalScorer:
    """The judge that needs no chat model."""
    encoder = parts.encoder(settings, reading=True)
    return LocalScorer(LocalRelevance(encoder, index_terms, parts.rarity(table), sentence_spans))


def trained_scorer(settings: RecipeSettings, parts: Components, table: ChunkTable) -> TrainedScorer:
    """Our own judge: the bundled cross-encoder and what the local judge goes by."""
    return TrainedScorer(local_scorer(settings, parts, table), parts.models.judge())


def own_scorer(settings: JudgeSettings, parts: Components, table: ChunkTable) -> Scorer:
    """Our own judge, or the local one where that is named."""
    make = local_scorer if settings.judge == "local" else trained_scorer
    return make(settings, parts, table)


def calibration(settings: RecipeSettings, parts: Components, judge: str) -> Calibration:
    """The collection's own calibration of a judge, or the shipped one, whatever encoder that is for."""
    stored = None if parts.calibrations is None else parts.calibrations.get(judge, parts.encoder(settings).name)
    return stored or SHIPPED[judge]


def mapping(learned: Calibration, *, fits: bool) -> str:
    """Which calibration was used, for the trace; `fits` is whether it is for the encoder in use."""
    if learned.source != "shipped":
        return f"this collection's, from {learned.source}"
    return "shipped" if fits else "shipped for another encoder: run thresher calibrate"


def evaluator(
    settings: JudgeSettings, parts: Components, table: ChunkTable, *, score_query: ScoreQuery = "rewritten"
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


def stand_in(settings: RecipeSettings, parts: Components, table: ChunkTable, scorer: Scorer) -> Scorer | None:
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
    return Correction(outcome="no outside source was given")


def corrector(
    settings: OutsideSettings,
    parts: Components,
    retriever: Callable[[Components], Retriever],
    *,
    judge: Callable[[Components], Judge] | None = None,
    keywords: bool = False,
    sure: float = 0.0,
) -> tuple[Corrector, tuple[str, ...]]:
    """What goes outside, and what it lacks; `retriever` and `judge` make the recipe's own over another collection.

    Without a chat model the web is asked for the question itself, or, with `keywords`, for its content words; with
    `search.rewrite` off always for the question itself.
    """
    if parts.outside is None:
        return nowhere, ()

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
        notes = NO_NOTES
        for origin in Origin:
            part = (refine if origin == of else whole)(query, [hit for hit in hits if hit.origin is origin])
            evidence += part.evidence
            judgements += part.judgements
            notes += part.notes
        found = find(evidence)
        return Refined(tuple(evidence), tuple(judgements), found.pairs, notes + found.notes)

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


def verifier(settings: RecipeSettings, parts: Components) -> Verifier:
    """Each sentence held against the evidence, then each quote against its document."""
    encoder = parts.encoder(settings, reading=True)

    def similarity(text: str, others: Sequence[str]) -> Sequence[float]:
        return [float(cosine) for cosine in encoder.encode(others) @ encoder.encode([text])[0]]

    local = LocalCheck(similarity, index_terms, sentence_spans)
    model = parts.language_model(settings.llm)
    check: ClaimCheck = local if model is None else LLMCheck(model, local)
    claims = ClaimVerifier(check, local.nearest, sentence_spans)
    quotes = parts.quote_checker()

    def verified(query: Query, draft: Generation, evidence: Sequence[Evidence]) -> Generation:
        return quotes(query, claims(query, draft, evidence), evidence)

    return verified


# --- where the recipes that correct go: the web, or another collection. Imported when a question may go outsi----------


def searching(
    settings: OutsideSettings,
    parts: Components,
    outside: Outside,
    retriever: Callable[[Components], Retriever],
    *,
    judge: Callable[[Components], Judge] | None,
    keywords: bool,
    sure: float,
) -> Corrector:
    """Searches outside; see `thresher.recipes.correcting.corrector`."""
    there = parts if outside.store is None else parts.elsewhere(outside.store)
    model = parts.language_model(settings.llm)
    words: SearchWords
    if model is not None:
        words = LLMSearchWords(model, settings.search.style)
    else:
        words = KeywordWords() if keywords and outside.store is None else AsAsked()
    source = _source(settings, parts, outside, retriever)
    # A second opinion is for another collection: it costs little there, and nothing leaves the machine for it.
    doubt = 0.0 if outside.store is None else sure
    return SearchingCorrector(words, source, None if judge is None else judge(there), sure=doubt)


def _source(
    settings: OutsideSettings, parts: Components, outside: Outside, retriever: Callable[[Components], Retriever]
) -> OutsideSource:
    if outside.store is not None:
        return RetrieverSource(retriever(parts.elsewhere(outside.store)), outside.given)
    size = settings.web.passage

    def passages(text: str) -> Sequence[tuple[int, int]]:
        return list(split_at_whitespace(text, 0, len(text), size))

    search = RecordedSearch(web_search(settings.web, parts), parts.exchanges, parts.meter)
    fetch = page_fetcher(settings.web, parts) if settings.web.fetch else None
    return WebSource(search, fetch, passages, limit=settings.web.results)


def web_search(settings: WebSettings, parts: Components) -> WebSearch:
    """The configured provider. Raises UsageError when there is none."""
    key = None if settings.api_key is None else settings.api_key.get_secret_value()
    if parts.exchanges.replaying:
        key = key or "played back"  # keys are not stored, and nothing is asked
    if settings.provider == "searxng" and settings.base_url:
        from thresher.correction.providers import SearxngSearch

        return SearxngSearch(settings.base_url, parts.meter, settings.timeout_seconds)
    if settings.provider == "tavily" and key:
        from thresher.correction.providers import TavilySearch

        return TavilySearch(key, parts.meter, settings.base_url, settings.timeout_seconds)
    raise UsageError(
        "no web search is configured",
        subject="`outside` web",
        next_step="set web.provider=searxng and web.base_url, or web.provider=tavily and web.api_key",
    )


def page_fetcher(settings: WebSettings, parts: Components) -> FetchPage:
    """Fetches the pages of the results."""
    from thresher.correction.fetch import PageFetcher

    fetch = PageFetcher(parts.meter, timeout_seconds=settings.timeout_seconds)
    return RecordedPages(fetch, parts.exchanges, parts.meter)
