"""Thresher in LangChain: documents are handed on only after they have been judged."""

from langchain_thresher.compressors import ThresherCompressor
from langchain_thresher.retrievers import ThresherRetriever

__all__ = ["ThresherCompressor", "ThresherRetriever"]
