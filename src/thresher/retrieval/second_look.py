"""A question that finds nothing good is put in other words and searched for once more."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from thresher.protocols import Retriever, Rewriter
from thresher.retrieval.fuse import FusedRetriever, reciprocal_rank_fusion
from thresher.types import Hit, Query, Sifted

Suffices = Callable[[Query, Sequence[Hit]], bool]
"""Whether what was found is good enough."""


@dataclass(frozen=True, slots=True)
class SecondLookRetriever:
    """Rewrites only when it may help: the first search stands unless `suffices` says no. Not published.

    Both searches then count alike, by reciprocal ranks; the trace has the words of the second.
    """

    retriever: Retriever
    rewriter: Rewriter
    suffices: Suffices

    def __call__(self, query: Query) -> Sifted:
        """What the first search found, or both together."""
        found = self.retriever(query)
        if self.suffices(query, found.kept):
            return found
        rewritten = self.rewriter(query)
        if rewritten.search == query.search:
            return _told(found, rewritten)
        both = FusedRetriever((lambda _: found, lambda _: self.retriever(rewritten)), reciprocal_rank_fusion)
        return _told(both(query), rewritten)


def _told(found: Sifted, rewritten: Query) -> Sifted:
    detail = {**found.detail, "second_search": rewritten.search}
    lacks = [*found.detail.get("degraded", ()), *rewritten.degraded]
    return Sifted(found.judgements, {**detail, "degraded": lacks} if lacks else detail)
