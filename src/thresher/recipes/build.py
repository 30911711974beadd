"""Parts that several recipes share to judge, correct, refine and verify, made from settings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Literal

from thresher.answering.verify import ClaimVerifier
from thresher.chunking.spans import split_at_whitespace
from thresher.judging.calibration import Calibration
from thresher.protocols import ChunkTable, Corrector, Judge, Refiner, Retriever, Scorer, Verifier, about
from thresher.recipes.answering import checker, display_of, quote_checker
from thresher.recipes.components import Components, Outside
from thresher.recipes.settings import OutsideSettings, RecipeSettings, RedundancySettings
from thresher.refinement.refine import CODE_MIN_WORDS, DECOMPOSITIONS, MIN_WORDS, PassageRefiner, StripRefiner
from thresher.retrieval.wrappers import Facts, Redundancy
from thresher.text.entities import names_in
from thresher.text.numbers import numbers_in
from thresher.text.terms import index_terms
from thresher.types import NO_NOTES, Correction, Decision, Generation, Hit, Notes, Origin, Query, Refined
from thresher.verification.conflicts import find_conflicts

if TYPE_CHECKING:
    from thresher.correction.corrector import OutsideResult, OutsideSource
    from thresher.correction.search_query import SearchQueryWriter
    from thresher.judging.calibration import ModelWeight
    from thresher.types import Vectors

PASSAGE_CHARACTERS = 900
"""Of a page at most: a chunk of CRAG's implementation guide, so that pages and chunks are judged alike."""

NO_WORDS = "correct: no chat model is configured (llm.base_url, llm.model); the question itself was searched for"


def mapping(learned: Calibration, *, fits: bool) -> str:
    """Which calibration was used, for the trace; `fits` is whether it is for the encoder in use."""
    if learned.source != "shipped":
        return f"this collection's, from {learned.source}"
    return "shipped" if fits else "shipped for another encoder: run thresher calibrate"


def weight_note(weight: ModelWeight | None) -> str:
    """The weight of the chat model beside our judge, for the trace; empty where it was not measured."""
    if weight is None:
        return ""
    return f"; {weight.model} counts {weight.model_weight:.2f}" if weight.counts else f"; {weight.model} is not asked"


def redundancy(settings: RedundancySettings, table: ChunkTable, *, facts: Facts | None = None) -> Redundancy:
    """Drops a chunk that says what a better one says; vectors are those of the index."""

    def embed(hits: Sequence[Hit]) -> Vectors:
        """(n_hits, dimension) float32; zeros, which are like no chunk, for a chunk that is not there any more."""
        ids = [hit.chunk.id for hit in hits]
        with suppress(KeyError):  # a document was replaced since its chunks were found
            return table.vectors(ids)
        import numpy as np

        vectors = np.zeros((len(ids), table.vectors([]).shape[1]), np.float32)
        for at, id_ in enumerate(ids):
            with suppress(KeyError):
                vectors[at] = table.vectors([id_])[0]
        return vectors

    return Redundancy(settings.vectors, settings.threshold, embed=embed, terms=index_terms, facts=facts)


def names_and_numbers(hit: Hit) -> frozenset[str]:
    """The names and numbers of a chunk and its title, which distinguish near copies."""
    return _names_and_numbers(hit.chunk.titled)


@lru_cache(maxsize=1024)
def _names_and_numbers(text: str) -> frozenset[str]:
    return frozenset(name.casefold() for name in names_in(text)) | numbers_in(text)


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
    """The corrector, and what it lacks; `retriever` and `judge` make the recipe's own over another collection.

    Without a chat model, and with `search.style=question`, the question itself is searched for; without one and with
    `keywords`, its content words are.
    """
    outside = parts.outside
    if outside is None:
        return nowhere, ()
    # Imported when a question may go outside: a question of one's own documents needs no HTTP client.
    from thresher.correction.corrector import SearchingCorrector
    from thresher.correction.search_query import AsAsked, KeywordQuery, LLMSearchQuery

    there = parts if outside.store is None else parts.elsewhere(outside.store)
    model, style = parts.language_model(settings.llm), settings.search.style
    words: SearchQueryWriter = AsAsked()
    if style != "question" and model is not None:
        words = LLMSearchQuery(model, style)
    elif style != "question" and keywords and outside.store is None:
        words = KeywordQuery()
    # A second opinion is for another collection: it costs little there, and nothing leaves the machine for it.
    doubt = sure if outside.store is not None or parts.sketched else 0.0
    source = _source(settings, parts, outside, retriever)
    correct = SearchingCorrector(words, source, None if judge is None else judge(there), sure=doubt)
    return correct, () if keywords or style == "question" or model is not None else (NO_WORDS,)


def strips(settings: OutsideSettings, scorer: Scorer, min_score: float | None) -> Refiner:
    """The best strips that reach the score, of the hits that `refine.of` names; a score of the settings wins."""
    given = settings.refine.min_score
    refiner = StripRefiner(
        DECOMPOSITIONS[settings.decompose],
        scorer,
        top_k=settings.refine.top_k,
        min_score=min_score if given is None else given,
        order=settings.refine.order,
        min_words=MIN_WORDS if settings.refine.order == "document" else CODE_MIN_WORDS,
    )
    return RefinerInPart(refiner, settings.refine.of)


@dataclass(frozen=True, slots=True)
class RefinerInPart:
    """Refines all hits or those of one origin, the others are handed over whole; conflicts are sought among all."""

    refine: Refiner
    of: Literal["all", "inside", "outside", "none"]

    @property
    def about(self) -> str:
        """For people, in a few words."""
        if self.of == "none":
            return about(PassageRefiner())
        return about(self.refine) if self.of == "all" else f"{about(self.refine)}, of what is {self.of} alone"

    def __call__(self, query: Query, hits: Sequence[Hit]) -> Refined:
        """The evidence of both, inside first."""
        if self.of == "all":
            parts = [self.refine(query, hits)]
        else:
            parts = [
                (self.refine if origin == self.of else PassageRefiner())(query, [h for h in hits if h.origin is origin])
                for origin in Origin
            ]
        evidence = tuple(piece for part in parts for piece in part.evidence)
        judgements = tuple(judgement for part in parts for judgement in part.judgements)
        pairs = find_conflicts(evidence)
        facts = {"conflicts": {"by_rules": len(pairs)}}
        return Refined(evidence, judgements, pairs, sum((part.notes for part in parts), NO_NOTES) + Notes(facts=facts))


def verifier(settings: RecipeSettings, parts: Components) -> Verifier:
    """Checks each sentence against the evidence, then each quote against its document."""
    claims = ClaimVerifier(partial(checker, settings, parts), display_of(settings.answer))
    return VerifiersInTurn((claims, quote_checker(parts)))


@dataclass(frozen=True, slots=True)
class VerifiersInTurn:
    """One verifier after the other; each reads the result of the one before."""

    verifiers: tuple[Verifier, ...]

    @property
    def about(self) -> str:
        """For people, in a few words."""
        return ", ".join(map(about, self.verifiers))

    def __call__(self, query: Query, draft: Generation, refined: Refined) -> Generation:
        """The generation as the last one leaves it."""
        for verify in self.verifiers:
            draft = verify(query, draft, refined)
        return draft


@dataclass(frozen=True, slots=True)
class SketchedSource:
    """The place outside in a recipe that is described, not run."""

    about: str

    def __call__(self, query: Query, words: str) -> OutsideResult:
        """Never called."""
        raise NotImplementedError("a recipe that is only described goes nowhere")


def _source(
    settings: OutsideSettings, parts: Components, outside: Outside, retriever: Callable[[Components], Retriever]
) -> OutsideSource:
    from thresher.correction.providers import Fields, ProviderSettings, RecordedSearch, Restriction, web_search

    web = settings.web
    only = Restriction(tuple(filter(None, web.sites.split(","))), web.since)
    if parts.sketched:
        return SketchedSource(f"{outside.given}{only.about}")
    from thresher.correction.corrector import RetrieverSource, WebSource
    from thresher.correction.fetch import PageFetcher, RecordedPages

    if outside.store is not None:
        return RetrieverSource(retriever(parts.elsewhere(outside.store)), outside.given)

    def passages(text: str) -> Sequence[tuple[int, int]]:
        return list(split_at_whitespace(text, 0, len(text), PASSAGE_CHARACTERS))

    key = None if web.api_key is None else web.api_key.get_secret_value()
    if parts.exchanges.replaying:
        key = key or "played back"  # keys are not stored, and nothing is asked
    fields = dict(one.split("=", 1) for one in web.fields.split(",") if one)
    given = ProviderSettings(parts.meter, web.base_url, key, fields=Fields(**fields), only=only)
    search = RecordedSearch(outside.search or web_search(web.provider, given), parts.exchanges, parts.meter, only)
    fetch = RecordedPages(PageFetcher(parts.meter), parts.exchanges, parts.meter) if web.fetch else None
    return WebSource(search, fetch, passages, only=only)
