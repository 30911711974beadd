"""Documents to chunks: spans that reproduce the document's text exactly, whoever cuts them."""

# --- the chunkers, one for each way the recipes cut -------------------------------------------------------------------
from thresher.chunking.fixed import FixedChunker, RecursiveChunker
from thresher.chunking.hierarchical import HierarchicalChunker, Report, estimate, report
from thresher.chunking.semantic import SemanticChunker
from thresher.chunking.spans import Region, chunk_id, row_spans, text_regions

# --- what they are made of --------------------------------------------------------------------------------------------
from thresher.text.sentences import sentence_spans

__all__ = [
    "FixedChunker",
    "HierarchicalChunker",
    "RecursiveChunker",
    "Region",
    "Report",
    "SemanticChunker",
    "chunk_id",
    "estimate",
    "report",
    "row_spans",
    "sentence_spans",
    "text_regions",
]
