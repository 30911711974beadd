"""How a method cuts documents: chunkers, spans, what the index is made of, and the components of a recipe."""

from __future__ import annotations

from thresher.chunking.fixed import FixedChunker
from thresher.chunking.spans import (
    LeftOut,
    check_sizes,
    chunk_regions,
    cut_before,
    fingerprint,
    split_at_whitespace,
    text_regions,
)
from thresher.indexing.index_config import IndexConfig
from thresher.recipes.components import Components, prices_of
from thresher.recipes.cuts import hierarchy, left_out
from thresher.text.sentences import VERSION as SENTENCES_VERSION
from thresher.text.sentences import Span, sentence_spans
from thresher.text.terms import index_terms

__all__ = [
    "SENTENCES_VERSION",
    "Components",
    "FixedChunker",
    "IndexConfig",
    "LeftOut",
    "Span",
    "check_sizes",
    "chunk_regions",
    "cut_before",
    "fingerprint",
    "hierarchy",
    "index_terms",
    "left_out",
    "prices_of",
    "sentence_spans",
    "split_at_whitespace",
    "text_regions",
]
