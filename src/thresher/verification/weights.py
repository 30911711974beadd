"""What the readings of a claim weigh: two logistic scores against "neither", fitted on labelled claims.

    .venv/bin/python -m research.fit_checker

`weights.json` holds log odds of "supported" and "contradicted" against "unverified"; the softmax of both and 0 gives
three calibrated probabilities. Three rules bound the first: a number that stands nowhere, a number or name that does
not stand where the rest of the claim does, and a negation or an opposite in a sentence about the same matter. What else
the rules find adds nothing to the trained readings (docs/results/models.md); it explains a finding.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from math import exp, log
from pathlib import Path

from thresher.types import SupportReading

CLIPPED = 1e-4
"""Probabilities of the model are kept this far from 0 and 1 before their log odds are taken."""


@dataclass(frozen=True, slots=True)
class ClaimSigns:
    """What the trained model reads of a claim beside its evidence, probabilities 0 to 1, and what exact rules find."""

    support: float
    """Highest probability, of the trained model, that a window of the evidence supports the claim."""
    selected: float
    """That the sentences nearest to it support it, read together."""
    alone: float
    """Highest that one of them supports it, read alone."""
    denial: float
    """That those sentences, read together, deny it."""
    number: bool
    """A number neither stands in nor follows from the evidence, or the evidence is about a namesake."""
    misplaced: bool
    """A number, or a name that the evidence has, does not stand where the rest of the claim does."""
    opposed: bool
    """A rule finds a negation, an opposite or another number in a sentence about the same matter."""
    share: float
    """Of the claim's terms, those that the evidence holds: what it does not speak of it does not deny."""

    def values(self) -> tuple[float, ...]:
        """The numbers that are weighed, in the order of `SIGNS`."""
        return (1.0, *map(log_odds, (self.support, self.selected, self.alone, self.denial)), self.share)


UNSTATED = 1 / 20
"""Highest odds of support where an exact rule finds otherwise: of some 700 cases for fitting with a number that stands
nowhere one in forty is supported (SciFact rounds)."""

SAYS_THE_REST = 0.8
"""Probability, as the model reads it, from which a sentence says the claim but for what a rule finds."""

EVEN = 0.5
"""Share of supported claims that the table was fitted with."""

OUTCOMES = ("support", "denial")
SIGNS = ("constant", "support", "selected", "alone", "denial", "share")


@cache
def fitted() -> Mapping[str, Mapping[str, float]]:
    """The weight of each sign for `support` and for `denial`."""
    stored = json.loads((Path(__file__).parent / "weights.json").read_text(encoding="utf-8"))
    return {outcome: stored[outcome] for outcome in OUTCOMES}


def weighed(signs: ClaimSigns, prior: float = EVEN) -> SupportReading:
    """Calibrated probabilities that the claim is supported and that it is contradicted.

    `prior` is the share of supported claims, above 0 and below 1; the table was fitted at one half.
    """
    values = dict(zip(SIGNS, signs.values(), strict=True))
    odds = [exp(sum(weight * values[name] for name, weight in fitted()[outcome].items())) for outcome in OUTCOMES]
    odds[0] *= prior / (1 - prior)
    if signs.number or signs.misplaced or signs.opposed:
        bounded = min(odds[0], UNSTATED * (odds[1] + 1.0))
        # One sentence says all but that, and another number or the opposite in its place: that denies the claim.
        instead = (signs.opposed or (signs.number and signs.misplaced)) and signs.alone >= SAYS_THE_REST
        odds = [bounded, odds[1] + (odds[0] - bounded if instead else 0.0)]
    total = sum(odds) + 1.0
    return SupportReading(odds[0] / total, odds[1] / total)


def log_odds(probability: float) -> float:
    """ln(p / (1 - p)), of a probability that is kept from 0 and 1."""
    kept = min(1 - CLIPPED, max(CLIPPED, probability))
    return log(kept / (1 - kept))
