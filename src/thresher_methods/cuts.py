"""How the published methods cut and encode documents: indexing imports no part that answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from thresher.parts.chunking import (
    Components,
    FixedChunker,
    IndexConfig,
    hierarchy,
    index_terms,
    left_out,
    prices_of,
    sentence_spans,
)
from thresher_methods.settings import ChunkragSettings, CragSettings, EcragSettings


def crag(settings: CragSettings, parts: Components) -> IndexConfig:
    """Fixed chunks, one dense vector each."""
    chunker = FixedChunker(settings.chunk.size, settings.chunk.overlap, without=left_out(settings))
    return IndexConfig(chunker, parts.encoder(settings), titled=settings.titled)


def chunkrag(settings: ChunkragSettings, parts: Components) -> IndexConfig:
    """Semantic chunks, a dense vector and BM25 terms each."""
    from thresher_methods.semantic import SemanticChunker, theta_of

    encoder, cut = parts.encoder(settings), settings.chunk
    chunker = SemanticChunker(
        encoder.encode,
        encoder_name=encoder.name,
        theta=theta_of(encoder.name, cut.theta_mode) if cut.theta is None else cut.theta,
        max_characters=cut.size,
        mode=cut.theta_mode,
        compare=cut.compare,
        without=left_out(settings),
    )
    return IndexConfig(chunker, encoder, titled=settings.titled)


def ecrag(settings: EcragSettings, parts: Components) -> IndexConfig:
    """Chunks encoded by their summaries, and subchunks.

    A question pays for no summaries: without the model's summary of every document, extracted sentences take its place.
    """
    from thresher_methods.summaries import LLMSummarizer

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
    from thresher_methods.summaries import ExtractiveSummarizer, LLMSummarizer

    kept = settings.llm.model_copy(update={"cache": True})
    model = parts.language_model(kept) if settings.summary in ("auto", "llm") else None
    summarizer = ExtractiveSummarizer(sentence_spans, index_terms) if model is None else LLMSummarizer(model)
    chunker = hierarchy(settings, settings.chunk, settings.subchunk)
    return IndexConfig(
        replace(chunker, tail=settings.subchunk.tail, literal=settings.literal),
        parts.encoder(settings),
        ("chunk", "subchunk"),
        summarizer=None if settings.summary == "text" else summarizer,
        titled=settings.titled,
    )


def _announcing(name: str, settings: EcragSettings, parts: Components) -> Callable[[Sequence[str]], None]:
    """Announces the cost of summaries before they are made."""
    from thresher_methods.summaries import price

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
