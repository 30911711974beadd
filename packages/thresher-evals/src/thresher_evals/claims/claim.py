"""A printed claim, what was printed beside it, and what follows from that by calculation.

A number in print is rounded, so it stands for an interval: half a unit of its last digit to both sides. A claim agrees
when what is computed from the printed numbers rounds to it; where it does not, the interval says whether the unrounded
numbers may have agreed. All arithmetic is exact (fractions), so no verdict hangs on binary rounding.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from fractions import Fraction
from itertools import product
from typing import Any, Literal

Printed = str | int | None
"""A number as it was printed ("0.40" is rounded), a count (exact), or None for what was not printed."""

Relation = Literal["=", ">", ">="]

DIGITS_MORE = 2
"""Digits shown of a recomputed number beyond those of the claimed one, at least."""

SIGNS: Mapping[Relation, str] = {"=": "=", ">": ">", ">=": "≥"}


class Outcome(StrEnum):
    """What comes of computing a claim again."""

    AGREES = "agrees"
    DISAGREES = "does not agree"
    UNKNOWN = "cannot be computed from what is printed"


@dataclass(frozen=True, slots=True)
class Claim:
    """What a source says, as data: nothing in it is a result."""

    code: str
    """Number of the contradiction, as in docs/methods.md; V1 and so on for claims that are no part of one."""
    source: str
    """Document and place in it."""
    says: str
    """The claim in words."""
    inputs: Mapping[str, Printed]
    """What it is computed from, by the name in `formula`; a name reads as words with spaces for its underscores."""
    formula: str = ""
    """The calculation with the names of the inputs in braces, in the signs of print."""
    compute: Callable[..., Fraction] | None = None
    """The same calculation; takes the inputs by name. Monotone in each of them, so that corners bound it. None where an
    input was not printed."""
    claimed: str | int = 0
    """The number as it was printed, in `unit`; or the bound that the relation speaks of (an exact number)."""
    relation: Relation = "="
    unit: str = ""


@dataclass(frozen=True, slots=True)
class Finding:
    """A claim computed again; all but the outcome is None where something was not printed."""

    claim: Claim
    outcome: Outcome
    value: Fraction | None = None
    bounds: tuple[Fraction, Fraction] | None = None
    """The least and the most it may be, before the printed numbers were rounded."""
    possible: bool | None = None
    """Whether the claim may hold for numbers that round to the printed ones."""

    @property
    def wanted(self) -> str:
        """What the number must be for the claim to hold."""
        return f"{SIGNS[self.claim.relation]} {self.claim.claimed} {self.claim.unit}".rstrip()

    @property
    def arithmetic(self) -> str:
        """The calculation with the printed numbers in it and what comes of it, or what is missing for it."""
        inputs = self.claim.inputs
        if self.value is None:
            missing = ", ".join(name.replace("_", " ") for name, printed in inputs.items() if printed is None)
            return f"not printed: {missing}"
        return f"{self.claim.formula.format(**inputs)} = {self._shown(self.value)}"

    @property
    def verdict(self) -> str:
        """The outcome, and for a claim that does not agree whether rounding may explain it."""
        if self.outcome is not Outcome.DISAGREES or not self.possible or self.bounds is None:
            return str(self.outcome)
        low, high = map(self._shown, self.bounds)
        return f"{self.outcome} (possible before rounding: {low} to {high})"

    def to_dict(self) -> dict[str, Any]:
        """JSON form."""
        return {
            "code": self.claim.code,
            "source": self.claim.source,
            "claim": self.claim.says,
            "inputs": dict(self.claim.inputs),
            "relation": self.claim.relation,
            "claimed": self.claim.claimed,
            "unit": self.claim.unit,
            "arithmetic": self.arithmetic,
            "recomputed": None if self.value is None else float(self.value),
            "bounds": None if self.bounds is None else [float(bound) for bound in self.bounds],
            "verdict": str(self.outcome),
            "possible_before_rounding": self.possible,
        }

    def _shown(self, value: Fraction) -> str:
        printed = [number for number in self.claim.inputs.values() if number is not None]
        digits = max(decimals(self.claim.claimed) + DIGITS_MORE, *map(decimals, printed))
        return f"{float(value):.{digits}f}"


def recomputed(claim: Claim) -> Finding:
    """What comes of a claim."""
    printed = {name: value for name, value in claim.inputs.items() if value is not None}
    if claim.compute is None or len(printed) < len(claim.inputs):
        return Finding(claim, Outcome.UNKNOWN)
    value = claim.compute(**{name: Fraction(number) for name, number in printed.items()})
    corners = product(*map(interval, printed.values()))
    values = [claim.compute(**dict(zip(printed, corner, strict=True))) for corner in corners]
    bounds = min(values), max(values)
    agrees = _holds(claim, value)
    outcome = Outcome.AGREES if agrees else Outcome.DISAGREES
    return Finding(claim, outcome, value, bounds, agrees or _may_hold(claim, *bounds))


def _holds(claim: Claim, value: Fraction) -> bool:
    """Whether a number is what the claim wants."""
    match claim.relation:
        case "=":
            least, most = interval(claim.claimed)
            return least <= value <= most
        case ">":
            return value > Fraction(claim.claimed)
        case ">=":
            return value >= Fraction(claim.claimed)


def _may_hold(claim: Claim, low: Fraction, high: Fraction) -> bool:
    """Whether one of the numbers between `low` and `high` is what the claim wants."""
    if claim.relation != "=":
        return high > Fraction(claim.claimed)
    least, most = interval(claim.claimed)
    return low < most and least < high


def interval(printed: str | int) -> tuple[Fraction, Fraction]:
    """The numbers that are printed so: half a unit of the last digit to both sides; a count is itself."""
    number = Fraction(printed)
    half = Fraction(0) if isinstance(printed, int) else Fraction(1, 2 * 10 ** decimals(printed))
    return number - half, number + half


def decimals(printed: str | int) -> int:
    """Digits behind the point."""
    exponent = Decimal(printed).as_tuple().exponent
    assert isinstance(exponent, int)  # print knows no infinity
    return max(0, -exponent)
