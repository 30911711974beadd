"""A chunk that answers one part of a question is evidence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from thresher.judging.scorers import WrappedScorer
from thresher.judging.thresholds import value_of
from thresher.questions import searches
from thresher.types import NO_NOTES, Hit, Query, Scores


@dataclass(frozen=True, slots=True)
class EachPartScorer(WrappedScorer):
    """The best score of each hit over a question and its parts."""

    def __call__(self, query: Query, hits: Sequence[Hit]) -> Scores:
        """One score per hit, with what that one is made of."""
        found = [self.scorer(replace(query, question=asked), hits) for asked in searches(query.question)]
        if len(found) == 1:
            return found[0]
        best = [max(found, key=lambda scores: value_of(scores.scores[at])) for at in range(len(hits))]
        return Scores(
            tuple(scores.scores[at] for at, scores in enumerate(best)),
            sum((scores.notes for scores in found), NO_NOTES),
            tuple(scores.others[at] for at, scores in enumerate(best)) if all(one.others for one in found) else (),
            found[0].failed,
        )
