"""The bounds of a published recipe, learned on a collection: a calibration of the very score that its bounds decide on.

Printed bounds are for one judge and one collection. A calibration says of each score how probable it is that the
evidence suffices, and where that probability should decide; read backwards, it gives the bounds on the recipe's scale.
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


def best_score(decide: Bounded, judged: Sequence[Judgement]) -> float | None:
    """The score a verdict turns on, brought to 0..1 from the scale of the bounds; None where nothing has a score."""
    scale = decide.bounds.scale
    return max((_unit(score.value, scale) for score in decide.scores(judged)), default=None)


def learned_bounds(learned: Calibration, scale: Scale) -> tuple[float, float] | None:
    """LOWER and UPPER on a recipe's own scale; None where a better score is not worth more, so that no bound helps."""
    lower, upper = learned.raw(learned.lower), learned.raw(learned.upper)
    if lower is None or upper is None:
        return None
    lower, upper = (scale.low + value * (scale.high - scale.low) for value in (lower, upper))
    upper = max(upper, nextafter(scale.low, scale.high))
    return min(lower, nextafter(upper, scale.low)), upper


@dataclass(frozen=True, slots=True)
class ConfidentDecider:
    """A decider by learned bounds, whose score is worth a probability: the verdict is its own."""

    decide: Decider
    learned: Calibration
    mapping: str
    """Name of the calibration, for the trace."""

    @property
    def about(self) -> str:
        """For people, in a few words."""
        return f"{about(self.decide)}, bounds learned here"

    def __call__(self, judged: Sequence[Judgement]) -> Decision:
        """The verdict, with the probability that the evidence suffices as confidence."""
        decision, inner = self.decide(judged), bounded(self.decide)
        best = None if inner is None else best_score(inner, judged)
        if best is None:
            return decision
        notes = decision.notes + Notes(facts={"mapping": self.mapping})
        return replace(decision, confidence=self.learned.probability(best), notes=notes)


def _unit(value: float, scale: Scale) -> float:
    return min(max((value - scale.low) / (scale.high - scale.low), 0.0), 1.0)
