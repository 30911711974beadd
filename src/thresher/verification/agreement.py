"""Whether a place of a text is about what a question asks about, where both say which one: what parts look-alikes.

What a text lacks proves little, for people ask in other words. What counts here is that it says another one of the same
sort: the last boat for the first, 2024 for 2023, stage 3 for stage 4. Of 7,493 questions to the paragraph that answers
them (data/train) these rules accuse the answering sentence of 1.2 %: opposites .6 %, years .2 %, what was before .2 %,
codes .1 %, numbered things .05 %. Of 108 questions that name a weekday 2, and of 371 that name a month 3, are answered
by a sentence that names another. A name in front of the same noun (herring gull, common gull) accused 1.4 % of the
right ones and .4 % of others, and is not asked; nor is what is still to come, which accused 6 right ones among 18
(docs/rules.md).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from thresher.text.labels import means
from thresher.text.terms import index_terms
from thresher.verification.contradiction import statement

_YEAR = re.compile(r"(?<![\w.-])(?:19|20)\d\d(?![\w-]|\.\d)")
_CODE = re.compile(r"(?<![\w-])(?![QH][1-4]\b)(?:[A-Za-z]+(?:-[A-Za-z\d]+)*-?\d[\w-]*|\d+[xX]?\d*[A-Z][\w-]*)(?![\w-])")
_NUMBERED = re.compile(r"(?<![\w-])([A-Za-z]{3,})[ -](\d{1,4}(?:\.\d+)*)(?![\w-]|[.,:]\d| ?%)")
_NOT_NUMBERED = frozenset(
    """the and for from since until after before between about than over with during around every were are was has had
    above below under through within into top some all exactly only another last first past next least most per january
    february march april may june july august september october november december""".split()  # noqa: SIM905
)
"""In front of a number these name nothing."""

LABEL_WORDS = 4
"""A longer text before a colon is no label of a form."""

_ASKS_EARLIER = re.compile(
    r"\bwh(?:o|at|ich)\b.*(?:\bbefore (?!it\b|they\b|he\b|she\b)|\bprevious|\bformer|\bpredecessor)", re.IGNORECASE
)
_EARLIER = re.compile(
    r"\b(?:before|until|till|previous|former|predecessor|prior|preced|succe|took over|taken over|replac|follow|earlier|"
    r"once|used to|ago|originally)",
    re.IGNORECASE,
)
_PHASE = re.compile(r"\b(before|during|after) (?:(?:the|your|my|our|their|its|his|her|a) )?([a-z]{4,})", re.IGNORECASE)
"""The same stretch of time with another of these before it is another time."""

_DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()  # noqa: SIM905
_MONTHS = (
    "January February March April May June July August September October November December".split()  # noqa: SIM905
)
_CALENDARS = tuple(
    (
        names,
        re.compile(
            rf"(?<!^)\b({'|'.join(names)})s?\b(?:\s*(?:to|through|until|till|[-–—])\s*({'|'.join(names)})s?\b)?"
        ),
    )
    for names in (_DAYS, _MONTHS)
)
"""Days and months, or from one to another. What begins a question is a verb: "May I ...?"."""

_LABELLED = re.compile(r"[-*•\s]*(?P<label>[^:.?!\n]{2,40}):\s+(?P<value>[^:\n]{1,60})")
_BARE_LABELS = frozenset(index_terms("date time name place address number note"))
"""Labels that say no more than what sort of thing stands behind them."""


def unnamed(question: str, known: str) -> str:
    """A code or numbered thing of a question that a document's text does not name; "" for none.

    Codes have letters and digits (PW-24-0415, 8x22B); of a thing with a number behind it the text names another one.
    """
    flat = _flat(known)
    for code in _CODE.findall(question):
        if _flat(code) not in flat:
            return str(code)
    for noun, number in _NUMBERED.findall(question):
        if noun.lower() not in _NOT_NUMBERED:
            others = re.findall(rf"(?<!\w){noun}[ -](\d+(?:\.\d+)*)(?![\w-]|,\d| ?%)", known, re.IGNORECASE)
            if others and number not in others:
                return f"{noun} {number}"
    return ""


def disagreement(question: str, sentence: str, answer: str, title: str) -> str:
    """What the sentence of an answer says that is another than is asked for; "" for nothing.

    The years of its document's title hold where it says none. What the answer itself says is no condition.
    """
    return next(_disagreements(question, sentence, sentence.replace(answer, " ") if answer else sentence, title), "")


def _disagreements(question: str, sentence: str, said: str, title: str) -> Iterator[str]:
    asked, held = statement(question), statement(said)
    for pair in asked.opposites & held.opposites:
        if not asked.signs[pair] & held.signs[pair]:
            yield f"the other of {pair}"
    years = set(_YEAR.findall(question))
    others = set(_YEAR.findall(said)) or set(_YEAR.findall(title))
    if years and others and not years & (others | set(_YEAR.findall(sentence))):
        yield f"of {min(others)}, not of {min(years)}"
    when, then = _phases(question), _phases(sentence)
    if when and not when.keys() & then.keys() and (same := {noun for _, noun in when} & {noun for _, noun in then}):
        yield next(said for (_, noun), said in then.items() if noun in same)
    for names, pattern in _CALENDARS:
        days, held_days = _within(names, pattern, question), _within(names, pattern, f" {said}")
        if days and held_days and not days & (held_days | _within(names, pattern, f" {sentence}")):
            yield f"of {names[min(held_days)]}, not of {names[min(days)]}"
    if variant := _variant(question, sentence):
        yield variant
    if _ASKS_EARLIER.search(question) and not _EARLIER.search(sentence):
        yield "nothing about before"
    if (line := _LABELLED.fullmatch(sentence)) and len(line["label"].split()) <= LABEL_WORDS:
        label, terms = index_terms(line["label"]), index_terms(question)
        of_title = set(index_terms(title)) & set(label)
        telling = [term for term in terms if term not in of_title]
        if set(label) != set(label) & _BARE_LABELS and not any(means(term, label) for term in telling):
            yield f"“{line['label'].strip()}”"


def _variant(question: str, sentence: str) -> str:
    """The variant of a code that a sentence speaks of instead of the code itself: DeepSeek-V2-Lite; "" for none.

    It accuses 1 of the 78,402 answering sentences of data/train.
    """
    for code in _CODE.findall(question):
        bare = rf"(?<![\w-]){re.escape(code)}"
        found = re.search(rf"{bare}(?:-[A-Z]\w*)+", sentence)
        if found and found[0] not in question and not re.search(rf"{bare}(?![\w-])", sentence):
            return f"of {found[0]}, not of {code}"
    return ""


def _phases(text: str) -> dict[tuple[str, str], str]:
    """Before, during or after what, as a pair to compare, and as it is written."""
    return {
        (found[1].lower(), term): found[0].lower() for found in _PHASE.finditer(text) for term in index_terms(found[2])
    }


def _within(names: Sequence[str], pattern: re.Pattern[str], text: str) -> set[int]:
    """Which days or months a text names, those between two of a stretch too."""
    found = set()
    for match in pattern.finditer(text):
        first = names.index(match[1])
        last = first if match[2] is None else names.index(match[2])
        found |= {at % len(names) for at in range(first, last + 1 + (len(names) if last < first else 0))}
    return found


def _flat(text: str) -> str:
    return re.sub(r"[\W_]+", "", text.casefold().replace("×", "x"))
