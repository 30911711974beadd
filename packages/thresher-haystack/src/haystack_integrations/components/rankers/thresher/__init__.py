"""The bundled judge of Thresher as a ranker."""

from haystack_integrations.components.rankers.thresher.ranker import ThresherRanker

__all__ = ["ThresherRanker"]
