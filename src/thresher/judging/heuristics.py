"""Named rules of thumb about a question and a chunk, without a model.

ChunkRAG (section 3) has a critic that "applies domain-specific heuristics (e.g., temporal consistency for
time-sensitive queries)" and says no more: what is here is not published. A heuristic is shown to a critic model as a
note.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from thresher.types import Hit, Query

_YEAR = r"(?<![\d.,$€£#-])(1\d{3}|20\d{2})(?!\d|[.,]\d|\s*%)"
_LAST = r"(1\d{3}|20\d{2})(?!\d)"
_BETWEEN = re.compile(rf"\bbetween\s+{_YEAR}\s+and\s+{_LAST}", re.IGNORECASE)
_RANGE = re.compile(rf"{_YEAR}\s*(?:-|–|to|until|till|through)\s*{_LAST}", re.IGNORECASE)
_DECADE = re.compile(r"(?<!\d)(1\d{2}0|20\d0)s\b")
_SINCE = re.compile(rf"\b(?:since|after)\s+{_YEAR}", re.IGNORECASE)
_UNTIL = re.compile(rf"\b(?:before|until|till|up to)\s+{_YEAR}", re.IGNORECASE)
_ONE = re.compile(_YEAR)
_RECENCY = re.compile(
    r"\b(?:latest|newest|most recent|recent|recently|current|currently|today|nowadays|right now|this year)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Finding:
    """What a heuristic has to say about a chunk, for people and models."""

    name: str
    note: str


Heuristic = Callable[[Query, Hit], Finding | None]
"""None when the heuristic has nothing to say."""


def temporal(query: Query, hit: Hit) -> Finding | None:
    """The years the question asks for beside those the chunk names; None when either names none.

    Recency ("latest", "currently") counts from the date of the asking.
    """
    periods = periods_of(query.question, query.today)
    years = years_of(f"{hit.chunk.title}\n{hit.chunk.text}")
    if not periods or not years:
        return None
    named = ", ".join(str(year) for year in years)
    return Finding("temporal", f"years in question: {', '.join(periods)}; years in chunk: {named}")


def periods_of(question: str, today: str = "") -> list[str]:
    """The periods a question names, in words, in order of kind: ranges, decades, since, until, single years, recency.

    Recency needs `today` (ISO 8601) and counts only where no year is named: "the current champion in 2019" asks for
    2019.
    """
    found: list[str] = []

    def take(pattern: re.Pattern[str], period: Callable[[re.Match[str]], str]) -> None:
        nonlocal question
        found.extend(period(match) for match in pattern.finditer(question))
        question = pattern.sub(" ", question)  # a year that stands in a range is not also a year by itself

    for both in (_BETWEEN, _RANGE):
        take(both, lambda match: f"{match[1]} to {match[2]}")
    take(_DECADE, lambda match: f"{match[1]}s")
    take(_SINCE, lambda match: f"from {match[1]} on")
    take(_UNTIL, lambda match: f"up to {match[1]}")
    take(_ONE, lambda match: match[1])
    recency = _RECENCY.search(question)
    if not found and recency and today:
        found.append(f"{recency[0].lower()} (today is {today[:10]})")
    return found


def years_of(text: str) -> list[int]:
    """The years a text names, 1000 to 2099, each once, in order; a decade counts as its years."""
    decades = [year for match in _DECADE.finditer(text) for year in range(int(match[1]), int(match[1]) + 10)]
    ranges = [year for match in _RANGE.finditer(text) for year in (int(match[1]), int(match[2]))]
    years = [int(match[1]) for match in _ONE.finditer(_DECADE.sub(" ", text))]
    return sorted({*decades, *ranges, *years})
