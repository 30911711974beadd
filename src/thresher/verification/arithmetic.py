"""Numbers that a text does not state but that follow from numbers it states: a difference, a share, a sum, a mean."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations

from thresher.text.numbers import SCALES, Quantity, canonical, numbers_stated, quantities, without_iso_dates

MOST_OPERANDS = 6
"""Numbers that are computed with: of more, some two give nearly any number."""

_WRITTEN = re.compile(r"(?P<digits>[\d.,]*\d)\s*(?P<scale>[^\W\d_]*)")


@dataclass(frozen=True, slots=True)
class Computed:
    """A claim without the numbers that follow from others, and how each of them follows."""

    claim: str
    computations: tuple[str, ...] = ()
    """E.g. "24.6 − 17.9 = 6.7"."""


@dataclass(frozen=True, slots=True)
class _Number:
    """A number as it is written: 6.7 million is 6.7 and 1,000,000, exact to 0.1."""

    digits: float
    scale: float
    step: float
    percent: bool

    def value(self, *, scaled: bool) -> float:
        return self.digits * self.scale if scaled else self.digits


def computed(claim: str, evidence: str, asked: str = "") -> Computed:
    """The claim without the numbers that follow from numbers which the evidence states and the claim or question names.

    Among all numbers of a table some two nearly always give the claimed one, so only named numbers are operands. A
    number follows to the precision it is written with; one without a scale may have that of the others.
    """
    evidence = without_iso_dates(evidence)
    claim = _with_scales(without_iso_dates(claim), evidence)
    stated = numbers_stated(evidence)
    missing: list[tuple[Quantity, _Number]] = []
    operands: list[_Number] = []
    for text in (claim, without_iso_dates(asked)):
        for quantity in quantities(text):
            if (number := _number(text, quantity)) is None:
                continue
            if not stated.isdisjoint(quantity.values) or canonical(f"{number.digits:f}") in stated:
                operands.append(number)
            elif text is claim:
                missing.append((quantity, number))
    operands = list(dict.fromkeys(operands))
    shown: list[str] = []
    for quantity, number in reversed(missing if 2 <= len(operands) <= MOST_OPERANDS else []):
        if computation := _computation(number, operands):
            shown.insert(0, computation)
            claim = claim[: quantity.start] + claim[quantity.end :]
    return Computed(claim, tuple(shown))


def _with_scales(claim: str, evidence: str) -> str:
    """The claim with its one scale repeated after each of its numbers: "from 17.9 to 24.6 million"."""
    numbers = [_number(claim, quantity) for quantity in quantities(claim)]
    scales = {number.scale for number in numbers if number} - {1.0}
    held = {(each.digits, each.scale) for one in quantities(evidence) if (each := _number(evidence, one))}
    for quantity, number in reversed(list(zip(quantities(claim), numbers, strict=True))):
        if number is None or number.scale != 1.0 or (number.digits, 1.0) in held:
            continue
        for word in (word for word, scale in SCALES.items() if scale in scales and (number.digits, scale) in held):
            claim = f"{claim[: quantity.end]} {word}{claim[quantity.end :]}"
            break
    return claim


def _number(text: str, quantity: Quantity) -> _Number | None:
    """None for a number in words and for what is none (1.2.3)."""
    written = _WRITTEN.match(text, quantity.start)
    if quantity.spelled or written is None:
        return None
    try:
        digits = float(canonical(written["digits"]))
    except ValueError:
        return None
    scale = float(SCALES.get(written["scale"].lower(), 1))
    return _Number(digits, scale, quantity.step / scale, quantity.unit == "%")


def _computation(wanted: _Number, operands: Sequence[_Number]) -> str:
    """The first computation whose result is the number; "" for none."""
    alike = len({number.scale for number in (wanted, *operands)}) == 1
    for scaled in (False,) if alike else (True, False):
        values = [operand.value(scaled=scaled) for operand in operands]
        unit = wanted.scale if scaled else 1.0
        for result, written in _results(values, percent=wanted.percent):
            if abs(result / unit - wanted.digits) <= wanted.step / 2 * (1 + 1e-6):
                return f"{written} = {_plain(wanted.value(scaled=scaled))}{'%' if wanted.percent else ''}"
    return ""


def _results(values: Sequence[float], *, percent: bool) -> Iterator[tuple[float, str]]:
    pairs = [(one, other) for one, other in permutations(values, 2) if one and other]
    for one, other in pairs:
        a, b = _plain(one), _plain(other)
        if percent:
            yield 100 * abs(one - other) / other, f"({_plain(max(one, other))} − {_plain(min(one, other))}) / {b}"
            yield 100 * one / other, f"{a} / {b}"
        else:
            yield one / other, f"{a} / {b}"
        yield one - other, f"{a} − {b}"
    every = " + ".join(map(_plain, values))
    yield sum(values), every
    yield sum(values) / len(values), f"({every}) / {len(values)}"
    for one, other in pairs:
        yield one + other, f"{_plain(one)} + {_plain(other)}"


def _plain(value: float) -> str:
    return f"{value:.10g}"
