"""Thresher in LangChain: only judged documents are passed on."""

from langchain_thresher.compressors import ThresherCompressor
from langchain_thresher.retrievers import ThresherRetriever

__all__ = ["ThresherCompressor", "ThresherRetriever"]
