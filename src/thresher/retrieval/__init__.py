"""From a query to ranked candidates: dense, lexical, fused, reranked, cut."""
