"""Parts that several recipes share to correct, refine, answer and verify, made from settings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Literal

from thresher.answering.citations import ConflictCiter, QuoteChecker
from thresher.chunking.spans import split_at_whitespace
from thresher.protocols import ChunkTable, Corrector, Generator, Judge, Refiner, Retriever, Scorer, Verifier, about
from thresher.recipes.components import Components, Outside, nothing, plain
from thresher.recipes.settings import AnswerSettings, OutsideSettings, RecipeSettings, RedundancySettings
from thresher.refinement.refine import CODE_MIN_WORDS, DECOMPOSITIONS, MIN_WORDS, PassageRefiner, StripRefiner
from thresher.structure.locators import locate
from thresher.text.terms import index_terms
from thresher.types import NO_NOTES, Correction, Decision, Evidence, Generation, Hit, Notes, Origin, Query, Refined
from thresher.verification.conflicts import find_conflicts

if TYPE_CHECKING:
    from thresher.answering.answerer import Answerer
    from thresher.answering.chat_model import GroundedGenerator, Style
    from thresher.answering.checked_answer import Display
    from thresher.correction.corrector import OutsideSource
    from thresher.correction.search_query import SearchQueryWriter
    from thresher.protocols import LanguageModel
    from thresher.retrieval.wrappers import Facts, Redundancy
    from thresher.types import Vectors
    from thresher.verification.check import Checker

PASSAGE_CHARACTERS = 900
"""Of a page at most: a chunk of CRAG's implementation guide, so that pages and chunks are judged alike."""

NO_MODEL = "generate: no chat model is configured (llm.base_url, llm.model); answered by quoting"

NO_WORDS = "correct: no chat model is configured (llm.base_url, llm.model); the question itself was searched for"


def redundancy(settings: RedundancySettings, table: ChunkTable, *, facts: Facts | None = None) -> Redundancy:
    """Drops a chunk that says what a better one says; vectors are those of the index."""
    from thresher.retrieval.wrappers import Redundancy

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


def nowhere(query: Query, decision: Decision) -> Correction:
    """There is no outside: none was given with the question."""
    return Correction(outcome="no outside source was given")


def corrector(
    settings: OutsideSettings,
    parts: Components,
    retriever: Callable[[Components], Retriever],
    *,
    judge: Callable[[Components], Judge] | None = None,
    sure: float = 0.0,
) -> tuple[Corrector, tuple[str, ...]]:
    """The corrector, and what it lacks; `retriever` and `judge` make the recipe's own over another collection.

    Without a chat model, and with `search.style=question`, the question itself is searched for.
    """
    outside = parts.outside
    if outside is None:
        return nowhere, ()
    # Imported when a question may go outside: a question of one's own documents needs no HTTP client.
    from thresher.correction.corrector import SearchingCorrector
    from thresher.correction.search_query import AsAsked, LLMSearchQuery

    there = parts if outside.store is None else parts.elsewhere(outside.store)
    model, style = parts.language_model(settings.llm), settings.search.style
    words: SearchQueryWriter = AsAsked(whole=outside.store is not None)
    if style != "question" and model is not None:
        words = LLMSearchQuery(model, style)
    # A second opinion is for another collection: it costs little there, and nothing leaves the machine for it.
    doubt = sure if outside.store is not None or parts.sketched else 0.0
    source = _source(settings, there, outside, retriever)
    correct = SearchingCorrector(words, source, None if judge is None else judge(there), sure=doubt)
    return correct, () if style == "question" or model is not None else (NO_WORDS,)


def _source(
    settings: OutsideSettings, there: Components, outside: Outside, retriever: Callable[[Components], Retriever]
) -> OutsideSource:
    """The other collection, whose parts are `there`, or the web."""
    from thresher.correction.corrector import RetrieverSource, WebSource
    from thresher.correction.providers import Fields, ProviderSettings, RecordedSearch, Restriction, web_search

    web = settings.web
    only = Restriction(tuple(filter(None, web.sites.split(","))), web.since)
    if there.sketched:
        return RetrieverSource(nothing, f"{outside.given}{only.about}")
    if outside.store is not None:
        return RetrieverSource(retriever(there), outside.given)
    from thresher.correction.fetch import PageFetcher, RecordedPages

    def passages(text: str) -> Sequence[tuple[int, int]]:
        return list(split_at_whitespace(text, 0, len(text), PASSAGE_CHARACTERS))

    key = plain(web.api_key)
    if there.exchanges.replaying:
        key = key or "played back"  # keys are not stored, and nothing is asked
    fields = dict(one.split("=", 1) for one in web.fields.split(",") if one)
    given = ProviderSettings(there.meter, web.base_url, key, fields=Fields(**fields), only=only)
    search = RecordedSearch(outside.search or web_search(web.provider, given), there.exchanges, there.meter, only)
    fetch = RecordedPages(PageFetcher(there.meter), there.exchanges, there.meter) if web.fetch else None
    return WebSource(search, fetch, passages, only=only)


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
        """The evidence in the order of the hits; where one origin alone is refined, inside first."""
        if self.of in ("all", "none"):
            parts = [(self.refine if self.of == "all" else PassageRefiner())(query, hits)]
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


def answerer(settings: RecipeSettings, parts: Components, table: ChunkTable, *, rivals: bool = False) -> Answerer:
    """What answers without a chat model; `rivals` shows beside an answer what contradicts it elsewhere."""
    from thresher.answering.answerer import Answerer
    from thresher.answering.sentences import SentenceFinder
    from thresher.answering.spans import Confidence, SpanFinder

    confidence, judge = Confidence.load(), parts.models.judge()
    return Answerer(
        SpanFinder(judge, parts.rarity(table), confidence.span),
        SentenceFinder(judge, confidence.sentence),
        judge,
        parts.whole_documents(),
        confidence,
        settings.answer.min_confidence,
        rivals=rivals,
        certified_from=parts.asserted_from,
    )


def generator(
    settings: RecipeSettings,
    parts: Components,
    table: ChunkTable,
    offline: Answerer | None = None,
    *,
    insufficient: bool = False,
) -> tuple[Generator, tuple[str, ...]]:
    """The chat model, or an answerer where none is configured, and what is lacking.

    Of insufficient evidence a chat model answers only where its sentences are checked.
    """
    offline = offline or answerer(settings, parts, table)
    answer, model = settings.answer, parts.language_model(settings.llm)
    if model is None:
        return offline, (NO_MODEL,)
    checked = display_of(answer) in ("mark", "strict")
    if answer.by == "reader" or (insufficient and not checked):
        return offline, ()
    from thresher.answering.chat_model import unread

    written = grounded(settings, parts, model, offline, display_of(answer), style_of(answer))
    read = offline.reading if checked else unread
    on_sentence, times = parts.on_sentence, offline.times
    return replace(written, on_sentence=on_sentence, read=read, times=times, insufficient=insufficient), ()


def grounded(
    settings: RecipeSettings,
    parts: Components,
    model: LanguageModel,
    fallback: Generator,
    display: Display,
    style: Style,
) -> GroundedGenerator:
    """The chat model, which writes from evidence and is checked."""
    from thresher.answering.chat_model import GroundedGenerator
    from thresher.answering.second_reader import SecondReader

    check, llm, verify = checker(parts), settings.llm, settings.answer.verify
    strict = display_of(settings.answer) == "strict"
    second = SecondReader(model, verify, strict) if verify != "local" and display in ("mark", "strict") else None
    return GroundedGenerator(model, check, fallback, display, style, llm.context_tokens, llm.max_tokens, second=second)


def summariser(settings: RecipeSettings, parts: Components) -> Generator | None:
    """What a chat model writes of a part of a document, supported sentences alone; None without a model."""
    model = parts.language_model(settings.llm)
    if model is None or settings.answer.by == "reader":
        return None
    from thresher.answering.chat_model import Style
    from thresher.answering.citations import abstention

    def failed(query: Query, evidence: Sequence[Evidence]) -> Generation:
        return abstention("The model did not answer.")

    style = Style(instructions=settings.answer.instructions)
    return grounded(settings, parts, model, failed, "strict", style)


def checker(parts: Components) -> Checker:
    """Checks sentences against the documents."""
    from thresher.verification.check import Checker
    from thresher.verification.windows import rows_in_words

    return Checker(parts.models.checker(), parts.whole_documents(), rows_in_words)


def quotes(parts: Components) -> QuoteChecker:
    """Looks citations up in their documents."""
    return QuoteChecker(parts.whole_documents(), locate)


def quote_checker(parts: Components) -> Verifier:
    """Looks every citation up in its document, here or in the other collection, and cites contradictions."""
    looks_up = quotes(parts)
    return ConflictCiter(looks_up, looks_up.placed, parts.whole_documents())


def style_of(answer: AnswerSettings) -> Style:
    """Style, length and further instructions for a chat model."""
    from thresher.answering.chat_model import Style

    return Style(answer.style, answer.max_words, answer.instructions)


def display_of(answer: AnswerSettings) -> Display:
    """Which sentences of an answer are shown; the mode wins over the check."""
    of_mode: dict[str, Display] = {"strict": "strict", "balanced": "mark", "open": "open"}
    return of_mode[answer.mode] if answer.mode else answer.check


def verifier(answer: AnswerSettings, parts: Components) -> Verifier:
    """Checks each sentence against the evidence, then each quote against its document."""
    from thresher.answering.checked_answer import ClaimVerifier

    claims = ClaimVerifier(partial(checker, parts), display_of(answer))
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
