"""Whether one sentence contradicts another, as far as words show it, and why.

What contradicts is a denial of the same word, an opposite word, or another number or date of the same thing.
Verification asks it of a claim and the sentences of its source, `conflicts` of the sentences of different documents.
The rules know no world and no syntax. They are right on sentences that are near to each other and say nothing about
the rest; what they catch and what they wrongly accuse is measured in benchmarks/checker.py.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import accumulate, chain, pairwise, product

from thresher.text.entities import name_places
from thresher.text.numbers import (
    MONTHS,
    UNITS,
    Date,
    Quantity,
    agree,
    quantities_and_dates,
    without_iso_dates,
)
from thresher.text.terms import index_terms


def word_set(words: str) -> frozenset[str]:
    """The words of a list in a string."""
    return frozenset(words.split())


REACH = 6
"""Content words a negation reaches when no clause ends before: "not associated with a higher risk of renal failure"."""

NEGATIONS = word_set(
    """not no never none nor neither without cannot lack lacks lacked lacking fail fails failed failing unable absence
    hardly barely scarcely nobody nothing nowhere deny denies denied"""
)
_NO_NEGATION = {
    "not": word_set("only just merely simply solely entirely until least necessarily"),
    "no": word_set("doubt later matter less fewer more"),
    "without": word_set("doubt"),
}
"""Not only, no doubt, without doubt: these deny nothing."""

_BOUNDARIES = word_set(", ; : ( ) . — but although though whereas while because since")
"""Where a negation ends. Not at "that" or "which": no evidence that X does Y denies Y."""

_OPPOSITES = """
increase~ rise~ rose grow~ grew elevate~ raise~ high higher highest greater large larger big bigger more
upregulate~ strengthen~ enhance~ gain~
/ decrease~ decline~ reduce~ reduction low lower lowers lowered lowest fall~ fell drop~ dropped diminish~ small smaller
less fewer downregulate~ weaken~ attenuate~;
accelerate~ fast faster fastest / slow~ slower slowest decelerate~;
promote~ activate~ activation induce~ induction stimulate~ enable~ facilitate~
/ inhibit~ inhibition block~ prevent~ suppress~ suppression impair~ repress~ deactivate~ abolish~;
positive positively / negative negatively;
improve~ improvement better best benefit~ beneficial
/ worsen~ worse worst deteriorate~ degrade~ harm~ harmful detrimental;
protect~ protective safe safer / endanger~ dangerous unsafe;
true correct correctly / false wrong wrongly incorrect incorrectly;
possible / impossible; effective / ineffective; above / below;
win~ won winning winner victory / lose~ lost loser defeat~;
succeed~ successful / unsuccessful;
before prior earlier / after afterwards later;
north northern / south southern; east eastern / west western;
maximum most / minimum least;
hot hotter warm warmer warming / cold colder cool cooler cooling;
male men man boys / female women woman girls;
inside internal / outside external;
allow~ permit~ permitted legal welcome / forbid~ forbidden prohibit~ ban banned illegal;
required mandatory compulsory / optional voluntary;
accept~ approve~ / reject~ refuse~;
include~ / exclude~;
rich / poor; older / younger; majority / minority; stronger strong / weaker weak; first / last; import / export;
support~ / oppose~ refute~ contradict~;
open opens opened / close closes closed;
begin~ began begun start~ commence~ / end ends ended finish~ complete completed;
alive / dead; present presence / absent;
common frequent / rare uncommon infrequent;
buy~ bought / sell~ sold
"""
"""Pairs of groups of opposite words, a ~ behind a verb standing for its endings. The first pairs are those on which the
training claims of SciFact and Climate-FEVER turn; the rest are the everyday opposites of encyclopedias and reports."""

_SAME = {"constructed": "built", "erected": "built", "established": "founded", "deceased": "died"}
"""Words that may stand for each other, besides those on one side of a pair."""

ONCE = """born died built constructed erected completed finished founded established opened inaugurated created invented
discovered published abolished dissolved demolished destroyed incorporated patented"""
"""What happens once to a thing: two years of it contradict each other, while a cup is won again and again."""

PAST = word_set("was were had did")
PRESENT = word_set("is are has have does do will")
_LEAD_ENDS = PAST | PRESENT | {","}
ARTICLES = word_set("a an the")
PRONOUNS = word_set("it he she they this that these those its his her their")
PREPOSITIONS = word_set(
    """in on at for with by under per within during over from to of into through between among across against about
    after before"""
)

_BOUNDING = word_set("least most more less fewer greater higher lower above below before after")
"""Opposites unless they bound a number."""

_PREFIX = re.compile(r"^(?:in|im|ir|un|non|dis|a)(?=[a-z]{5})")
_TOKEN = re.compile(r"[^\W_]+(?:[-'’.][^\W_]+)*|[%$€£,;:().—–-]")
_VARIANT = re.compile(r"(?=.*[A-Z0-9]).*-.*|(?=.*\d).*[^\W\d_].*|(?=.*[^\W\d_]).*\d.*")
"""A name with hyphen or digits counts as a whole: BERT-base is not BERT-large."""


def _forms(verb: str) -> list[str]:
    """rise~: rise, rises, rised, rising. A form that does not exist is met in no text."""
    bare = verb.removesuffix("~")
    stem = bare.removesuffix("e")
    return [bare, f"{bare}{'es' if bare.endswith(('s', 'sh')) else 's'}", f"{stem}ed", f"{stem}ing"]


_SIDES = {
    form: (f"{pair[0][0]}/{pair[1][0]}".replace("~", ""), is_first)
    for pair in ([side.split() for side in line.split("/")] for line in _OPPOSITES.split(";"))
    for is_first, side in zip((True, False), pair, strict=True)
    for word in side
    for form in (_forms(word) if word.endswith("~") else [word])
}
"""Each word to the name of its pair and whether it is on the first side."""

_BOUNDS = frozenset(("open/close", "begin/end"))
"""What is open from 7 to 10 closes at 10."""


# --- a sentence taken apart -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Word:
    """One word or mark of a sentence."""

    text: str
    key: str = ""
    """What it counts as in a comparison; "" for function words, negations, numbers and marks."""
    says: bool = True
    """False for the second side of a pair of opposites and for what a negation reaches; True for both together."""
    opposite: bool = False
    """`key` is the name of a pair of opposites."""
    number: str = ""
    """What a number or date, which has no key, can be denied by."""

    @property
    def sign(self) -> str:
        """What it asserts or denies; "" for nothing."""
        return self.key or self.number


@dataclass(frozen=True, slots=True)
class Number:
    """A number or date in its slot."""

    text: str
    value: Quantity | Date
    slot: tuple[str, str]
    """What it is the number of: its unit, or else "" and the content word before it; "date" and that word."""
    conditional: bool
    """A preposition leads to it: "with 8 cores", "in 2019"."""


@dataclass(frozen=True)
class Statement:
    """One sentence, taken apart."""

    words: tuple[Word, ...]
    numbers: tuple[Number, ...]
    negations: tuple[tuple[str, tuple[int, ...]], ...]
    """For each negation its word and the places of the words it reaches, nearest first."""
    names: frozenset[str]
    subject: frozenset[str]
    """The names before its first comma or auxiliary verb, none where it begins with a preposition."""
    is_question: bool

    @cached_property
    def signs(self) -> Mapping[str, set[bool]]:
        """For each key and number whether it is asserted (True), denied (False) or both."""
        signs: dict[str, set[bool]] = {}
        for word in self.words:
            if word.sign:
                signs.setdefault(word.sign, set()).add(word.says)
        return signs

    @cached_property
    def content(self) -> frozenset[str]:
        """The keys of its words."""
        return frozenset(word.key for word in self.words if word.key)

    @property
    def names_both_ends(self) -> bool:
        """Whether it says how long something lasts: from 7 to 10, until May, 9-17."""
        words = [word.text.lower() for word in self.words]
        ends = {"to", "until", "till", "-", "–"}
        return "until" in words or "till" in words or (len(self.numbers) > 1 and not ends.isdisjoint(words))

    @cached_property
    def opposites(self) -> frozenset[str]:
        """The pairs of opposites it has a word of."""
        return frozenset(word.key for word in self.words if word.opposite)

    @cached_property
    def plain(self) -> frozenset[str]:
        """All its words, function words and marks as well."""
        return frozenset(word.text for word in self.words)


@lru_cache(maxsize=4_096)  # a claim is compared with each sentence of its evidence, a sentence with all the others
def statement(sentence: str) -> Statement:
    """Take a sentence apart."""
    text = without_iso_dates(sentence)
    tokens = list(_TOKEN.finditer(text))
    values = _values(text, {token.start(): token for token in tokens})
    words: list[Word] = []
    places: dict[int, int] = {}
    negations: list[tuple[str, list[int]]] = []
    reach = behind = 0
    for token, following in pairwise([*tokens, None]):
        assert token is not None
        if token.start() < behind:  # within a number or date
            continue
        places[token.start()] = len(words)
        word, after = token.group().lower().replace("’", "'"), following.group().lower() if following else ""
        if (value := values.get(token.start())) is not None:
            behind = value.end
            if value.bound:  # at least, more than: part of the number, and no opposites
                words[-3:] = [Word(back.text) if back.text in _BOUNDING else back for back in words[-3:]]
        if word in _BOUNDARIES:
            reach = 0
        elif word.endswith("n't") or (word in NEGATIONS and after not in _NO_NEGATION.get(word, ())):
            # A negation within another's reach turns it back: not without effect.
            reach = 0 if reach else REACH
            if reach:
                negations.append((word, []))
        elif read := [Word(word, number=_digits(value))] if value else _read(token.group(), words):
            if reach:
                negations[-1][1].extend(range(len(words), len(words) + len(read)))
                read = [replace(each, says=not each.says) for each in read]
            words += read
            reach = max(0, reach - 1)
            continue
        words.append(Word(word))
    keys_before = list(accumulate((word.key for word in words), lambda last, key: key or last, initial=""))
    lead = next((at for at, word in enumerate(words) if word.text in _LEAD_ENDS), len(words))
    if words and words[0].text in PREPOSITIONS | {"according"}:
        lead = 0
    names = [places[start] for start, name in name_places(text) if start in places and name.lower() not in MONTHS]
    return Statement(
        words=tuple(words),
        numbers=tuple(
            _number(text, value, places[start], words, keys_before[places[start]]) for start, value in values.items()
        ),
        negations=tuple((cue, tuple(scope)) for cue, scope in negations),
        names=frozenset(words[at].key for at in names) - {""},
        subject=frozenset(words[at].key for at in names if at < lead) - {""},
        is_question=sentence.rstrip(" \"'”’)").endswith("?"),
    )


def _values(text: str, tokens: Mapping[int, re.Match[str]]) -> dict[int, Quantity | Date]:
    """The numbers and dates by where they begin; a part of a name (3rd, 12-layer) is none, nor is a spelled one."""
    found: dict[int, Quantity | Date] = {}
    for value in quantities_and_dates(text):
        token = tokens.get(value.start)
        goes_on = token is not None and token.end() > value.end
        if isinstance(value, Quantity) and token is not None:
            a_name = goes_on and ("-" in token.group() or not value.unit)
            token = None if a_name or (value.spelled and value.values == ("1",)) else token
        if token is not None:
            found[value.start] = value
    return found


def _digits(value: Quantity | Date) -> str:
    return value.values[0] if isinstance(value, Quantity) else f"{value.day} {value.month} {value.year}"


def _read(token: str, before: Sequence[Word]) -> list[Word]:
    """The words a token counts as; none for a function word and for a unit, which is in the slot of its number."""
    lower = token.lower()
    if lower in _SIDES:
        return [Word(lower, *_SIDES[lower], opposite=True)]
    if _VARIANT.fullmatch(token):
        return [Word(lower, lower)]
    if before and before[-1].number and (lower in UNITS or lower.removesuffix("s") in UNITS):
        return []
    same = _SAME.get(lower, lower)
    # a letter that names (Vitamin A, World War I) is a stop word to a search
    letter = [lower] if before and len(token) == 1 and token.isupper() else []
    return [Word(lower, key) for key in index_terms(same) or letter]


def _number(text: str, value: Quantity | Date, at: int, words: Sequence[Word], before: str) -> Number:
    """The number in its slot, and how it is led to, past article, currency and hedge."""
    behind = words[at + 1].key if at + 1 < len(words) else ""
    lead = at - 1 - (value.bound == "about")
    while lead >= 0 and words[lead].text in ARTICLES | {"$", "€", "£"}:
        lead -= 1
    unit = "date" if isinstance(value, Date) else value.unit or behind
    slot = (unit, before if unit in ("date", "") else "")
    return Number(text[value.start : value.end], value, slot, lead >= 0 and words[lead].text in PREPOSITIONS)


def folded_prefixes(one: Statement, other: Statement) -> tuple[Statement, Statement]:
    """Inaccurate on one side and accurate on the other become one word, denied and asserted."""
    for reader, against in ((one, other), (other, one)):
        bare = {key: _PREFIX.sub("", key) for key in reader.content - against.content if "-" not in key}
        bare = {key: stem for key, stem in bare.items() if stem != key and stem in against.content - reader.content}
        if bare:
            turned = (
                replace(w, key=bare[w.key], says=not w.says, opposite=True) if w.key in bare else w
                for w in reader.words
            )
            paired = (replace(w, opposite=True) if w.key in bare.values() else w for w in against.words)
            folded = replace(reader, words=tuple(turned)), replace(against, words=tuple(paired))
            one, other = folded if reader is one else folded[::-1]
    return one, other


# --- what contradicts -------------------------------------------------------------------------------------------------


def contradiction(claim: str, sentence: str) -> str:
    """Why a sentence of the evidence denies a claim about the same matter; "" where nothing shows that it does.

    Each clause is compared with the clause nearest to it: "dogs may stay; cats are not allowed" denies nothing of dogs.
    """
    parts = clauses(sentence)
    for clause in clauses(claim):
        words = statement(clause).content
        nearest = parts[0] if len(parts) == 1 else max(parts, key=lambda part: len(statement(part).content & words))
        one, other = folded_prefixes(statement(clause), statement(nearest))
        if denial := next(chain(_denials(one, other), _other_numbers(one, other)), ""):
            return denial
    return ""


_BETWEEN_CLAUSES = re.compile(
    r"\s*;\s+|,?\s+(?:but|while|whereas)\s+|,?\s+and\s+(?=(?:[\w-]+\s+){1,4}?(?:is|are|was|were|has|have|had|may|must"
    r"|can|will|does|do|did)\b)",
    re.IGNORECASE,
)


def clauses(sentence: str) -> list[str]:
    """What semicolons, "but" and "and" before another subject and verb part; the sentence where they part nothing."""
    return [part for part in _BETWEEN_CLAUSES.split(sentence) if part.strip()] or [sentence]


def _other_numbers(one: Statement, other: Statement) -> Iterator[str]:
    for ours, theirs in differing_numbers(one, other):
        if exclude_each_other(ours, theirs, one, other):
            yield f"the evidence says {theirs.text} where the sentence says {ours.text}"


def _denials(one: Statement, other: Statement) -> Iterator[str]:
    """Each denial between the two: the nearest common word a negation reaches, a word and its opposite."""
    for denying, against, whose in ((one, other, "the sentence"), (other, one, "the evidence")):
        for cue, scope in denying.negations:
            shared = next((denying.words[at] for at in scope if denying.words[at].sign in against.signs), None)
            if shared is not None and _differ(shared.sign, one, other):
                yield f"{whose} says “{cue}” of “{shared.text}”, the other does not"
    yield from (f"opposite words ({key})" for key in opposed_pairs(one, other))


def opposed_pairs(one: Statement, other: Statement) -> list[str]:
    """The pairs of which each has the other word: everywhere, or in one of as many places."""
    opposed = []
    for key in sorted(one.opposites & other.opposites):
        bounds = key in _BOUNDS and (one.names_both_ends or other.names_both_ends)
        ours, theirs = ([word.says for word in side.words if word.key == key] for side in (one, other))
        in_one_place = len(ours) == len(theirs) and sum(a != b for a, b in zip(ours, theirs, strict=True)) == 1
        if not bounds and (in_one_place or _differ(key, one, other)):
            opposed.append(key)
    return opposed


def _differ(sign: str, one: Statement, other: Statement) -> bool:
    """Whether one side only asserts a word and the other only denies it."""
    first, second = one.signs[sign], other.signs[sign]
    return len(first) == len(second) == 1 and first != second


def differing_numbers(one: Statement, other: Statement) -> list[tuple[Number, Number]]:
    """Numbers of slots that both fill, with values of which none agrees with any of the other's."""
    differing = []
    for slot in dict.fromkeys(number.slot for number in one.numbers):
        ours, theirs = ([number for number in side.numbers if number.slot == slot] for side in (one, other))
        if theirs and not any(agree(a.value, b.value) for a, b in product(ours, theirs)):
            differing.append((ours[0], theirs[0]))
    return differing


def exclude_each_other(ours: Number, theirs: Number, one: Statement, other: Statement) -> bool:
    """Whether two values of a slot exclude each other: years of what happens once, numbers of the same date."""
    if isinstance(ours.value, Date) and isinstance(theirs.value, Date) and ours.value.year and theirs.value.year:
        return ours.slot[1] in _ONCE_KEYS
    dates = ([number.value for number in side.numbers if isinstance(number.value, Date)] for side in (one, other))
    days, others = ({(date.year, date.month, date.day) for date in side if date.year} for side in dates)
    return days == others and not has_new_condition(one, other)


def has_new_condition(one: Statement, other: Statement) -> bool:
    """Whether a preposition of one leads to a word or number that the other has not: "on SQuAD", "with 8 cores"."""
    for own, against in ((one, other), (other, one)):
        slots = {number.slot for number in against.numbers}
        for number in own.numbers:
            alike = (each.value for each in against.numbers if type(each.value) is type(number.value))
            if number.conditional and number.slot not in slots and not any(agree(a, number.value) for a in alike):
                return True
        leading = False
        for word in own.words:
            if leading and word.key and word.key not in against.content:
                return True
            leading = word.text in PREPOSITIONS or (leading and word.text in ARTICLES)
    return False


_ONCE_KEYS = {word.key for once in ONCE.split() for word in _read(once, ())}


# --- what is asked apart ----------------------------------------------------------------------------------------------

_DIFFERENCE = re.compile(r"\bdiffer(?:s|ences?|ent|ently)?\b", re.IGNORECASE)
_ALIKE = re.compile(r"(?<!\bnot )\b(?:equivalent|identical|the same)\b", re.IGNORECASE)


def names_alike(question: str, sentence: str) -> bool:
    """Whether a question asks how two differ, and a sentence says that they do not.

    >>> names_alike("What is the difference between a lease and a rent?", "Here leases and rents are equivalent.")
    True
    """
    return bool(_DIFFERENCE.search(question) and _ALIKE.search(sentence)) and not _DIFFERENCE.search(sentence)
