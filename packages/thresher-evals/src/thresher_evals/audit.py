"""The claims audit: the sources' claims computed again from their printed numbers (claims.json). No result is typed in.

A printed number is rounded and stands for an interval: half a unit of its last digit to both sides. A claim agrees if
the value computed from the printed numbers rounds to it; otherwise the interval shows whether the unrounded numbers may
agree. Arithmetic is exact (fractions).
"""

from __future__ import annotations

import ast
import json
import operator
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any, Literal

Printed = str | int | None
"""A number as printed ("0.40" is rounded), an exact count, or None if it is not printed."""

Relation = Literal["=", ">", ">="]

EXTRA_DIGITS = 2  # least number of digits shown beyond those of the claimed number
COLUMNS = ("code", "source", "claim", "must be", "recomputed", "verdict")

OPERATORS: Mapping[type[ast.operator], Callable[[Fraction, Fraction], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}
FUNCTIONS: Mapping[str, Callable[..., Any]] = {"max": max, "min": min, "round": round}


class Outcome(StrEnum):
    """Result of computing a claim again."""

    AGREES = "agrees"
    DISAGREES = "does not agree"
    UNKNOWN = "cannot be computed from what is printed"


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim of a source as data, without results."""

    code: str
    """Number of the contradiction in docs/methods.md; V1 and so on for other claims."""
    source: str
    claim: str
    inputs: Mapping[str, Printed]
    """Name in `formula` to printed number; in print, underscores of a name become spaces."""
    formula: str = ""
    """The calculation in printed signs, names in braces; monotone in each of them, so that corners bound it."""
    claimed: str | int = 0
    """The printed number in `unit`, or the exact bound of the relation."""
    relation: Relation = "="
    unit: str = ""

    def compute(self, inputs: Mapping[str, Fraction]) -> Fraction:
        """The value of the formula."""
        signs = str.maketrans({"×": "*", "−": "-", "^": "**", "{": "", "}": ""})
        return evaluated(ast.parse(self.formula.translate(signs), mode="eval").body, inputs)

    def may_hold(self, low: Fraction, high: Fraction) -> bool:
        """Whether a value from `low` to `high` may satisfy the claim; an interval must overlap by more than an end."""
        if self.relation == "=":
            least, most = interval(self.claimed)
            return least <= low <= most if low == high else low < most and least < high
        bound = Fraction(self.claimed)
        return high > bound or (self.relation == ">=" and low == high == bound)


@dataclass(frozen=True, slots=True)
class Finding:
    """A claim computed again; all but the outcome is None if an input is not printed."""

    claim: Claim
    outcome: Outcome
    value: Fraction | None = None
    bounds: tuple[Fraction, Fraction] | None = None
    """Least and greatest value for unrounded inputs."""
    possible: bool | None = None
    """Whether the claim may hold for inputs that round to the printed ones."""

    @property
    def arithmetic(self) -> str:
        """The calculation with printed numbers and its value, or the missing inputs."""
        if self.value is None:
            missing = [name.replace("_", " ") for name, printed in self.claim.inputs.items() if printed is None]
            return f"not printed: {', '.join(missing)}"
        return f"{self.claim.formula.format(**self.claim.inputs)} = {self._shown(self.value)}"

    @property
    def verdict(self) -> str:
        """The outcome, and whether rounding may explain a disagreement."""
        if self.outcome is not Outcome.DISAGREES or not self.possible or self.bounds is None:
            return str(self.outcome)
        low, high = map(self._shown, self.bounds)
        return f"{self.outcome} (possible before rounding: {low} to {high})"

    @property
    def cells(self) -> tuple[str, ...]:
        """The cells under `COLUMNS`."""
        claim = self.claim
        wanted = f"{claim.relation.replace('>=', '≥')} {claim.claimed} {claim.unit}".rstrip()
        return claim.code, claim.source, claim.claim, wanted, self.arithmetic, self.verdict

    def to_dict(self) -> dict[str, Any]:
        """JSON form."""
        names = ("code", "source", "claim", "inputs", "relation", "claimed", "unit")
        return {name: getattr(self.claim, name) for name in names} | {
            "arithmetic": self.arithmetic,
            "recomputed": None if self.value is None else float(self.value),
            "bounds": None if self.bounds is None else [float(bound) for bound in self.bounds],
            "verdict": str(self.outcome),
            "possible_before_rounding": self.possible,
        }

    def _shown(self, value: Fraction) -> str:
        printed = [number for number in self.claim.inputs.values() if number is not None]
        digits = max(decimals(self.claim.claimed) + EXTRA_DIGITS, *map(decimals, printed))
        return f"{float(value):.{digits}f}"


def recompute(claim: Claim) -> Finding:
    """Compute a claim again."""
    printed = {name: number for name, number in claim.inputs.items() if number is not None}
    if not claim.formula or len(printed) < len(claim.inputs):
        return Finding(claim, Outcome.UNKNOWN)
    value = claim.compute({name: Fraction(number) for name, number in printed.items()})
    corners = product(*map(interval, printed.values()))
    values = [claim.compute(dict(zip(printed, corner, strict=True))) for corner in corners]
    bounds = min(values), max(values)
    agrees = claim.may_hold(value, value)
    outcome = Outcome.AGREES if agrees else Outcome.DISAGREES
    return Finding(claim, outcome, value, bounds, agrees or claim.may_hold(*bounds))


def evaluated(node: ast.expr, inputs: Mapping[str, Fraction]) -> Fraction:
    """The exact value of a formula: names, numbers, + - * / ** and a few functions. Raises ValueError for others."""
    match node:
        case ast.Name(id=name):
            return inputs[name]
        case ast.Constant(value=int() | float() as number):
            return Fraction(str(number))
        case ast.BinOp(left=left, op=sign, right=right):
            return Fraction(OPERATORS[type(sign)](evaluated(left, inputs), evaluated(right, inputs)))
        case ast.Call(func=ast.Name(id=name), args=arguments):
            return Fraction(FUNCTIONS[name](*(evaluated(one, inputs) for one in arguments)))
    raise ValueError(f"a formula has no {ast.unparse(node)}")


def interval(printed: str | int) -> tuple[Fraction, Fraction]:
    """The numbers that print like this: half a unit of the last digit to both sides; a count is exact."""
    number = Fraction(printed)
    half = Fraction(0) if isinstance(printed, int) else Fraction(1, 2 * 10 ** decimals(printed))
    return number - half, number + half


def decimals(printed: str | int) -> int:
    """Digits after the point."""
    exponent = Decimal(printed).as_tuple().exponent
    assert isinstance(exponent, int)  # printed numbers are finite
    return max(0, -exponent)


# --- all claims -------------------------------------------------------------------------------------------------------


def read_claims() -> list[Claim]:
    """The claims of the five sources that arithmetic can check, by source."""
    return [Claim(**one) for one in json.loads(Path(__file__).with_name("claims.json").read_text(encoding="utf-8"))]


def audit() -> list[Finding]:
    """Every claim computed again, in order."""
    return [recompute(claim) for claim in read_claims()]


def summary(findings: Sequence[Finding]) -> dict[str, int]:
    """Numbers of claims, of each outcome, and of disagreements that rounding may explain."""
    counts = Counter(finding.outcome for finding in findings)
    rounded = sum(bool(finding.possible) for finding in findings if finding.outcome is Outcome.DISAGREES)
    verdicts = {str(outcome): counts[outcome] for outcome in Outcome}
    return {"claims": len(findings), **verdicts, "possible_before_rounding": rounded}


def summary_sentence(findings: Sequence[Finding]) -> str:
    """The summary in words."""
    counts = summary(findings)
    return (
        f"{counts['claims']} claims: {counts[Outcome.AGREES]} agree, {counts[Outcome.DISAGREES]} do not "
        f"({counts['possible_before_rounding']} of them may have, before the printed numbers were rounded), "
        f"{counts[Outcome.UNKNOWN]} cannot be computed from what is printed."
    )


def markdown() -> str:
    """The text of docs/audit.md."""
    findings = audit()
    head, *lines = (f"| {' | '.join(row)} |" for row in (COLUMNS, *(finding.cells for finding in findings)))
    return PAGE.format(summary=summary_sentence(findings), table="\n".join([head, "|---" * len(COLUMNS) + "|", *lines]))


PAGE = """# Claims audit

<!-- Made by thresher_evals.audit.markdown(); `thresher eval audit` prints the same table. -->

What the sources claim, computed again from the numbers that they print. A claim agrees when what is computed
rounds to the claimed number. A printed number is itself rounded: where a claim does not agree, the last
column says whether it may have for numbers that round to the printed ones. Codes continue those of
[methods.md](methods.md), which has the readings that were chosen; V marks further claims.

{summary}

{table}
"""
