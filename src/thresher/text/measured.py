"""Which of two things has more of something: the question that is asked of each, and which of the numbers wins."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

_ADJECTIVES = {
    "longer": ("How long", True), "shorter": ("How long", False),
    "higher": ("How high", True), "lower": ("How high", False),
    "taller": ("How tall", True), "older": ("How old", True), "younger": ("How old", False),
    "larger": ("How large", True), "bigger": ("How large", True), "smaller": ("How large", False),
    "heavier": ("How heavy", True), "lighter": ("How heavy", False),
    "deeper": ("How deep", True), "wider": ("How wide", True),
    "cheaper": ("How much", False), "more expensive": ("How much", True),
}  # fmt: skip
"""What is asked of each thing, and whether the higher number wins."""

_SUMS = frozenset({"invoice", "bill", "order", "quote", "offer", "receipt"})
"""Of these the higher one has the higher total."""

_MORE = {"more": True, "fewer": False, "less": False}
_ADJECTIVE = "|".join(_ADJECTIVES)
_THINGS = r"(?P<one>[^,?]+?),? (?:or|and) (?P<two>.+)"
_WHICH = r"(?:which|who|what)(?: (?P<sort>(?!(?:is|are|was|were|has|have|had)\b)[\w-]+))?"
_HAS = rf"(?:has|have|had) (?:the |an? )?(?P<sign>more|fewer|less|{_ADJECTIVE}) (?P<aspect>[\w-]+(?: [\w-]+){{0,3}}?)"
_IS = rf"(?:is|are|was|were) (?:the )?(?P<sign>{_ADJECTIVE})(?P<when> (?:in|on|at|for|during) [\w ]+?)?"
_OF = r"(?:which|who) of (?:the two )?(?P<one>[^,?]+?) (?:and|or) (?P<two>[^,?]+?)"
_PATTERNS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"{_WHICH} {_HAS}[:,] {_THINGS}",
        rf"{_WHICH} {_IS}[:,] {_THINGS}",
        rf"{_OF} {_HAS}",
        rf"{_OF} {_IS}",
        rf"(?P<yes_or_no>is|are|was|were) the (?P<aspect>[\w-]+(?: [\w-]+){{0,3}}?) of (?P<one>.+?) "
        rf"(?P<sign>{_ADJECTIVE}) than (?:the (?P=aspect)|that|those) of (?P<two>.+)",
    )
)


@dataclass(frozen=True, slots=True)
class Measured:
    """What is asked of each of two things so that they can be compared."""

    things: tuple[str, str]
    questions: tuple[str, str]
    more: bool
    """Whether the thing with the higher number is the one that is meant."""
    yes_or_no: bool
    """Whether it is asked if the first is the one that is meant."""


@lru_cache(maxsize=256)
def measured(question: str) -> Measured | None:
    """How two things are to be measured for a question which of them has more; None for any other question."""
    text = " ".join(question.split()).rstrip(" ?!.")
    found = next((match for pattern in _PATTERNS if (match := pattern.fullmatch(text))), None)
    if found is None:
        return None
    named = found.groupdict()
    sign, aspect = named["sign"].lower(), named.get("aspect") or ""
    things = tuple(re.sub(r"^(?:either|that of) ", "", named[name].strip(" ,")) for name in ("one", "two"))
    if sign in _MORE:
        counted = aspect.split()[-1].endswith("s")
        ask = f"How many {aspect} does {{}} have?" if counted else f"How much {aspect} does {{}} have?"
        more = _MORE[sign]
    elif aspect:
        verb = "are" if aspect.endswith("s") else "is"
        ask, more = f"What {verb} the {aspect} of {{}}?", _ADJECTIVES[sign][1]
    else:
        (how, more), when = _ADJECTIVES[sign], named.get("when") or ""
        ask = f"How much does {{}} cost{when}?" if how == "How much" else f"{how} is {{}}{when}?"
        if (named.get("sort") or "").lower() in _SUMS:
            ask = "What is the total of {}?"
    one, two = things
    return Measured((one, two), (ask.format(one), ask.format(two)), more, bool(named.get("yes_or_no")))
