"""Thresher in LlamaIndex: only judged results of your retriever are passed on."""

from llama_index.postprocessor.thresher.base import ThresherPostprocessor

__all__ = ["ThresherPostprocessor"]
