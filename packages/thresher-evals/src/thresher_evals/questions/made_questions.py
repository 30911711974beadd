"""Makes questions from sentences with a gap: what asks for a number, a date or a name stands in its place.

`The Wren was built by who in 2019?` Clozes after Lewis, Denoyer and Riedel 2019, who also drop and reorder words. A
question names its document if it names nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from thresher.text.entities import names_in, whole_names
from thresher.text.numbers import MONTHS, Date, Quantity, quantities_and_dates, without_iso_dates
from thresher.text.sentences import Span, sentence_spans
from thresher.text.terms import STOP_WORDS, index_terms

Kind = Literal["date", "number", "name", "table", "field"]


@dataclass(frozen=True, slots=True)
class Made:
    """A question, its answer in the text's words, and the offsets of its sentence, row or line."""

    question: str
    brief: str
    """The question with the words next to its gap alone: with all of them it scores higher than people's do."""
    answer: str
    kind: Kind
    start: int
    end: int
    subject: str
    """What it asks about, in words of the question; empty if it names the document instead."""


MOST_WORDS = 30
"""Longest question; people ask no longer ones."""
FEWEST_WORDS = 4
LEAST_TERMS = 2
"""Content words around a gap: one fits anywhere."""
CLAUSE = 5
"""Fewest words of a clause that is asked without its sentence."""
AROUND = 8
"""Most words of a brief question beside what asks (docs/decisions.md)."""
MOST_ANSWER = 30
"""Longest answer, in words."""

Gap = tuple[int, int, str, Kind]
"""Start and end of an answer, what asks for it, and its kind."""

_ASIDE = re.compile(r"\s*[(\[][^()\[\]]*[)\]]")
_LEANS = re.compile(
    r"(?:it|they|he|she|its|their|his|her|and|but|or)\b|.*(?:\b(?:this|these|those|such|above|below|following|former|"
    r"latter|respectively|figure|fig|table|section|appendix|chapter|page|eq|et al)\b|[?=<>|{}\[\]•†‡~^*_\\]|https?:)",
    re.IGNORECASE,
)
"""A sentence that needs its context, or is none."""
_CLAUSE = re.compile(r"[,;:] | [–—-] ")
_MONEY = {"dollar", "euro", "pound"}
_PERSON = re.compile(r"[A-Z][a-z]+(?: [A-Z]\.)*(?: [A-Z][a-z]+)+")
_JOINED = r"(?:of|the|and|de|von|for|&)"
_PART_OF_NAME = re.compile(rf"[’'/-]|,? {_JOINED}(?: the)? [A-Z]| [A-Z0-9]")
_PART_BEFORE = re.compile(rf"(?:[’'/-]|[A-Z][\w-]* {_JOINED}(?: the)? )$")
_NO_NUMBER = re.compile(r"\s[A-Z]\S*\s$|\S$")
_NUMBER_ENDS = re.compile(r"[ %]|[.,;:]?(?: |$)")
"""A number behind a name, or joined to letters or signs, is a part of a name or a code."""


def sentence_questions(text: str, title: str) -> Iterator[Made]:
    """Questions answered by the sentences of a text; `title` is the name of its subject, or empty."""
    for span in sentence_spans(text):
        stands = " ".join(text[slice(*span)].split())
        sentence = _ASIDE.sub("", stands)
        if not _declares(sentence):
            continue
        sentence = without_iso_dates(sentence).rstrip(".!")
        for start, end, asks, kind in _gaps(sentence):
            left, right, answer = sentence[:start], sentence[end:], sentence[start:end]
            brief = _brief(left, asks, right)
            names = list(_names(brief)) or list(_names(f"{left}{asks}{right}"))
            subject = max((name for _, name in names), key=len, default="")
            once = sentence.count(answer) == 1 and answer in stands
            if once and len(index_terms(f"{left} {right}")) >= LEAST_TERMS:
                made = whole(f"{left}{asks}{right}", answer, kind, span, title, subject=subject, brief=brief)
                if made is not None:
                    yield made


def _brief(left: str, asks: str, right: str) -> str:
    """The `AROUND` words nearest to a gap, of its clause unless that is short."""
    near = _CLAUSE.split(left)[-1], _CLAUSE.split(right)[0]
    if len(" ".join(near).split()) < CLAUSE or len(index_terms(" ".join(near))) < LEAST_TERMS:
        near = left, right
    before, behind = (side.split() for side in near)
    first = max(AROUND // 2, AROUND - len(behind))
    return " ".join([*before[-first:], asks, *behind[: max(AROUND // 2, AROUND - len(before))]])


def whole(asked: str, answer: str, kind: Kind, span: Span, title: str, *, subject: str, brief: str = "") -> Made | None:
    """The question, with its document if its subject has no name; None if it is unclear or contains its answer."""
    answer = answer.strip(" ,.;:“”\"'")
    named = bool(names_in(f"on {subject}"))
    if not named and not title:
        return None
    question = _asked(asked, "" if named else title)
    near = bool(subject) and subject in brief
    short = _asked(brief, "" if near else title) if brief and (near or title) else question
    told = set(index_terms(answer)) <= set(index_terms(f"{question} {short}"))
    open_ = any(question.count(one) != question.count(other) for one, other in ("“”", "()", "[]"))
    long = not FEWEST_WORDS <= len(question.split()) <= MOST_WORDS or len(answer.split()) > MOST_ANSWER
    if told or long or open_ or question.count('"') % 2:
        return None
    return Made(question, short, answer, kind, *span, subject if named else "")


def _asked(words: str, title: str) -> str:
    """A question with a capital, or behind the title of its document."""
    words = words.strip(" ,.;:?")
    first = words.split(" ", 1)[0]
    if not title:
        return f"{words[0].upper()}{words[1:]}?"
    return f"In “{title}”, {first.lower() if first.lower() in STOP_WORDS else first}{words[len(first) :]}?"


def _declares(sentence: str) -> bool:
    """Whether a sentence stands by itself and is running text."""
    words = sentence.split()
    small = sum(word.islower() for word in words)
    ends = sentence[:1].isupper() and sentence.endswith((".", "!"))
    short = len(words) <= MOST_WORDS + MOST_ANSWER
    return ends and short and 4 * small >= len(words) and not _LEANS.match(sentence)


def _gaps(sentence: str) -> Iterator[Gap]:
    """The numbers, dates and names of a sentence that can be asked for."""
    within_dates = set[int]()
    for one in quantities_and_dates(sentence):
        if isinstance(one, Date):
            yield one.start, one.end, _date(one), "date"
            within_dates.update(range(one.start, one.end))
        elif (number := _number(sentence, one)) is not None:
            yield number
    for start, name in _names(sentence):
        if start not in within_dates:
            who = _PERSON.fullmatch(name) and sentence[:start].endswith("by ")
            yield start, start + len(name), "who" if who else "what", "name"


def _names(text: str) -> Iterator[tuple[int, str]]:
    """Where the names of a text begin, and they, without those that are joined to another: Court of Justice."""
    for name in whole_names(text):
        start = text.find(name)
        part = _PART_OF_NAME.match(text, start + len(name)) or _PART_BEFORE.search(text[:start])
        if not part and name.lower() not in MONTHS:
            yield start, name


def _date(one: Date) -> str:
    return "what year" if one.month is None else "what month" if one.day is None else "what date"


def _number(sentence: str, one: Quantity) -> Gap | None:
    """The gap of a number with its unit, if any; None for a part of a word, a code or a name."""
    before, behind = sentence[: one.start], sentence[one.end :]
    start = one.start - (before[-1:] in tuple("£$€"))
    if one.is_article or _NO_NUMBER.search(sentence[:start]) or not _NUMBER_ENDS.match(behind):
        return None
    word = re.match(r" ?%| [a-z][\w-]*", behind)
    unit = word[0] if word else ""
    if unit.endswith("%"):
        return start, one.end + len(unit), "what percentage", "number"
    if one.unit in _MONEY:
        return start, one.end + len(unit) * (start == one.start), "how much", "number"
    if unit.endswith("s") and unit[1:] not in STOP_WORDS:
        return start, one.end, "how many", "number"
    return start, one.end, "what", "number"
