"""How each recipe cuts and encodes documents, a function a recipe: indexing imports no part that answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from thresher.indexing.index_config import IndexConfig
from thresher.recipes.components import Components, prices_of
from thresher.text.passages import LONGEST

if TYPE_CHECKING:
    from thresher.chunking.hierarchical import HierarchicalChunker
    from thresher.chunking.spans import LeftOut
    from thresher.recipes.settings import (
        ChunkragSettings,
        CorrectiveSettings,
        CragSettings,
        EcragSettings,
        HybridSettings,
        NoRetrievalSettings,
        RagSettings,
        RecipeSettings,
    )
    from thresher.text.sentences import Span


def no_retrieval(settings: NoRetrievalSettings, parts: Components) -> None:
    """Nothing is retrieved."""


def rag(settings: RagSettings | CragSettings, parts: Components) -> IndexConfig:
    """Fixed chunks, one dense vector each."""
    from thresher.chunking.fixed import FixedChunker

    chunker = FixedChunker(settings.chunk.size, settings.chunk.overlap, without=_left_out(settings))
    return IndexConfig(chunker, parts.encoder(settings), titled=settings.titled)


crag = rag


def hybrid(settings: HybridSettings, parts: Components) -> IndexConfig:
    """Recursive chunks, a dense vector and BM25 terms each."""
    from thresher.chunking.fixed import RecursiveChunker

    chunker = RecursiveChunker(settings.chunk.size, settings.chunk.overlap, without=_left_out(settings))
    return IndexConfig(chunker, parts.encoder(settings), titled=settings.titled)


def chunkrag(settings: ChunkragSettings, parts: Components) -> IndexConfig:
    """Semantic chunks, a dense vector and BM25 terms each."""
    from thresher.chunking.semantic import SemanticChunker, theta_of

    encoder, cut = parts.encoder(settings), settings.chunk
    chunker = SemanticChunker(
        encoder.encode,
        encoder_name=encoder.name,
        theta=theta_of(encoder.name, cut.theta_mode) if cut.theta is None else cut.theta,
        max_characters=cut.size,
        mode=cut.theta_mode,
        compare=cut.compare,
        without=_left_out(settings),
    )
    return IndexConfig(chunker, encoder, titled=settings.titled)


def corrective(settings: CorrectiveSettings, parts: Components) -> IndexConfig:
    """Chunks with BM25 terms, and their subchunks, which alone are encoded."""
    levels, chunker = ("chunk", "subchunk"), replace(_hierarchy(settings), whole=LONGEST)
    return IndexConfig(chunker, parts.encoder(settings), levels, titled=settings.titled, by_parts=True)


def ecrag(settings: EcragSettings, parts: Components) -> IndexConfig:
    """Chunks encoded by their summaries, and subchunks.

    A question pays for no summaries: without the model's summary of every document, extracted sentences take its place.
    """
    from thresher.chunking.summaries import LLMSummarizer

    wanted = _summarised(settings, parts)
    if not isinstance(wanted.summarizer, LLMSummarizer) or parts.sketched:
        return wanted
    if parts.indexing:
        announce = _announcing(wanted.summarizer.name, settings, parts)
        return replace(wanted, workers=settings.llm.concurrency, announce=announce)
    prepared = parts.store.prepared(wanted)
    return wanted if prepared else _summarised(settings.model_copy(update={"summary": "extractive"}), parts)


def _summarised(settings: EcragSettings, parts: Components) -> IndexConfig:
    """Chunks encoded by summaries, or by their own text. Replies are cached, so that nothing is paid twice."""
    from thresher.chunking.summaries import ExtractiveSummarizer, LLMSummarizer
    from thresher.text.sentences import sentence_spans
    from thresher.text.terms import index_terms

    kept = settings.llm.model_copy(update={"cache": True})
    model = parts.language_model(kept) if settings.summary in ("auto", "llm") else None
    summarizer = ExtractiveSummarizer(sentence_spans, index_terms) if model is None else LLMSummarizer(model)
    return IndexConfig(
        replace(_hierarchy(settings), tail=settings.subchunk.tail, literal=settings.literal),
        parts.encoder(settings),
        ("chunk", "subchunk"),
        summarizer=None if settings.summary == "text" else summarizer,
        titled=settings.titled,
    )


def _announcing(name: str, settings: EcragSettings, parts: Components) -> Callable[[Sequence[str]], None]:
    """Announces the cost of summaries before they are made."""
    from thresher.chunking.summaries import price

    def announce(texts: Sequence[str]) -> None:
        calls, sent, written = price(texts)
        prices = prices_of(settings.llm)
        money = "" if prices is None else f", {prices.of(sent, written):.2g} in money"
        if calls and parts.announce is not None:
            parts.announce(
                f"{calls} chunks are summarised by {name}: about {calls} calls, {sent:,} tokens sent, {written:,} "
                f"written{money}; what was made before is not paid again"
            )

    return announce


def _hierarchy(settings: CorrectiveSettings | EcragSettings) -> HierarchicalChunker:
    from thresher.chunking.hierarchical import HierarchicalChunker

    cut, sub = settings.chunk, settings.subchunk
    return HierarchicalChunker(
        size=cut.size,
        minimum=cut.min,
        overlap=cut.overlap,
        subchunk_size=sub.size,
        subchunk_overlap=sub.overlap,
        without=_left_out(settings),
    )


def references_span(text: str) -> Span | None:
    """The References of a paper; what finds them is imported when a document is cut, not for a question."""
    from thresher.documents import cleaning

    return cleaning.references_span(text)


def _left_out(settings: RecipeSettings) -> LeftOut | None:
    return references_span if settings.drop_references else None
