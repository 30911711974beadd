"""Thresher's bundled judge as a ranker."""

from haystack_integrations.components.rankers.thresher.ranker import ThresherRanker

__all__ = ["ThresherRanker"]
