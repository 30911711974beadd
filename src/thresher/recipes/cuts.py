"""How our recipes cut and encode documents, a function a recipe: indexing imports no part that answers."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from thresher.indexing.index_config import IndexConfig
from thresher.recipes.components import Components
from thresher.text.passages import LONGEST

if TYPE_CHECKING:
    from thresher.chunking.hierarchical import HierarchicalChunker
    from thresher.chunking.spans import LeftOut
    from thresher.recipes.settings import (
        CorrectiveSettings,
        HybridSettings,
        NoRetrievalSettings,
        RagSettings,
        RecipeSettings,
        SentenceChunking,
        Subchunking,
    )
    from thresher.text.sentences import Span


def no_retrieval(settings: NoRetrievalSettings, parts: Components) -> None:
    """Nothing is retrieved."""


def rag(settings: RagSettings, parts: Components) -> IndexConfig:
    """Fixed chunks, one dense vector each."""
    from thresher.chunking.fixed import FixedChunker

    chunker = FixedChunker(settings.chunk.size, settings.chunk.overlap, without=left_out(settings))
    return IndexConfig(chunker, parts.encoder(settings), titled=settings.titled)


def hybrid(settings: HybridSettings, parts: Components) -> IndexConfig:
    """Recursive chunks, a dense vector and BM25 terms each."""
    from thresher.chunking.fixed import RecursiveChunker

    chunker = RecursiveChunker(settings.chunk.size, settings.chunk.overlap, without=left_out(settings))
    return IndexConfig(chunker, parts.encoder(settings), titled=settings.titled)


def corrective(settings: CorrectiveSettings, parts: Components) -> IndexConfig:
    """Chunks with BM25 terms, and their subchunks, which alone are encoded."""
    levels, chunker = (
        ("chunk", "subchunk"),
        replace(hierarchy(settings, settings.chunk, settings.subchunk), whole=LONGEST),
    )
    return IndexConfig(chunker, parts.encoder(settings), levels, titled=settings.titled, by_parts=True)


def hierarchy(settings: RecipeSettings, chunk: SentenceChunking, subchunk: Subchunking) -> HierarchicalChunker:
    """Cuts documents into chunks of whole sentences, and these into subchunks."""
    from thresher.chunking.hierarchical import HierarchicalChunker

    return HierarchicalChunker(
        size=chunk.size,
        minimum=chunk.min,
        overlap=chunk.overlap,
        subchunk_size=subchunk.size,
        subchunk_overlap=subchunk.overlap,
        without=left_out(settings),
    )


def references_span(text: str) -> Span | None:
    """The References of a paper; what finds them is imported when a document is cut, not for a question."""
    from thresher.documents import cleaning

    return cleaning.references_span(text)


def left_out(settings: RecipeSettings) -> LeftOut | None:
    """What finds the span that yields no chunks, for a recipe that drops references."""
    return references_span if settings.drop_references else None
