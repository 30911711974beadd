"""The numbers and dates a text states, so that twelve, 12 and 12.0 or 7,000 and 7 thousand are one and the same.

`missing_quantity` asks whether another text states them, `agree` whether two values of the same thing can both be
true: with their rounding, an "about", an "at least" or a "before".
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise, product
from typing import Literal

# --- words ------------------------------------------------------------------------------------------------------------

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
LONGEST_IN_WORDS = 30
"""Words of the longest number that is read in words."""
CURRENCIES = {"$": "dollar", "€": "euro", "£": "pound", "usd": "dollar", "eur": "euro", "gbp": "pound"}
"""What stands before an amount."""

_MONTHS = "January February March April May June July August September October November December".split()  # noqa: SIM905
MONTHS = {form.lower(): number for number, month in enumerate(_MONTHS, start=1) for form in (month, month[:3])}
YEARS = range(1000, 2101)
"""Four digits within these are a year by themselves, unless a unit says that they are something else."""

HEDGED = 0.1
"""An "about 300" says everything from 270 to 330."""

Bound = Literal["", "about", "at least", "at most", "between"]
"""What the words around a number make of it; one end of a range ("between") says nothing alone."""


def _before(*bounds: tuple[Bound, str]) -> list[tuple[Bound, re.Pattern[str]]]:
    """Words or marks that stand before a number, past an article and a currency."""
    end = r")\s*(?:(?:an?|the)\s+)?[$€£]?\s*$"
    return [(bound, re.compile(rf"(?:\b(?:{words}{end}", re.IGNORECASE)) for bound, words in bounds]


_ABOUT = r"about|around|approximately|approx\.?|roughly|nearly|almost|circa|ca?\.?|some|estimated)|[~≈]"
_RANGE = r"than|between|from|between\s\S+\sand|\d+\s+to)|[-–]"
_BEFORE_QUANTITY = _before(
    ("about", _ABOUT),
    ("at least", r"at least|(?:no|not) (?:less|fewer) than|(?<!no )(?<!not )more than|over|above|exceeding)|[>≥]"),
    ("at most", r"at most|(?:no|not) more than|(?<!no )(?<!not )(?:less|fewer) than|under|below|up to)|[<≤]"),
    ("between", _RANGE),
)
_BEFORE_DATE = _before(
    ("about", _ABOUT), ("at least", "after|since)|[>≥]"), ("at most", "before|until|till|by)|[<≤]"), ("between", _RANGE)
)
_BEHIND: list[tuple[Bound, re.Pattern[str]]] = [
    ("at least", re.compile(r"\s*(?:\+|plus\b|(?:\w+ )?(?:or|and) (?:more|over|above|older|longer)\b)", re.IGNORECASE)),
    ("at most", re.compile(r"\s*(?:\w+ )?(?:or|and) (?:less|fewer|under|below|younger|shorter)\b", re.IGNORECASE)),
    ("between", re.compile(r"\s*[-–]\s*\d|\s+to\s+[$€£]?\d", re.IGNORECASE)),
]
_LOOK_BACK = 30
"""Characters before a number in which the words stand that bound it."""

# --- what is found ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Quantity:
    """One number: the `values` it can mean, in canonical digits, and the unit behind it; "" for none we know."""

    values: tuple[str, ...]
    unit: str = ""
    spelled: bool = False
    bound: Bound = ""
    step: float = 1.0
    """How exactly the first value is given: 0.1 for 26.3, 100,000 for 1.2 million."""
    start: int = 0
    end: int = 0
    """Where its digits and scale stand in the text, end exclusive."""

    @property
    def is_article(self) -> bool:
        """Whether it may be none: "one" is often a pronoun."""
        return self.spelled and self.values == ("1",)


@dataclass(frozen=True, slots=True)
class Date:
    """A day, a month of a year, a day of any year, or a year."""

    year: int | None
    month: int | None = None
    day: int | None = None
    bound: Bound = ""
    start: int = 0
    end: int = 0


_ISO_DATE = re.compile(r"\b(\d{4})-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])\b")
_DAY = r"(?:0?[1-9]|[12]\d|3[01])(?:st|nd|rd|th)?\b"
_MONTH = rf"(?:{'|'.join(f'{month[:3]}(?:{month[3:]})?' for month in _MONTHS)}|Sept)\b\.?"
_MONTH_DATE = re.compile(
    rf"\b(?:(?P<day>{_DAY})\s+(?:of\s+)?)?(?P<month>{_MONTH})(?:\s+(?P<day_behind>{_DAY}))?"
    r"(?:,?\s+(?P<year>1\d{3}|20\d\d)\b)?"
)
_THOUSANDS = re.compile(r",(?=\d{3}(?!\d))")
_DIGITS = r"\d+(?:[.,]\d+)*"
# Digits behind a letter are part of a name (CO2, GPT-4).
_PART = re.compile(
    rf"(?P<name>[^\W\d_]+-?\d\w*)|(?P<digits>\d+(?:\.\d+)?e[-−+]?\d\d?\b|{_DIGITS})|(?P<word>[^\W\d_]+)|(?P<sign>[%°])|(?P<stop>[^\s\-])"
)


def quantities(text: str) -> list[Quantity]:
    """The numbers of a text in order, in digits and in words; offsets are in `without_iso_dates(text)`."""
    text = without_iso_dates(text)
    parts = list(_PART.finditer(text))
    found: list[Quantity] = []
    at = 0
    while at < len(parts):
        read = _in_digits(parts, at) or _in_words(parts, at)
        if read is None:
            at += 1
            continue
        last, values, step, spelled = read
        start, end = parts[at].start(), parts[last].end()
        unit = _unit(parts, last + 1) or (CURRENCIES.get(parts[at - 1].group().lower(), "") if at else "")
        found.append(Quantity(values, unit, spelled, _bound(text, start, end, _BEFORE_QUANTITY), step, start, end))
        at = last + 1
    return found


def quantities_and_dates(text: str) -> list[Quantity | Date]:
    """The same, with dates instead of their numbers."""
    text = without_iso_dates(text)
    found: list[Quantity | Date] = []
    for match in _MONTH_DATE.finditer(text):
        day, year = match["day"] or match["day_behind"], match["year"]
        if day or year:  # a month by itself is a name as often: May, March, August
            month = MONTHS[match["month"][:3].lower()]
            parts = (int(year) if year else None, month, int(day.strip("stndrh")) if day else None)
            found.append(Date(*parts, _bound(text, *match.span(), _BEFORE_DATE), *match.span()))
    within_dates = {at for each in found for at in range(each.start, each.end)}
    for each in (one for one in quantities(text) if one.start not in within_dates):
        digits, start, end = text[each.start : each.end], each.start, each.end
        alone = re.fullmatch(r"\d{4}", digits) and not text[end : end + 1].isalpha()
        is_year = alone and int(digits) in YEARS and not each.unit
        bound = _bound(text, start, end, _BEFORE_DATE)
        found.append(Date(int(digits), None, None, bound, start, end) if is_year else each)
    return sorted(found, key=lambda each: each.start)


def without_iso_dates(text: str) -> str:
    """The text with its ISO dates in words: 1947-03-05 as 5 March 1947."""
    return _ISO_DATE.sub(lambda iso: f"{int(iso[3])} {_MONTHS[int(iso[2]) - 1]} {iso[1]}", text)


def numbers_in(text: str) -> set[str]:
    """The numbers a text states in digits, 7,000 as 7000."""
    return {quantity.values[0] for quantity in quantities(text) if not quantity.spelled}


def numbers_stated(text: str) -> set[str]:
    """Every number a text can be taken to state, in digits, in words, as an ordinal."""
    also = {str(ALSO_SAY[word]) for word in re.findall(r"[a-z]+", text.lower()) if word in ALSO_SAY}
    return {value for quantity in quantities(text) for value in quantity.values} | also


def missing_quantity(claim: str, evidence: str) -> str:
    """The first number of the claim, no "one", that the evidence lacks or states of another unit; "" for none.

    A bound or a hedge is stated by any number within it: "more than 300" by 309, "before 2020" by 2019.
    """
    units_of: dict[str, set[str]] = {}
    for stated in quantities(evidence):
        for value in stated.values:
            units_of.setdefault(value, set()).add(stated.unit)
    values = numbers_stated(evidence)
    within = _within_bounds(claim, evidence)
    for quantity in quantities(claim):
        if quantity.is_article or quantity.start in within:
            continue
        if values.isdisjoint(quantity.values):
            return _written(quantity)
        units = {unit for value in quantity.values for unit in units_of.get(value, ())}
        if quantity.unit and units and not units & {quantity.unit, ""}:
            return _written(quantity)
    return ""


def _within_bounds(claim: str, evidence: str) -> set[int]:
    """Where the numbers of a claim begin that bound or hedge what the evidence states of the same unit."""
    stated = quantities_and_dates(evidence)
    found: set[int] = set()
    for one in quantities_and_dates(claim):
        alike = (other for other in stated if type(other) is type(one) and _unit_of(other) == _unit_of(one))
        if one.bound in ("about", "at least", "at most") and any(agree(one, other) for other in alike):
            found.update(range(one.start, one.end))
    return found


def _unit_of(value: Quantity | Date) -> str:
    return value.unit if isinstance(value, Quantity) else ""


def foreign_number(claim: str, evidence: str) -> str:
    """The first number of a claim whose digits the evidence has nowhere, whatever separates them: 6,7 is 6.7."""
    digits = re.compile(_DIGITS)
    held = {re.sub(r"[.,]", "", number) for number in digits.findall(evidence)}
    return next((number for number in digits.findall(claim) if re.sub(r"[.,]", "", number) not in held), "")


# --- two values of the same thing -------------------------------------------------------------------------------------


def agree(one: Quantity | Date, other: Quantity | Date) -> bool:
    """Whether both can be true of the same thing; a number and a date can."""
    if isinstance(one, Date) and isinstance(other, Date):
        return _dates_agree(one, other)
    if isinstance(one, Date) or isinstance(other, Date) or "between" in (one.bound, other.bound):
        return True
    return any(_near(one, first, other, second) for first, second in product(one.values, other.values))


def _dates_agree(one: Date, other: Date) -> bool:
    if {"about", "between"} & {one.bound, other.bound}:
        return True
    if (one.bound or other.bound) and one.year and other.year:
        return _overlap(one.bound, one.year, other.bound, other.year)
    pairs = ((one.year, other.year), (one.month, other.month), (one.day, other.day))
    return bool(one.bound or other.bound) or all(a is None or b is None or a == b for a, b in pairs)


def _near(one: Quantity, first: str, other: Quantity, second: str) -> bool:
    """Whether two readings are as near as their rounding, hedges and bounds allow."""
    try:
        (a, step), (b, other_step) = _with_step(one, first), _with_step(other, second)
    except ValueError:  # 1.2.3 and the like
        return first == second
    slack = max(step, other_step) / 2 if step != other_step else 0.0
    if "about" in (one.bound, other.bound):
        slack = max(slack, HEDGED * max(abs(a), abs(b)))
    return _overlap(one.bound, a, other.bound, b, slack)


def _with_step(quantity: Quantity, value: str) -> tuple[float, float]:
    first, read = (float(digits.replace(",", ".")) for digits in (quantity.values[0], value))
    return read, quantity.step * (read / first if first else 1.0)


def _overlap(bound: Bound, a: float, other_bound: Bound, b: float, slack: float = 0.0) -> bool:
    """Whether what the bounds leave open has a value in common."""
    too_low = a < b - slack and bound != "at least" and other_bound != "at most"
    too_high = a > b + slack and bound != "at most" and other_bound != "at least"
    return not too_low and not too_high


# --- reading ----------------------------------------------------------------------------------------------------------

NumberRead = tuple[int, tuple[str, ...], float, bool]
"""The last part of a number, its values, its step, whether it is spelled."""


def _in_digits(parts: Sequence[re.Match[str]], at: int) -> NumberRead | None:
    digits = parts[at]["digits"]
    if not digits:
        return None
    if "e" in digits:  # 5e-5
        digits = f"{Decimal(digits.replace('−', '-')):f}"
    value, plain = canonical(digits), _THOUSANDS.sub("", digits).replace(",", ".")
    step = 10.0 ** -len(plain.partition(".")[2]) if plain.count(".") == 1 else 1.0
    if value.endswith("000"):  # 450,000 is as likely rounded as counted
        step = 10.0 ** (len(value) - len(value.rstrip("0")))
    word = (parts[at + 1]["word"] or "") if at + 1 < len(parts) else ""
    if scale := SCALES.get(word.lower()):
        return at + 1, (_times(value, scale),), step * scale, False
    if word in GLUED and parts[at + 1].start() == parts[at].end():
        return at + 1, (value, _times(value, GLUED[word])), step, False
    return at, (value,), step, False


def _in_words(parts: Sequence[re.Match[str]], at: int) -> NumberRead | None:
    """Two hundred and fifty thousand: parts add up below a scale, a scale multiplies what stands before it."""
    if (parts[at]["word"] or "").lower() not in NUMBER_WORDS:
        return None
    words = [(part["word"] or "").lower() for part in parts[at : at + LONGEST_IN_WORDS]]
    total = current = 0
    last = at - 1
    for word, following in pairwise([*words, "", ""]):
        if word in NUMBER_WORDS:
            current += NUMBER_WORDS[word]
        elif word == "hundred":
            current *= SCALES[word]
        elif word in SCALES:
            total, current = total + current * SCALES[word], 0
        elif not (word == "and" and current % 100 == 0 and following in NUMBER_WORDS):
            break
        last += 1
    return last, (str(total + current),), 1.0, True


def _bound(text: str, start: int, end: int, before: list[tuple[Bound, re.Pattern[str]]]) -> Bound:
    lead = text[max(0, start - _LOOK_BACK) : start]
    bounds = [bound for bound, pattern in before if pattern.search(lead)]
    bounds += [bound for bound, pattern in _BEHIND if pattern.match(text, end)]
    return bounds[0] if bounds else ""


def _unit(parts: Sequence[re.Match[str]], at: int) -> str:
    """The unit that begins at a place: %, per cent, ° C, kilometres."""
    words = [part.group().lower() for part in parts[at : at + 2]]
    decade = words[:1] == ["s"] and parts[at].start() == parts[at - 1].end() and len(parts[at - 1].group()) == 4
    if not words or decade:
        return ""
    pair = "".join(words)
    if pair == "percent" or words[0] == "%":
        return "%"
    return UNITS.get(pair if words[0] == "°" else words[0]) or UNITS.get(words[0].removesuffix("s"), "")


def canonical(digits: str) -> str:
    """Digits without thousands separators, leading zeros and a fraction of zeros."""
    plain = _THOUSANDS.sub("", digits)
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


def _written(quantity: Quantity) -> str:
    return quantity.values[0] + ("%" if quantity.unit == "%" else f" {quantity.unit}" if quantity.unit else "")
