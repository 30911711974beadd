"""Stretches of time: when a sentence says that something holds, and what time a question asks about.

>>> period_of("Until 30 June 2023 the fee was 25 euros.")
Period(start=None, end=datetime.date(2023, 6, 30))
>>> asked_time("What was the fee in 2022?")
Asked(rest='What was the fee?', period=Period(start=datetime.date(2022, 1, 1), end=datetime.date(2022, 12, 31)))
>>> asked_time("What is the current fee?")
Asked(rest='What is the fee?', period='now')
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Literal

from thresher.text.numbers import Date, quantities_and_dates, without_iso_dates

_POINTS = re.compile(r"\b(\d{1,2})\.(\d{1,2})\.((?:19|20)\d\d)\b")
"""A day in digits: 15.01.2024."""
_FROM = re.compile(
    r"\b(?:since|from|as of|with effect from|after|effective|starting|beginning):?(?: on)?(?: the)? ?$", re.I
)
_UNTIL = re.compile(r"(?:\b(?:until|till|up to|through|to)|[-–])(?: and including)?(?: the)? ?$", re.I)
_BEFORE = re.compile(r"\b(?:before|prior to|earlier than)(?: the)? ?$", re.I)
_AS_OF = re.compile(r"\bas of(?: the)? ?$", re.I)
_AT = re.compile(r"(?:\b(?:in|during|for|on|at|of|by)(?: the)? ?)?$", re.I)
_NOW = re.compile(r"\b(?:currently|current|now|today|nowadays|at present|at the moment|these days|latest)\b", re.I)
_THEN = re.compile(
    r"\b(?:before the (?:last |latest )?(?:change|revision|update|increase|cut)|previously|formerly|previous|former"
    r"|superseded|replaced|used to)\b",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Period:
    """From the first to the last day, both included; None for an open end."""

    start: date | None = None
    end: date | None = None

    def meets(self, other: Period) -> bool:
        """Whether both have a day in common."""
        pairs = ((self.start, other.end), (other.start, self.end))
        return all(start is None or end is None or start <= end for start, end in pairs)


@dataclass(frozen=True, slots=True)
class Asked:
    """The time that a question asks about, and the question without it."""

    rest: str
    period: Period | Literal["now", "before"] | None
    """`before` is what held before the last change; None where no time is named."""

    def allows(self, sentence: str, today: date) -> bool:
        """Whether a sentence does not say that it holds at other times alone."""
        if self.period is None or (stated := period_of(sentence)) is None:
            return True
        match self.period:
            case "now":
                return stated.meets(Period(today, today))
            case "before":
                return stated.end is not None and stated.end < today
            case period:
                return stated.meets(period)


def asked_time(question: str) -> Asked:
    """The time a question names: dates, what holds now, what held before."""
    text = _plain(question)
    dated = [*_dated(text, _AT)]
    if len(dated) == 1:
        ((period, start, end),) = dated
        return Asked(_without(text, start, end), period)
    if dated:
        return Asked(question, None)
    for form, when in ((_THEN, "before"), (_NOW, "now")):
        if found := form.search(text):
            return Asked(_without(text, *found.span()), when)  # type: ignore[arg-type]
    return Asked(question, None)


def period_of(sentence: str) -> Period | None:
    """When a sentence says that it holds: from a day, until a day, or both; None where it names none, or several."""
    periods = [period for period, *_ in _dated(_plain(sentence), None)]
    first = [period.start for period in periods if period.start]
    last = [period.end for period in periods if period.end]
    if not periods or len(first) > 1 or len(last) > 1:
        return None
    return Period(next(iter(first), None), next(iter(last), None))


def _dated(text: str, otherwise: re.Pattern[str] | None) -> Iterator[tuple[Period, int, int]]:
    """Each date with its lead as a period, and the span of both; `otherwise` leads to a date alone, None skips it."""
    for one in quantities_and_dates(text):
        if not isinstance(one, Date) or one.year is None:
            continue
        first, last = days_of(one)
        lead = text[: one.start]
        for form, period in (
            (_AS_OF if otherwise else None, Period(first, last)),
            (_FROM, Period(first)),
            (_UNTIL, Period(None, last)),
            (_BEFORE, Period(None, first - timedelta(days=1))),
            (otherwise, Period(first, last)),
        ):
            if form is not None and (found := form.search(lead)):
                yield period, found.start(), one.end
                break


def days_of(one: Date) -> tuple[date, date]:
    """The first and the last day of a date with a year."""
    assert one.year is not None
    first, last = (one.month or 1), (one.month or 12)
    return (
        date(one.year, first, min(one.day or 1, monthrange(one.year, first)[1])),
        date(one.year, last, min(one.day or 31, monthrange(one.year, last)[1])),
    )


def dates_in(text: str) -> list[tuple[date, int]]:
    """The first day of each date with a year, and where it stands in the text with its ISO dates in words."""
    found = quantities_and_dates(_plain(text))
    return [(days_of(one)[0], one.start) for one in found if isinstance(one, Date) and one.year is not None]


def _plain(text: str) -> str:
    return without_iso_dates(_POINTS.sub(lambda found: f"{found[3]}-{int(found[2]):02}-{int(found[1]):02}", text))


def _without(text: str, start: int, end: int) -> str:
    rest = " ".join(f"{text[:start]} {text[end:]}".split())
    return re.sub(r"\s+([?.!,])", r"\1", rest)


def written(day: date) -> str:
    """A day as people write it: 15 January 2024."""
    return f"{day.day} {day:%B} {day.year}"
