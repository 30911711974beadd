"""Versions of one document: which of them is in force at the time that a question asks about.

A newer version says that it replaces the older one, by its title or date; or both bear one title and say from when
they are in force ("Valid from 1 March 2022"). Reports on two years are no versions, whatever they are dated.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from itertools import pairwise

from thresher.text.numbers import without_iso_dates
from thresher.text.periods import Asked, Period, dates_in, period_of, written
from thresher.text.sentences import Span, sentence_spans
from thresher.text.terms import term_set
from thresher.types import Document

HEAD = 1_500
"""Characters in which a document says from when it holds and what it replaces."""

_REPLACES = re.compile(r"\b(?:replac|supersed|amend|repeal|instead of)\w*", re.IGNORECASE)
_IN_FORCE = re.compile(r"\b(?:effective|in effect|valid|in force|appl(?:y|ies|icable)|version)\b", re.IGNORECASE)
_EDITION = re.compile(r"\b(?:v(?:ersion)?\.? ?\d[\d.]*|\d[\d./-]*)", re.IGNORECASE)
"""What tells the titles of two versions apart."""

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
    head = document.text[: min(HEAD, document.card)]
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
        ended.append(replace(one, period=Period(one.since, min(last, one.period.end or last))))
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
    ours, theirs = (term_set(_EDITION.sub(" ", each.text)) for each in (one, other))
    return bool(titles[0]) and titles[0] == titles[1] and len(ours & theirs) >= ALIKE * len(ours | theirs)


def _replaces(newer: Version, older: Version) -> bool:
    """Whether the newer document says that it replaces the older one, by its date or its title."""
    head = newer.document.text[:HEAD]
    titled = term_set(older.document.title) if newer.document.title != older.document.title else frozenset()
    for start, end in sentence_spans(head):
        for replaced in _REPLACES.split(head[start:end], maxsplit=1)[1:]:
            if any(day == older.since for day, _ in dates_in(replaced)) or (titled and titled <= term_set(replaced)):
                return True
    return False


@dataclass(frozen=True, slots=True)
class Timed:
    """Which documents of some evidence answer at the time that a question asks about."""

    versions: Mapping[str, Version]
    """Of the documents that have other versions."""
    answering: frozenset[str]
    """Of them those that are in force at the time."""


def timed(asked: Asked, documents: Iterable[Document], today: date) -> Timed:
    """Of each document with other versions the one that is in force at the time asked about; else the newest one."""
    groups = versions_of(documents)
    answering = {one.document.id for group in groups for one in _at(asked, group, today)}
    return Timed({one.document.id: one for group in groups for one in group}, frozenset(answering))


def _at(asked: Asked, group: Sequence[Version], today: date) -> Sequence[Version]:
    begun = [one for one in group if one.since <= today] or list(group[:1])
    match asked.period:
        case None | "now":
            return begun[-1:]
        case "before":
            return begun[-2:-1]
        case period:
            found = [one for one in group if one.period.meets(period)]
            return found if period.start and period.end else found[-1:]
