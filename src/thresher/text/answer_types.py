"""The type of answer that a question asks for, and whether an answer is of that type."""

from __future__ import annotations

import re
from typing import Literal

from thresher.text.entities import names_in
from thresher.text.numbers import CURRENCIES, MONTHS, SCALES, UNITS, Date, quantities_and_dates, without_iso_dates
from thresher.text.terms import index_terms

AnswerType = Literal["person", "time", "place", "number", ""]
"""Empty for what may be anything."""

_ASKING: tuple[tuple[AnswerType, re.Pattern[str]], ...] = (
    (
        "number",
        re.compile(r"\bhow (?:many|much|old|tall|long|far|large|big|high|deep|fast|often|heavy)\b", re.IGNORECASE),
    ),
    ("number", re.compile(r"\bwhat (?:number|percentage|percent|share|fraction|proportion) of\b", re.IGNORECASE)),
    ("time", re.compile(r"\b(?:when|(?:what|which) (?:year|date|day|month|century|decade))\b", re.IGNORECASE)),
    ("place", re.compile(r"\b(?:where|(?:what|which) (?:city|country|state|place|town|county))\b", re.IGNORECASE)),
    ("person", re.compile(r"\b(?:who|whom|whose)\b", re.IGNORECASE)),
)
_MEASURES = (
    r"(?:accurac(?:y|ies)|scores?|rates?|ratio|f1|bleu|rouge|perplexity|recall|precision|exact match|percentages?|"
    r"proportion|fraction|salary|population|budget|dropout|errors?|speedup|height)"
)
_MEASURED = re.compile(
    rf"(?:\w+ )?(?:what|which)(?: [\w.+%@#-]+){{0,4}}? {_MEASURES} (?:did|does|do|can|could|would|has|have)\b.* "
    r"(?:reach|reached|get|gets|achieve|achieved|obtain|attain|have|use|used|need|require|report|yield|score|scored)\b"
    rf"|(?:what|which)(?: is| was|'s| are| were) (?:the|its|their)(?: [\w.+%-]+){{0,3}}? {_MEASURES} "
    r"(?:of|for|on|in|at|used|to)\b",
    re.IGNORECASE,
)
"""Measures whose value is a number: of 160 such questions to passages that people wrote, 97 % have one for answer; of
sizes, lengths, weights and prices, which may be large or free, 60 to 85 %."""

_CLOCK = re.compile(
    r"\b(?:\d{1,2}:\d\d|\d{1,2} ?[ap]\.?m\b|morning|noon|afternoon|evening|midnight|century|\d{4}s)", re.IGNORECASE
)


def answer_type(question: str) -> AnswerType:
    """The type of answer that the first question word asks for."""
    found = [(match.start(), kind) for kind, pattern in _ASKING if (match := pattern.search(question))]
    return min(found)[1] if found else ""


def asks_for_figure(question: str) -> bool:
    """Whether a question asks for a measure that is a number: "What accuracy did it reach?"."""
    return _MEASURED.match(question.strip()) is not None


_HEADS: tuple[tuple[re.Pattern[str], str, re.Pattern[str]], ...] = (
    (
        re.compile(r"(?:[\w ]+, )?(?:in )?how many\b", re.IGNORECASE),
        "how many",
        re.compile(
            r"\d|\b(?:no|none|nobody|never|without|all|both|every|each|any|several|many|most|few|some|unlimited|dozens?|"
            r"hundreds?|thousands?|millions?|half|third|quarter|minority|majority|pair|single|once|twice|alone|only)\b",
            re.IGNORECASE,
        ),
    ),
    (
        re.compile(
            r"(?:(?:in )?(?:what|which) year|(?:when|(?:(?:at|on) )?(?:what|which) (?:time|day|date|month)) "
            r"(?:is|was|are|were|did|does|do|has|have|had|will|can))\b"
            r"(?!.*,.*\b(?:who|what|which|where|how)\b)",
            re.IGNORECASE,
        ),
        "when",
        re.compile(
            r"(?<![\d.])\d{3,4}s?(?![\d.]*\d)|\d[:.]\d\d\b|\d(?:st|nd|rd|th)\b|\d ?[ap]\.?m\b|\b(?:bce?|ad|ce)\b|"
            r"\b(?:\d+|first|second|third|\w+th|last|following|same)[ -](?:working |business |calendar )?"
            r"(?:seconds?|minutes?|hours?|days?|nights?|weeks?|months?|quarters?|years?)\b|"
            r"\b(?:day|week|month|year) \d|"
            r"\b(?:before|after|between|until|till|since|when|while|once|during|if|upon|by|ago|always|never|later|earlier|"
            r"next|as soon|immediately|season|edition|episode|daytime|period|half|career|life|age|point|times?|morning|"
            r"at (?:the )?(?:start|end|beginning|night)|spring|summer|autumn|fall|winter|century|"
            r"yesterday|today|tomorrow|\w+day|january|february|march|april|may|june|july|august|september|october|"
            r"november|december)s?\b",
            re.IGNORECASE,
        ),
    ),
)
"""What a question begins with, what it asks for, and what an answer to it has in it."""


def missing_answer(question: str, answer: str) -> str:
    """What a question asks for and an answer in English does not state: "how many" or "when"; "" if it may state it.

    Of 4,584 such questions to passages (SQuAD, Natural Questions, policies, COVID-QA: the training rows) it rejects the
    answering sentence in 30; of 996 that their passage does not answer, the nearest sentence in 199. With ordinals of
    days, weeks and so on ("from the eighth day") 13 of 81 rejected answers to "when" stand, and 4 of 460 others.
    """
    for begins, asked, says in _HEADS:
        figures = (one for one in quantities_and_dates(answer) if asked == "how many" or isinstance(one, Date))
        if begins.match(question.strip()) and not says.search(answer) and next(figures, None) is None:
            return asked
    return ""


_NAMES = re.compile(
    r"(?:(?:and|in|at|from|to|by|on|for|with) )?(?:where|who|whom|whose|(?:what|which) (?:city|country|place|town))\b",
    re.IGNORECASE,
)
_DAY = re.compile(r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b", re.IGNORECASE)


def asks_for_name(question: str) -> bool:
    """Whether a question begins by asking who or where: for a person, a body or a place."""
    return _NAMES.match(question.strip()) is not None


def is_figure(text: str) -> bool:
    """Whether a text is nothing but numbers with their units, dates, days and times: no person and no place."""
    text = _DAY.sub("0", _CLOCK.sub("0", without_iso_dates(text)))
    left = list(text)
    for one in quantities_and_dates(text):
        left[one.start : one.end] = " " * (one.end - one.start)
    words = re.findall(r"[^\W_]+", "".join(left).lower())
    known = UNITS.keys() | SCALES.keys() | CURRENCIES.keys() | MONTHS.keys()
    rest = [word for word in words if word not in known and word.removesuffix("s") not in known]
    has_figure = any(map(str.isdigit, text)) or not MONTHS.keys().isdisjoint(words)
    return has_figure and not index_terms(" ".join(rest))


def is_of_type(answer: str, kind: AnswerType) -> bool | None:
    """Whether an answer is of a type; None for the empty type. Names and places are recognised by their capitals."""
    match kind:
        case "person" | "place":
            return bool(names_in(f"by {answer}"))  # what stands at the beginning may have a capital for that alone
        case "time":
            return bool(_CLOCK.search(answer)) or any(isinstance(one, Date) for one in quantities_and_dates(answer))
        case "number":
            return bool(quantities_and_dates(answer))
        case _:
            return None
