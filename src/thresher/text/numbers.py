"""The numbers a text states, so that twelve, 12 and 12.0 or 7,000 and 7 thousand are one and the same."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

_SPELLED = """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
seventeen eighteen nineteen twenty"""
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_ORDINALS = "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth"

NUMBER_WORDS = {word: number for number, word in enumerate(_SPELLED.split())} | {
    word: 10 * number for number, word in enumerate(_TENS.split(), start=2)
}

ALSO_SAY = {word: number for number, word in enumerate(_ORDINALS.split(), start=1)} | {
    **{"single": 1, "once": 1, "both": 2, "pair": 2, "couple": 2, "twice": 2, "double": 2, "triple": 3, "dozen": 12},
    **{"half": 50, "quarter": 25, "century": 100, "decade": 10},
}
"""Words by which evidence supports a number; in a claim they are no number that would have to be supported."""

SCALES = {"hundred": 10**2, "thousand": 10**3, "million": 10**6, "billion": 10**9, "bn": 10**9, "trillion": 10**12}
GLUED = {"k": 10**3, "K": 10**3, "M": 10**6, "B": 10**9, "bn": 10**9}
"""110M is 110 million among parameters and 110 of something elsewhere: both readings are tried."""

_UNITS = """%: % percent percentage pct
km: km kilometre kilometer; m: m metre meter; cm: cm centimetre centimeter; mm: mm millimetre millimeter
mile: mile mi; foot: foot feet ft; inch: inch inches; kg: kg kilogram kilo; g: g gram; mg: mg milligram; µg: µg μg mcg
tonne: tonne ton; pound: pound lb lbs; second: second sec s; minute: minute min; hour: hour hr h; day: day; week: week
month: month; year: year yr; °C: °c celsius; °F: °f fahrenheit; dollar: dollar usd; euro: euro eur"""
UNITS = {
    word: unit.strip()
    for line in re.split(r"[;\n]", _UNITS)
    for unit, words in [line.split(":")]
    for word in words.split()
}

_MONTHS = "January February March April May June July August September October November December".split()  # noqa: SIM905
_ISO_DATE = re.compile(r"\b(\d{4})-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])\b")
_DIGITS = r"\d+(?:[.,]\d+)*"
# Digits behind a letter are part of a name (CO2, GPT-4).
_PART = re.compile(
    rf"(?P<name>[^\W\d_]+-?\d\w*)|(?P<digits>{_DIGITS})|(?P<word>[^\W\d_]+)|(?P<sign>[%°])|(?P<stop>[^\s\-])"
)


@dataclass(frozen=True, slots=True)
class Quantity:
    """One number: the `values` it can mean, in canonical digits, and the unit behind it; "" for none we know."""

    values: tuple[str, ...]
    unit: str = ""
    spelled: bool = False


def quantities(text: str) -> list[Quantity]:
    """The numbers of a text in order, in digits and in words."""
    parts = list(_PART.finditer(_ISO_DATE.sub(_spelled_date, text)))
    found: list[Quantity] = []
    at = 0
    while at < len(parts):
        if parts[at]["digits"]:
            quantity, at = _in_digits(parts, at)
            found.append(quantity)
        elif (parts[at]["word"] or "").lower() in NUMBER_WORDS:
            quantity, at = _in_words(parts, at)
            found.append(quantity)
        else:
            at += 1
    return found


def numbers_in(text: str) -> set[str]:
    """The numbers a text states in digits, 7,000 as 7000."""
    return {quantity.values[0] for quantity in quantities(text) if not quantity.spelled}


def numbers_stated(text: str) -> set[str]:
    """Every number a text can be taken to state, in digits, in words, as an ordinal."""
    also = {str(ALSO_SAY[word]) for word in re.findall(r"[a-z]+", text.lower()) if word in ALSO_SAY}
    return {value for quantity in quantities(text) for value in quantity.values} | also


def missing_quantity(claim: str, evidence: str) -> str:
    """The first number of the claim that the evidence does not state, or states of another unit; "" for none.

    A spelled one is often a pronoun and is not asked for.
    """
    stated = quantities(evidence)
    values = numbers_stated(evidence)
    for quantity in quantities(claim):
        if quantity.spelled and quantity.values == ("1",):
            continue
        if not values & set(quantity.values):
            return _written(quantity)
        units = {other.unit for other in stated if set(other.values) & set(quantity.values)}
        if quantity.unit and units and not units & {quantity.unit, ""}:
            return _written(quantity)
    return ""


def _in_digits(parts: Sequence[re.Match[str]], at: int) -> tuple[Quantity, int]:
    """The number at a place and the place behind it."""
    value = canonical(parts[at]["digits"])
    behind = parts[at + 1] if at + 1 < len(parts) else None
    word = (behind["word"] or "") if behind else ""
    if word.lower() in SCALES:
        values: tuple[str, ...] = (_times(value, SCALES[word.lower()]),)
        return Quantity(values, _unit(parts, at + 2)), at + 2
    if behind and word in GLUED and behind.start() == parts[at].end():
        return Quantity((value, _times(value, GLUED[word])), _unit(parts, at + 2)), at + 2
    return Quantity((value,), _unit(parts, at + 1)), at + 1


def _in_words(parts: Sequence[re.Match[str]], at: int) -> tuple[Quantity, int]:
    """Two hundred and fifty thousand: parts add up below a scale, a scale multiplies what stands before it."""
    total = current = 0
    while at < len(parts):
        word = (parts[at]["word"] or "").lower()
        following = (parts[at + 1]["word"] or "").lower() if at + 1 < len(parts) else ""
        if word in NUMBER_WORDS:
            current += NUMBER_WORDS[word]
        elif word == "hundred":
            current *= SCALES[word]
        elif word in SCALES:
            total, current = total + current * SCALES[word], 0
        elif not (word == "and" and current % 100 == 0 and following in NUMBER_WORDS):
            break
        at += 1
    return Quantity((str(total + current),), _unit(parts, at), spelled=True), at


def _unit(parts: Sequence[re.Match[str]], at: int) -> str:
    """The unit that begins at a place: %, per cent, ° C, kilometres."""
    words = [part.group().lower() for part in parts[at : at + 2]]
    if not words:
        return ""
    pair = "".join(words)
    if pair == "percent" or words[0] == "%":
        return "%"
    return UNITS.get(pair if words[0] == "°" else words[0]) or UNITS.get(words[0].removesuffix("s"), "")


def canonical(digits: str) -> str:
    """Digits without thousands separators, leading zeros and a fraction of zeros."""
    plain = re.sub(r",(?=\d{3}(?!\d))", "", digits)
    if plain.count(".") > 1 and re.fullmatch(r"\d{1,3}(?:\.\d{3})+", plain):
        plain = plain.replace(".", "")
    if plain.count(".") == 1:
        plain = plain.rstrip("0").rstrip(".")
    return plain.lstrip("0") or "0" if plain.isdigit() else plain


def _times(value: str, scale: int) -> str:
    """`value` times `scale` without the rounding of binary fractions."""
    whole, _, fraction = value.partition(".")
    zeros = len(str(scale)) - 1
    if not (whole + fraction).isdigit():
        return value
    if len(fraction) > zeros:
        return canonical(f"{whole}{fraction[:zeros]}.{fraction[zeros:]}")
    return canonical(whole + fraction.ljust(zeros, "0"))


def _spelled_date(date: re.Match[str]) -> str:
    year, month, day = date.groups()
    return f"{int(day)} {_MONTHS[int(month) - 1]} {year}"


def _written(quantity: Quantity) -> str:
    return quantity.values[0] + ("%" if quantity.unit == "%" else f" {quantity.unit}" if quantity.unit else "")
