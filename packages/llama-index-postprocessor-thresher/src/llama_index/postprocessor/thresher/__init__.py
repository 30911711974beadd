"""Thresher in LlamaIndex: what your retriever found is handed on only after it has been judged."""

from llama_index.postprocessor.thresher.base import ThresherPostprocessor

__all__ = ["ThresherPostprocessor"]
