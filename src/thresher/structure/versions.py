"""Times: when a sentence and a version of a document hold, and which of them a question asks about.

A newer version says that it replaces the older one, by its title or date; or both bear one title and say from when
they are in force ("Valid from 1 March 2022"). Reports on two years are no versions, whatever they are dated.

>>> period_of("Until 30 June 2023 the fee was 25 euros.")
Period(start=None, end=datetime.date(2023, 6, 30))
>>> asked_time("What was the fee in 2022?")
AskedTime(rest='What was the fee?', period=Period(start=datetime.date(2022, 1, 1), end=datetime.date(2022, 12, 31)))
>>> asked_time("What is the current fee?")
AskedTime(rest='What is the fee?', period='now')
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from itertools import pairwise
from typing import Literal

from thresher.text.numbers import Date, quantities_and_dates, without_iso_dates
from thresher.text.sentences import Span, sentence_spans
from thresher.text.terms import term_set
from thresher.types import Document

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
class AskedTime:
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


def asked_time(question: str) -> AskedTime:
    """The time a question names: dates, what holds now, what held before."""
    text = plain_dates(question)
    dated = [*_dated(text, _AT)]
    if len(dated) == 1:
        ((period, start, end),) = dated
        return AskedTime(_without(text, start, end), period)
    if dated:
        return AskedTime(question, None)
    for form, when in ((_THEN, "before"), (_NOW, "now")):
        if found := form.search(text):
            return AskedTime(_without(text, *found.span()), when)  # type: ignore[arg-type]
    return AskedTime(question, None)


def period_of(sentence: str) -> Period | None:
    """When a sentence says that it holds: from a day, until a day, or both; None where it names none, or several."""
    periods = [period for period, *_ in _dated(plain_dates(sentence), None)]
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
    found = quantities_and_dates(plain_dates(text))
    return [(days_of(one)[0], one.start) for one in found if isinstance(one, Date) and one.year is not None]


def plain_dates(text: str) -> str:
    """A text with its dates in digits (15.01.2024, 2024-01-15) in words."""
    return without_iso_dates(_POINTS.sub(lambda found: f"{found[3]}-{int(found[2]):02}-{int(found[1]):02}", text))


def _without(text: str, start: int, end: int) -> str:
    rest = " ".join(f"{text[:start]} {text[end:]}".split())
    return re.sub(r"\s+([?.!,])", r"\1", rest)


def written(day: date) -> str:
    """A day as people write it: 15 January 2024."""
    return f"{day.day} {day:%B} {day.year}"


# --- versions of a document -------------------------------------------------------------------------------------------

OPENING_CHARACTERS = 1_500
"""Characters in which a document says from when it holds and what it replaces."""

_REPLACES = re.compile(r"\b(?:replac|supersed|amend|repeal|instead of)\w*", re.IGNORECASE)
_IN_FORCE = re.compile(r"\b(?:effective|in effect|valid|in force|appl(?:y|ies|icable)|version)\b", re.IGNORECASE)
_EDITION = re.compile(r"\b(?:v(?:ersion)?\.? ?\d[\d.]*|\d[\d./-]*)", re.IGNORECASE)
"""What tells the titles of two versions apart."""

COMPARED_CHARACTERS = 50_000
"""Characters of two documents with one title by which it is decided whether they are versions of one another."""

ALIKE = 0.5
"""Least share of common terms of two versions with one title: the minutes of two meetings share fewer."""


@dataclass(frozen=True, slots=True)
class Version:
    """A document with the days on which it is in force."""

    document: Document
    period: Period
    stated: bool = True
    """Whether it says so; a date among its properties may be that of a report."""
    where: Span | None = None
    """The sentence that says so."""
    superseded: date | None = None
    """The first day of the next version."""

    @property
    def since(self) -> date:
        """Its first day."""
        assert self.period.start is not None
        return self.period.start

    @property
    def days(self) -> str:
        """When it is in force, for people: from 1 March 2022 until 14 January 2024."""
        end = "" if self.period.end is None else f" until {written(self.period.end)}"
        return f"from {written(self.since)}{end}"


def version_of(document: Document) -> Version | None:
    """The days from which, and up to which, a document says that it is in force; else those from its own date on."""
    for name, value in document.metadata.items():
        if _IN_FORCE.search(name.replace("_", " ")) and (day := next(iter(dates_in(str(value))), None)) is not None:
            return Version(document, Period(day[0]))
    head = document.text[: min(OPENING_CHARACTERS, document.card)]
    for start, end in sentence_spans(head):
        opening = _REPLACES.split(head[start:end])[0]
        if _IN_FORCE.search(opening):
            period = period_of(opening) or next((Period(day) for day, _ in dates_in(opening)), None)
            if period is not None and period.start is not None:
                return Version(document, period, where=(start, end))
    dated = dates_in(document.date or "")
    return Version(document, Period(dated[0][0]), stated=False) if dated else None


def versions_of(documents: Iterable[Document]) -> list[list[Version]]:
    """The documents that are versions of one another, each group from the oldest to the newest."""
    known = [version for one in documents if (version := version_of(one)) is not None]
    groups: list[list[Version]] = []
    for one in sorted(known, key=lambda version: (version.since, version.document.id)):
        if group := next((group for group in groups if _follows(one, group[-1])), None):
            group.append(one)
        else:
            groups.append([one])
    return [_ended(group) for group in groups if len(group) > 1]


def are_versions(one: Document, other: Document) -> bool:
    """Whether one of two documents is a later version of the other."""
    return bool(versions_of((one, other)))


def _ended(group: Sequence[Version]) -> list[Version]:
    ended = []
    for one, following in pairwise(group):
        last = following.since - timedelta(days=1)
        period = Period(one.since, min(last, one.period.end or last))
        ended.append(replace(one, period=period, superseded=following.since))
    return [*ended, group[-1]]


def _follows(newer: Version, older: Version) -> bool:
    if newer.since <= older.since:
        return False
    if _replaces(newer, older):
        return True
    if not (newer.stated and older.stated):
        return False
    one, other = newer.document, older.document
    titles = [term_set(_EDITION.sub(" ", without_iso_dates(each.title))) for each in (one, other)]
    if not titles[0] or titles[0] != titles[1]:
        return False
    ours, theirs = (term_set(_EDITION.sub(" ", each.text[:COMPARED_CHARACTERS])) for each in (one, other))
    return len(ours & theirs) >= ALIKE * len(ours | theirs)


def _replaces(newer: Version, older: Version) -> bool:
    """Whether the newer document says that it replaces the older one, by its title, or by its date and most of it."""
    head = newer.document.text[:OPENING_CHARACTERS]
    own, titled = (term_set(_EDITION.sub(" ", one.document.title)) for one in (newer, older))
    whole = term_set(older.document.title) if newer.document.title != older.document.title else frozenset()
    for start, end in sentence_spans(head):
        for replaced in _REPLACES.split(head[start:end], maxsplit=1)[1:]:
            dated = any(day == older.since for day, _ in dates_in(replaced))
            if dated and 2 * len(titled & (own | term_set(replaced))) > len(titled):
                return True
            if whole and whole <= term_set(replaced):
                return True
    return False


@dataclass(frozen=True, slots=True)
class Timed:
    """Which documents of some evidence answer at the time that a question asks about."""

    versions: Mapping[str, Version]
    """Of the documents that have other versions."""
    answering: frozenset[str]
    """Of them those that are in force at the time."""
    today: date
    question: str
    """What is asked of them, without the time where that says which of them answer."""

    def mark(self, id_: str) -> str:
        """The days of a version, and since when it is superseded, for people; "" for a document without versions."""
        if (version := self.versions.get(id_)) is None:
            return ""
        return f"in force {version.days}" + (f", {since}" if (since := self._superseded(version)) else "")

    def other_time(self, id_: str) -> str:
        """Since when a version is superseded, or its days, where another one is in force at the time; "" elsewhere."""
        if id_ not in self.versions or id_ in self.answering:
            return ""
        return self._superseded(self.versions[id_]) or self.mark(id_)

    def _superseded(self, version: Version) -> str:
        gone = version.superseded is not None and version.superseded <= self.today
        return f"superseded since {written(version.superseded)}" if gone and version.superseded else ""


def timed(asked: AskedTime, documents: Iterable[Document], today: date) -> Timed:
    """Of each document with other versions the one that is in force at the time asked about; else the newest one."""
    groups = versions_of(documents)
    answering = {one.document.id for group in groups for one in _at(asked, group, today)}
    versions = {one.document.id: one for group in groups for one in group}
    return Timed(versions, frozenset(answering), today, asked.rest)


def _at(asked: AskedTime, group: Sequence[Version], today: date) -> Sequence[Version]:
    begun = [one for one in group if one.since <= today] or list(group[:1])
    match asked.period:
        case None | "now":
            return begun[-1:]
        case "before":
            return begun[-2:-1]
        case period:
            found = [one for one in group if one.period.meets(period)]
            return found if period.start and period.end else found[-1:]
