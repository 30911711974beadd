"""A collection of Thresher as a retriever."""

from haystack_integrations.components.retrievers.thresher.retriever import ThresherRetriever

__all__ = ["ThresherRetriever"]
