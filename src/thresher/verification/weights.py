"""What the signs of a claim weigh: two logistic scores against "neither", fitted on labelled claims.

    .venv/bin/python -m research.fit_checker        # research/results/checker.json: data, counts, what was measured

`weights.json` holds log odds of "supported" and "contradicted" against "unverified"; the softmax of both and 0 gives
three calibrated probabilities.
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
    """The signs of a claim beside its evidence; shares and probabilities 0 to 1."""

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
    name: bool
    """A name stands neither there, nor in the whole document, nor in the question."""
    opposed: bool
    """A rule finds a negation, an opposite or another number in a sentence about the same matter."""
    misplaced: bool
    """A number or name stands in the evidence, but not where the rest of the claim does."""
    share: float
    """Of the claim's terms, those that the evidence holds."""
    added: float
    """Of the terms it adds to the question, those that the evidence holds."""
    nearness: float
    """Cosine and shared terms with the nearest sentences, half each."""

    def values(self) -> tuple[float, ...]:
        """The numbers that are weighed, in the order of `SIGNS`."""
        return (
            *(1.0, log_odds(self.support), log_odds(self.selected), log_odds(self.alone), log_odds(self.denial)),
            *map(float, (self.number, self.name, self.opposed, self.misplaced)),
            *(self.share, self.added, self.nearness),
        )


UNSTATED = 1 / 20
"""Highest odds of support with a number that stands nowhere: of some 700 such cases for fitting one in forty is
supported (SciFact rounds). An exact rule is not weighed against likeness."""

EVEN = 0.5
"""Share of supported claims that the table was fitted with."""

OUTCOMES = ("support", "denial")
SIGNS = (
    *("constant", "support", "selected", "alone", "denial", "number", "name", "opposed", "misplaced"),
    *("share", "added", "nearness"),
)


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
    if signs.number:
        odds[0] = min(odds[0], UNSTATED * (odds[1] + 1.0))
    total = sum(odds) + 1.0
    return SupportReading(odds[0] / total, odds[1] / total)


def log_odds(probability: float) -> float:
    """ln(p / (1 - p)), of a probability that is kept from 0 and 1."""
    kept = min(1 - CLIPPED, max(CLIPPED, probability))
    return log(kept / (1 - kept))
