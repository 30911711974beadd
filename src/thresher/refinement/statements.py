"""What a sentence says, taken apart far enough to see whether another one contradicts it: words, numbers, conditions.

No understanding of language: lists of words and their places. It knows English, and says nothing about the rest.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

Terms = Callable[[str], Sequence[str]]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


NEGATORS = _words("not no never cannot without neither nor none fails failed lacks lacked")

OPPOSITES = (
    ("increase increases increased increasing", "decrease decreases decreased decreasing reduce reduces reduced"),
    ("rise rises rose rising", "fall falls fell falling drop drops dropped"),
    ("allow allows allowed permitted legal", "forbid forbids forbidden prohibited banned illegal"),
    ("before", "after"),
    ("above", "below"),
    ("faster", "slower"),
    ("higher", "lower"),
    ("larger bigger", "smaller"),
    ("more", "less fewer"),
    ("improve improves improved", "worsen worsens worsened degrade degrades degraded"),
    ("open", "closed"),
    ("true correct", "false incorrect wrong"),
    ("safe", "unsafe dangerous"),
    ("possible", "impossible"),
    ("effective", "ineffective"),
    ("required mandatory compulsory", "optional voluntary"),
    ("accept accepts accepted approved", "reject rejects rejected"),
    ("succeeded", "failed"),
    ("supports supported", "refutes refuted contradicts contradicted"),
    ("alive", "dead"),
    ("include includes included", "exclude excludes excluded"),
)
"""Words of a line say the opposite of each other; those on one side say the same."""

_SIDES = {
    word: (line, side)
    for line, pair in enumerate(OPPOSITES)
    for side, words in enumerate(pair)
    for word in words.split()
}

SAME = (
    "built constructed erected",
    "completed finished",
    "began started commenced",
    "founded established",
    "died deceased",
)
"""Words that may stand for each other."""

ONCE = """born died built constructed erected completed finished founded established opened inaugurated created invented
discovered published abolished dissolved demolished destroyed incorporated patented"""
"""What happens once to a thing: two years of it contradict each other, while a cup is won again and again."""

CONDITIONS = _words(
    """may might could can should would if unless when while some most many few several only sometimes often
    usually probably possibly perhaps rarely likely both each previously formerly once now currently longer still until
    since yet already claim claims claimed believe believes believed said says alleged allegedly reportedly myth
    according expected predicted planned estimated"""
)
"""Words that limit a statement or lay it in another mouth: sentences that differ in one do not contradict."""

PAST = _words("was were had did")
PRESENT = _words("is are has have does do will")

PRONOUNS = _words("it he she they this that these those its his her their we i")

PREPOSITIONS = _words(
    """in on at for with by under per within during over from to of into through between among across against about
    after before"""
)

OPENINGS = PREPOSITIONS | {"according"}

ARTICLES = _words("a an the")

HEDGES = _words("about around approximately approx roughly nearly almost circa ca some c ~ ≈")
BOUNDS = _words("than least most over under least below above up exceeding between > < ≥ ≤ maximum minimum")

_MONTHS = """january february march april may june july august september october november december"""
MONTHS = {form: number for number, month in enumerate(_MONTHS.split(), start=1) for form in (month, month[:3])}

_SPELLED = """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
seventeen eighteen nineteen twenty"""
SPELLED = {word: number for number, word in enumerate(_SPELLED.split()) if word != "one"}
"""Without "one", which is a pronoun as often as a number."""

MAGNITUDES = {"hundred": 1e2, "thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12}

SUFFIXES = {"": 1.0, "k": 1e3, "m": 1e6, "b": 1e9}

CURRENCIES = "$€£"

YEARS = (1000, 2100)
"""Four digits in these bounds are a year unless a currency stands before them."""

_TOKEN = re.compile(
    r"\d+(?:,\d{3})+(?:\.\d+)?(?!\w)|\d+(?:\.\d+)?[kKMB]?(?![\w-])|[^\W_]+(?:[-'’.][^\W_]+)*|[%$€£~≈<>≥≤,;:()–-]"
)
_NUMBER = re.compile(r"(\d+(?:,\d{3})*(?:\.\d+)?)([kmb]?)")
_RANGE = re.compile(r"\d+[-–]\d+")
_VARIANT = re.compile(r"(?=.*[A-Z0-9]).*-.*|(?=.*\d).*[^\W\d_].*|(?=.*[^\W\d_]).*\d.*")


@dataclass(frozen=True, slots=True)
class Number:
    """A number or date with its slot: the content word before it and the unit behind it."""

    value: tuple[float, ...]
    """One number, or year, month, day as far as they are given."""
    kind: Literal["quantity", "date"]
    before: str
    unit: str
    step: float
    """How exactly it is given: 0.1 for 26.3, 100,000 for 1.2 million."""
    hedged: bool
    """An "about" or the like stands before it."""
    conditional: bool
    """A preposition leads to it: "with 8 cores", "in 2019"."""


@dataclass(frozen=True, slots=True)
class Statement:
    """One sentence, taken apart."""

    tokens: tuple[str, ...]
    keys: tuple[str, ...]
    """For every token what it counts as in a comparison; empty for function words, numbers and marks."""
    numbers: tuple[Number, ...]
    bounded: bool
    """Says "more than", "at least", a range: its numbers cannot be compared."""
    negated: tuple[str, ...]
    """The content words right behind its negators."""
    opposites: tuple[tuple[int, int], ...]
    """Line and side in `OPPOSITES` of the words that have an opposite; they are in no other comparison."""
    conditions: frozenset[str]
    tense: frozenset[str]
    question: bool
    anaphoric: bool
    """Begins with a pronoun: what it is about stands elsewhere."""
    names: frozenset[str]
    """Content words that are written as names."""
    subject: frozenset[str]
    """The names among the words before its first comma or auxiliary verb, none where it begins with a preposition."""
    first: str
    """The first content word."""
    definite: bool
    """Begins with an article or the like: which one it is about may stand elsewhere."""
    content: frozenset[str]


def statement(sentence: str, terms: Terms) -> Statement:
    """Take a sentence apart."""
    tokens = tuple(_TOKEN.findall(sentence))
    lower = tuple(token.lower().replace("’", "'") for token in tokens)
    values = _values(lower)
    numeric = {at for found in values for at in range(found.start, found.end)}
    keys = tuple("" if at in numeric else _key(token, at, terms) for at, token in enumerate(tokens))
    numbers = tuple(_number(value, lower, keys) for value in values)
    negators = [at for at, word in enumerate(lower) if word in NEGATORS or word.endswith("n't")]
    return Statement(
        tokens=lower,
        keys=keys,
        numbers=numbers,
        bounded=bool(set(lower) & BOUNDS and numbers) or _has_range(lower),
        negated=tuple(_next_content(keys, at) for at in negators),
        opposites=tuple(sorted({_SIDES[word] for word in lower if word in _SIDES})),
        conditions=frozenset(set(lower) & CONDITIONS),
        tense=frozenset(("past",) * bool(set(lower) & PAST) + ("present",) * bool(set(lower) & PRESENT)),
        question=sentence.rstrip(" \"'”’)").endswith("?"),
        anaphoric=lower[:1] != () and lower[0] in PRONOUNS,
        first=next((key for key in keys if key), ""),
        definite=lower[:1] != () and lower[0] in ARTICLES,
        names=frozenset(_names(tokens, keys)),
        subject=frozenset(() if lower[:1] == () or lower[0] in OPENINGS else _names(tokens[: _lead(lower)], keys)),
        content=frozenset(key for key in keys if key),
    )


def _names(tokens: Sequence[str], keys: Sequence[str]) -> Iterator[str]:
    """Content words with a capital; the first word of a sentence only where another letter is one too."""
    for at, (token, key) in enumerate(zip(tokens, keys, strict=False)):
        if key and token.lower() not in MONTHS and any(letter.isupper() for letter in (token if at else token[1:])):
            yield key


def _lead(lower: Sequence[str]) -> int:
    """How many words stand before the first comma or auxiliary verb."""
    ends = (at for at, word in enumerate(lower) if word == "," or word in PAST | PRESENT)
    return next(ends, len(lower))


def _key(token: str, at: int, terms: Terms) -> str:
    """A name that is written with hyphen or digits counts as a whole: BERT-base is not BERT-large."""
    lower = token.lower()
    if lower in NEGATORS or lower in _SIDES or lower.endswith(("n't", "n’t")) or not token[0].isalnum():
        return ""
    if _VARIANT.fullmatch(token):
        return lower
    for group in SAME:
        if lower in group.split():
            lower = group.split()[0]
    if found := terms(lower):
        return " ".join(found)
    # a letter that names (Vitamin A, World War I) is a stop word to a search
    return lower if at and len(token) == 1 and token.isupper() else ""


@dataclass(frozen=True, slots=True)
class _Found:
    """A number or date at tokens `start` to `end`, exclusive."""

    start: int
    end: int
    value: tuple[float, ...]
    kind: Literal["quantity", "date"]
    step: float


def _values(lower: Sequence[str]) -> list[_Found]:
    found: list[_Found] = []
    at = 0
    while at < len(lower):
        value = _date(lower, at) or _quantity(lower, at)
        if value is None:
            at += 1
        else:
            found.append(value)
            at = value.end
    return found


def _date(lower: Sequence[str], at: int) -> _Found | None:
    """14 March 1879; March 14, 1879; March 1879."""
    for shape in (("day", "month", "year"), ("month", "day", ",", "year"), ("month", "day", "year"), ("month", "year")):
        words = lower[at : at + len(shape)]
        if len(words) == len(shape) and all(_fits(word, part) for word, part in zip(words, shape, strict=True)):
            parts = dict(zip(shape, words, strict=True))
            value = [float(parts["year"]), float(MONTHS[parts["month"]])]
            value += [float(parts["day"])] if "day" in parts else []
            return _Found(at, at + len(shape), tuple(value), "date", 1.0)
    return None


def _fits(word: str, part: str) -> bool:
    match part:
        case "day":
            return word.isdecimal() and 1 <= int(word) <= 31
        case "month":
            return word in MONTHS
        case "year":
            return word.isdecimal() and _is_year(word)
        case _:
            return word == part


def _quantity(lower: Sequence[str], at: int) -> _Found | None:
    """12; 7,000; 26.3; 110m; 1.2 million; twelve; a year by itself."""
    word = lower[at]
    currency = at > 0 and lower[at - 1] in CURRENCIES
    if _is_year(word) and not currency:
        return _Found(at, at + 1, (float(word),), "date", 1.0)
    if digits := _NUMBER.fullmatch(word):
        number, suffix = digits.groups()
        bare = number.replace(",", "")
        value, step = float(bare), 10.0 ** -len(bare.partition(".")[2])
        magnitude = SUFFIXES[suffix]
        if bare.endswith("000"):  # 450,000 is as likely rounded as counted
            step = 10.0 ** (len(bare) - len(bare.rstrip("0")))
    elif word in SPELLED:
        value, step, magnitude = float(SPELLED[word]), 1.0, 1.0
    else:
        return None
    end = at + 1
    while end < len(lower) and lower[end] in MAGNITUDES:
        magnitude *= MAGNITUDES[lower[end]]
        end += 1
    return _Found(at, end, (value * magnitude,), "quantity", step * magnitude)


def _is_year(word: str) -> bool:
    return len(word) == 4 and word.isdecimal() and YEARS[0] <= int(word) <= YEARS[1]


def _number(found: _Found, lower: Sequence[str], keys: Sequence[str]) -> Number:
    """The number in its slot, and how it is led to, past article and hedge."""
    start, end = found.start, found.end
    currency = lower[start - 1] if start and lower[start - 1] in CURRENCIES else ""
    behind = lower[end] if end < len(lower) else ""
    unit = currency or ("%" if behind in ("%", "percent") else keys[end] if behind else "")
    lead = start - 1 - bool(currency)
    hedged = False
    while lead >= 0 and lower[lead] in HEDGES | ARTICLES:
        hedged = hedged or lower[lead] in HEDGES
        lead -= 1
    return Number(
        value=found.value,
        kind=found.kind,
        before=next((keys[at] for at in range(start - 1, -1, -1) if keys[at]), ""),
        unit=unit if found.kind == "quantity" else "",
        step=found.step,
        hedged=hedged,
        conditional=lead >= 0 and lower[lead] in PREPOSITIONS,
    )


def _has_range(lower: Sequence[str]) -> bool:
    """10-12; 1887 – 1889."""
    dashes = (at for at in range(1, len(lower) - 1) if lower[at] in "-–")
    spaced = any(lower[at - 1][0].isdigit() and lower[at + 1][0].isdigit() for at in dashes)
    return spaced or any(_RANGE.fullmatch(word) for word in lower)


def _next_content(keys: Sequence[str], at: int) -> str:
    """The content word that stands at most three words behind."""
    return next((key for key in keys[at + 1 : at + 4] if key), "")
