"""Dates as documents write them, to ISO 8601."""

from __future__ import annotations

import re
from datetime import date, datetime
from email.utils import parsedate_to_datetime

ISO = re.compile(r"(\d{4})(?:-(\d{2})(?:-(\d{2})(?:[T ].*)?)?)?")
COMPACT = re.compile(r"(?:D:)?(\d{4})(\d{2})(\d{2})(?:\d{6}.*)?")  # PDF
WRITTEN = ("%d %b %Y", "%d %B %Y", "%B %d, %Y", "%b %d, %Y", "%B %d %Y", "%b %d %Y", "%Y/%m/%d", "%B %Y", "%b %Y")


def iso_date(value: str) -> str | None:
    """`2021-04-12`, or `2021-04` or `2021` where no more is said; None for what is no date.

    The day as the document states it, in its own time zone; day and month in figures only (3/4/2021) are not guessed.
    """
    value = " ".join(value.split())
    found = ISO.fullmatch(value) or COMPACT.fullmatch(value)
    if found:
        return _checked(*found.groups())
    for form in WRITTEN:
        try:
            parsed = datetime.strptime(value, form)
        except ValueError:
            continue
        return parsed.strftime("%Y-%m-%d" if "%d" in form else "%Y-%m")
    if not re.match(r"(?:[A-Z][a-z]{2},? )?\d{1,2} [A-Z][a-z]{2}", value):
        return None
    try:
        return parsedate_to_datetime(value).date().isoformat()
    except (ValueError, TypeError, IndexError):
        return None


def _checked(year: str, month: str | None, day: str | None) -> str | None:
    try:
        date(int(year), int(month or 1), int(day or 1))
    except ValueError:
        return None
    if int(year) < 1000:
        return None
    return "-".join(part for part in (year, month, day) if part)
