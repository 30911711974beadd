"""A second search with what the first one found: the names that its best hits have and the question lacks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from thresher.protocols import Retriever, about
from thresher.text.entities import whole_names
from thresher.text.terms import term_set
from thresher.types import Hit, Judged, Judgement, Notes, Query

LOOKED_AT = 3
"""Best hits whose names are searched for."""

NAMES = 2
"""Names that are added to the question."""

ADDED = 5
"""New hits at most, behind those of the first search."""

Probabilities = Callable[[Query, Sequence[Hit]], Sequence[float]]
"""How likely each hit is to suffice, 0 to 1."""


@dataclass(frozen=True, slots=True)
class HoppingRetriever:
    """Searches once more where a question describes one thing several times, or the best hit is neither good nor bad.

    Not published. What was found first stays; the second search only adds to it, and there is no third.
    """

    retriever: Retriever
    probabilities: Probabilities
    lower: float
    upper: float
    """A best hit from `lower` to below `upper` has a second search; equal bounds leave it to described questions."""

    @property
    def about(self) -> str:
        """For people, in a few words."""
        return f"{about(self.retriever)}, a second search with the names found"

    def __call__(self, query: Query) -> Judged:
        """What the first search found, and what the second added, with its words in the notes."""
        found = self.retriever(query)
        hits = found.kept
        names = self._names(query, hits)
        if not names:
            return found
        words = " ".join(names)
        searches = [f"{asked} {words}" for asked in query.intent.descriptions or (query.search,)]
        second = [self.retriever(replace(query, search=search)).kept for search in searches]
        known = {hit.chunk.id for hit in hits}
        new = {hit.chunk.id: hit for level in zip(*second, strict=False) for hit in level if hit.chunk.id not in known}
        added = [
            Judgement(replace(hit, rank=rank), keep=True, reason=f"found with {words}")
            for rank, hit in enumerate(list(new.values())[:ADDED], start=len(hits) + 1)
        ]
        kept = [one for one in found.judgements if one.keep]
        dropped = [one for one in found.judgements if not one.keep]
        facts = {"second_search": searches, "added": len(added)}
        return Judged((*kept, *added, *dropped), found.notes + Notes(facts=facts))

    def _names(self, query: Query, hits: Sequence[Hit]) -> list[str]:
        """The names that most of the best hits have, the likeliest hit's first; none where no second search is due."""
        described = bool(query.intent.descriptions)
        if not hits or not (described or self.lower < self.upper):
            return []
        chances = self.probabilities(query, hits)
        if not (described or self.lower <= max(chances) < self.upper):
            return []
        asked = term_set(query.question)
        nearest = sorted(range(len(hits)), key=lambda at: -chances[at])[:LOOKED_AT]
        counts: Counter[str] = Counter()
        for at in nearest:
            counts.update(dict.fromkeys(whole_names(hits[at].chunk.text), 1))
        return [name for name, _ in counts.most_common() if term_set(name) - asked][:NAMES]
