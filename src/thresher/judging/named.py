"""Documents that a question names are judged by how well the name fits: their beginning need not speak of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from thresher.protocols import Scorer, about
from thresher.text.document_names import NAME_SCORE
from thresher.types import PROBABILITY, Hit, Query, Scale, Score, Scores


@dataclass(frozen=True, slots=True)
class NamedScorer:
    """Another scorer's probabilities; of a hit that was found by its name, that the name means it where that is higher.

    Not published.
    """

    scorer: Scorer
    probability: Callable[[float], float]
    """That a document is meant, of how well its name fits, 0 to 1."""

    @property
    def name(self) -> str:
        """The other scorer's: calibrations go by it."""
        return self.scorer.name

    @property
    def scale(self) -> Scale:
        """The other scorer's."""
        return self.scorer.scale

    @property
    def about(self) -> str:
        """For people, in a few words."""
        return about(self.scorer)

    def __call__(self, query: Query, hits: Sequence[Hit]) -> Scores:
        """One score per hit."""
        found = self.scorer(query, hits)
        return replace(found, scores=tuple(map(self._higher, hits, found.scores)))

    def _higher(self, hit: Hit, score: Score | None) -> Score | None:
        fit = hit.scores.get(NAME_SCORE)
        if fit is None:
            return score
        by_name = self.probability(fit.value)
        return score if score is not None and score.value >= by_name else Score(by_name, PROBABILITY)
