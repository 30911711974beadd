"""The bounds of a published recipe, learned on a collection by a calibration of the score compared with them.

A calibration maps a score to the probability that the evidence suffices; its inverse gives the bounds on the recipe's
scale. A recipe without verdicts has a floor below which no chunk is kept: the lower of the two bounds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import nextafter
from typing import TypeAlias

from thresher.judging.calibration import Calibration
from thresher.judging.verdicts import RestrictedDecider, Routing, ThreeWay
from thresher.protocols import Decider, about
from thresher.types import Decision, Judgement, Notes, Scale

Bounded: TypeAlias = ThreeWay | Routing
"""Deciders by two bounds on a judge's scores."""


def bounded(decide: Decider) -> Bounded | None:
    """The part of a decider that compares scores with two bounds; None for a decider that does not."""
    inner = decide.decide if isinstance(decide, RestrictedDecider) else decide
    return inner if isinstance(inner, ThreeWay | Routing) else None


def best_score(decide: Decider, judged: Sequence[Judgement]) -> float | None:
    """The highest score that is compared with the bounds, or that the judge gave, as 0..1; None without any score."""
    inner = bounded(decide)
    scores = [one.score for one in judged if one.score is not None] if inner is None else inner.scores(judged)
    scales = [score.scale if inner is None else inner.bounds.scale for score in scores]
    unit = ((score.value - at.low) / (at.high - at.low) for score, at in zip(scores, scales, strict=True))
    return max((min(max(value, 0.0), 1.0) for value in unit), default=None)


def learned_bounds(learned: Calibration, scale: Scale) -> tuple[float, float] | None:
    """LOWER and UPPER on a recipe's own scale; None where a better score is not worth more, so that no bound helps."""
    lower, upper = learned.raw(learned.lower), learned.raw(learned.upper)
    if lower is None or upper is None:
        return None
    lower, upper = (scale.low + value * (scale.high - scale.low) for value in (lower, upper))
    upper = max(upper, nextafter(scale.low, scale.high))
    return min(lower, nextafter(upper, scale.low)), upper


def learned_floor(learned: Calibration) -> float | None:
    """The score, 0 to 1, below which the evidence does not suffice; None where a better score is not worth more."""
    return learned.raw(learned.lower)


@dataclass(frozen=True, slots=True)
class ConfidentDecider:
    """Adds to the verdict of a decider, if it gives one, the calibrated probability of the best score."""

    decide: Decider
    learned: Calibration
    mapping: str
    """Name of the calibration, for the trace."""

    @property
    def about(self) -> str:
        """For people, in a few words."""
        return f"{about(self.decide)}, {'floor' if bounded(self.decide) is None else 'bounds'} learned here"

    def __call__(self, judged: Sequence[Judgement]) -> Decision:
        """The verdict, with the probability that the evidence suffices as confidence."""
        decision, best = self.decide(judged), best_score(self.decide, judged)
        if best is None:
            return decision
        notes = decision.notes + Notes(facts={"mapping": self.mapping})
        return replace(decision, confidence=self.learned.probability(best), notes=notes)
