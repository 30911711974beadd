"""Questions about what is recent, and words that say when (CRAG guide, query rewriting)."""

from __future__ import annotations

import re
from datetime import date, timedelta

MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)

LAST_MONTH = "last month"
"""The guide's own words, where today's date is not known."""

_RECENT = re.compile(
    r"""\b(?: recent(?:ly)? | latest | newest | currently | nowadays | today(?:'s|’s)? | yesterday | tonight
    | up[- ]to[- ]date | these\ days | right\ now | as\ of\ now | just\ (?:announced|released|published) | so\ far
    | (?:this|last|past)\ (?:week|month|year|quarter|decade)
    | (?:the|'s|’s|its|his|her|their|our|your|my|most|who\ is|what\ is)\ current\ (?!in\b|of\b|through\b|that\b)\w+
    | (?:is|are|has|have)\ now )\b""",
    re.IGNORECASE | re.VERBOSE,
)
"""`current` counts only before a noun and after a determiner (the current president, not direct current); `news` and
`new` do not count: Fox News, New York."""

_MONTH = "|".join([*MONTHS, *(month[:3] for month in MONTHS), "Sept"])
_WHEN = re.compile(
    rf"""\b(?: (?:1[5-9]|20)\d\d(?:s)? | (?:{_MONTH})\.?,?\ \d{{1,4}} | \d{{1,2}}\.?\ (?:{_MONTH})
    | (?:January|February|April|June|July|August|September|October|November|December)
    | (?:this|last|past|previous|next)\ (?:\w+\ )?(?:day|week|month|year|quarter|decade|century)s?
    | today | yesterday | tonight | (?:since|until)\ \w+ )\b""",
    re.IGNORECASE | re.VERBOSE,
)
"""`May` and `March` alone are words like others; with a day or a year they are months."""

_FILLER = re.compile(r"\b(?:most\s+)?recent(?:ly)?\b\s*", re.IGNORECASE)


def implies_recency(question: str) -> bool:
    """Whether a question asks for what is recent."""
    return _RECENT.search(question) is not None


def says_when(words: str) -> bool:
    """Whether words hold an expression of time that a search engine can use: `recent` is none, a month is."""
    return _WHEN.search(words) is not None


def month_before(today: str) -> str:
    """The month before an ISO 8601 date, with its year; "last month" where the date cannot be read."""
    try:
        end = date.fromisoformat(today[:10]).replace(day=1) - timedelta(days=1)
    except ValueError:
        return LAST_MONTH
    return f"{MONTHS[end.month - 1]} {end.year}"


def with_time(words: str, *, question: str, today: str, most: int | None = None) -> str:
    """The words, with the month before today where the question implies recency and they do not say when.

    `recent AI news` becomes `AI news` and a month: the month stands for "recent". At most `most` words in all.
    """
    if not implies_recency(question) or says_when(words):
        return words
    when = month_before(today).split()
    kept = (_FILLER.sub("", words).strip() or words).split()
    return " ".join([*(kept if most is None else kept[: most - len(when)]), *when])
