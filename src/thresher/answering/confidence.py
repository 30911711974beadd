"""How probable it is that something shown is right: one fitted table, a row for each kind of proposal."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from math import sqrt
from pathlib import Path

from thresher.types import logistic

TABLE = Path(__file__).parents[1] / "models" / "weights" / "certainty.json"
"""The table that comes with Thresher, written by `research/answer_certainty.py`."""

ENOUGH = 100
"""Observations from which a row counts as it was fitted; of fewer the lower bound of its interval counts at most."""

Z95 = 1.959964
"""Of a 95 % interval."""


@dataclass(frozen=True, slots=True)
class Signs:
    """What is known of a proposal; None for what does not apply to it."""

    relevance: float | None = None
    """Logit that the window around it answers the question."""
    whole: float | None = None
    """Logit of the judge that the passage, as it is shown, answers the question."""
    place: float | None = None
    """Logarithm of the probability of the span among all spans of its window."""
    terms: float | None = None
    """Share of the question's terms, weighted by rarity, that the text or what stands above it holds, 0 to 1."""
    sentence: float | None = None
    """The same of the sentence of the span."""
    uncovered: float | None = None
    """Names and numbers of the question that stand neither in the text nor above it, 3 at most."""

    def to_dict(self) -> dict[str, float]:
        """The signs that apply, by name, rounded for people."""
        values = ((one.name, getattr(self, one.name)) for one in fields(self))
        return {name: round(value, 3) for name, value in values if value is not None}


@dataclass(frozen=True, slots=True)
class Row:
    """A logistic regression over signs."""

    intercept: float
    n: int
    """Proposals that were read to fit it."""
    right: int
    """Of them, those that were right."""
    weights: Mapping[str, float] = field(default_factory=dict)
    """By the name of the sign; a sign that does not apply counts 0."""

    def probability(self, signs: Signs) -> float:
        """That a proposal is right, 0 to 1."""
        values = ((weight, getattr(signs, name)) for name, weight in self.weights.items())
        fitted = logistic(self.intercept + sum(weight * value for weight, value in values if value is not None))
        return fitted if self.n >= ENOUGH else min(fitted, self.lower_bound)

    @property
    def lower_bound(self) -> float:
        """Of Wilson's 95 % interval for the share that is right (Wilson 1927)."""
        if not self.n:
            return 0.0
        share, z = self.right / self.n, Z95
        middle = share + z * z / (2 * self.n)
        spread = z * sqrt(share * (1 - share) / self.n + z * z / (4 * self.n * self.n))
        return max(0.0, (middle - spread) / (1 + z * z / self.n))


@dataclass(frozen=True, slots=True)
class Confidence:
    """Probabilities that a passage holds the answer, that a span is the answer, and that a cell is."""

    passage: Row
    span: Row
    cell: Row

    @classmethod
    def load(cls, path: Path = TABLE) -> Confidence:
        """The fitted table of a file."""
        rows = json.loads(path.read_text(encoding="utf-8"))["rows"]
        keys = [one.name for one in fields(Row)]
        return cls(**{one.name: Row(**{key: rows[one.name][key] for key in keys}) for one in fields(cls)})
