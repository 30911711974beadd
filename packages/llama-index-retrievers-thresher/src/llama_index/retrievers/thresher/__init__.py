"""Thresher in LlamaIndex: passages are handed on only after they have been judged."""

from llama_index.retrievers.thresher.base import ThresherRetriever

__all__ = ["ThresherRetriever"]
