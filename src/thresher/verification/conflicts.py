"""Evidence that contradicts other evidence, and answers that cannot both be right: shown beside each other.

Of the evidence only sentences of different documents are compared that are about the same thing, under the same
conditions, and nearly alike, by the rules of `contradiction`, which miss a contradiction rather than report a wrong
one. Two answers were found for the same question, and the other words of their sentences may differ: checked are
whether the answers agree, and whether the sentences have different subjects. In doubt two answers are no rivals.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain, combinations, pairwise, takewhile
from typing import NamedTuple

from thresher.text.answer_types import AnswerType, answer_type, asks_for_figure
from thresher.text.entities import missing_details, missing_name, names_in
from thresher.text.numbers import Date, Quantity, agree, quantities_and_dates, without_iso_dates
from thresher.text.sentences import sentence_spans
from thresher.text.terms import STOP_WORDS, index_terms, term_set
from thresher.types import Evidence
from thresher.verification.contradiction import (
    ARTICLES,
    PAST,
    PRESENT,
    PRONOUNS,
    Statement,
    Word,
    differing_numbers,
    exclude_each_other,
    folded_prefixes,
    has_new_condition,
    opposed_pairs,
    statement,
    word_set,
)

WHICH = word_set("male/female first/last older/younger majority/minority rich/poor import/export")
"""Pairs that name two different things: a statement about men never contradicts one about women."""

CONDITIONS = word_set(
    """may might could can should would if unless when while some most many few several only sometimes often
    usually probably possibly perhaps rarely likely both each previously formerly once now currently longer still until
    since yet already claim claims claimed believe believes believed said says alleged allegedly reportedly myth
    according expected predicted planned estimated"""
)
"""Words that limit a statement or lay it in another mouth: sentences that differ in one do not contradict."""

OVERLAP = 0.6
"""Least share of the content words of two sentences that are in both. Chosen on the pairs of the tests."""

IDENTIFIER_DIGITS = 3
"""Invoice 0415 is not invoice 0718."""

EDITIONS = range(1900, 2101)
"""Years in titles."""

NAMED_WORDS, SHARED_WORDS = 2, 3
"""Least common content words where the titles differ; one more for sentences that begin with an article and share no
name: "the tower" may be any tower."""


Titles = tuple[frozenset[str], frozenset[str]]


def find_conflicts(evidence: Sequence[Evidence]) -> tuple[tuple[int, int], ...]:
    """Pairs of positions, from 1, of evidence of different documents that contradicts each other; never of tables."""
    sentences = [
        (position, piece.hit.chunk, piece.text[start:end])
        for position, piece in enumerate(evidence, start=1)
        if piece.hit.chunk.kind != "table"
        for start, end in sentence_spans(piece.text)
    ]
    statements = [statement(sentence) for *_, sentence in sentences]
    titles = [_title_words(chunk.title) for _, chunk, _ in sentences]
    pairs: set[tuple[int, int]] = set()
    for one, two in combinations(range(len(sentences)), 2):
        (first, chunk, _), (second, other, _) = sentences[one], sentences[two]
        new = chunk.document_id != other.document_id and (first, second) not in pairs
        if new and _conflict(statements[one], statements[two], (titles[one], titles[two])):
            pairs.add((first, second))
    return tuple(sorted(pairs))


@lru_cache(maxsize=256)
def _title_words(title: str) -> frozenset[str]:
    """The words of a title, and numbers that are neither years nor short: those distinguish editions, not subjects."""
    return frozenset(
        term
        for term in index_terms(title)
        if not term.isdecimal() or (len(term) >= IDENTIFIER_DIGITS and int(term) not in EDITIONS)
    )


def _conflict(one: Statement, other: Statement, titles: Titles) -> bool:
    """Whether sentences of two documents are about the same thing and differ in what contradicts, in that alone."""
    shared, either = len(one.content & other.content), len(one.content | other.content)
    if shared + 1 < OVERLAP * (either - 1):  # folding makes one word more common at best
        return False
    one, other = folded_prefixes(one, other)
    if not _comparable(one, other) or not _same_subject(one, other, titles):
        return False
    reached = {side.words[at].key for side in (one, other) for _, scope in side.negations for at in scope}
    opposed = [key for key in opposed_pairs(one, other) if key not in reached]
    if differing := differing_numbers(one, other):
        balanced = len(one.negations) == len(other.negations)
        return len(differing) == 1 and balanced and not opposed and exclude_each_other(*differing[0], one, other)
    if len(one.negations) + len(other.negations) + len(opposed) != 1 or has_new_condition(one, other):
        return False  # none, or two that may undo each other
    if opposed:
        return not _picks_out(one, opposed[0]) and not _picks_out(other, opposed[0])
    return _denies(one, other) if one.negations else _denies(other, one)


def _comparable(one: Statement, other: Statement) -> bool:
    if one.is_question or other.is_question or one.opposites != other.opposites:
        return False
    if one.plain & CONDITIONS != other.plain & CONDITIONS:
        return False
    tenses = [(bool(side.plain & PAST), bool(side.plain & PRESENT)) for side in (one, other)]
    if all(any(tense) for tense in tenses) and tenses[0] != tenses[1]:
        return False
    shared = one.content & other.content
    # words on both sides that the other has not: another subject, another predicate
    if len(shared) < OVERLAP * len(one.content | other.content) or (one.content - shared and other.content - shared):
        return False
    beside = chain(pairwise(one.words), pairwise(other.words))  # a word of its own and a shared one: the large model
    return not any(a.key and b.key and (a.key in shared) != (b.key in shared) for a, b in beside)


def _same_subject(one: Statement, other: Statement, titles: Titles) -> bool:
    """Whether words and titles show the same subject.

    In documents about different things a sentence speaks for itself only where its subject is a name or stands in a
    title: "the county" is another one in each article.
    """
    ours, theirs = titles
    if ours and ours == theirs:
        return True
    if ours & theirs and (only_ours := ours - theirs) and (only_theirs := theirs - ours):
        # Of one series: the manager is another one in each branch's report, the total in each invoice.
        numbered = any(map(str.isdecimal, only_ours)) and any(map(str.isdecimal, only_theirs))
        if numbered or not one.names & other.names:
            return False
    openings = {side.words[0].text for side in (one, other) if side.words}
    if openings & (PRONOUNS | {"we", "i"}):
        return False
    if ours - theirs and theirs - ours and not one.subject & other.subject:
        firsts = {next((word.key for word in side.words if word.key), "") for side in (one, other)}
        return len(firsts) == 1 and bool(firsts & (ours | theirs))
    vague = openings & ARTICLES and not one.names & other.names
    return len(one.content & other.content) >= (SHARED_WORDS if vague else NAMED_WORDS)


def _denies(sentence: Statement, other: Statement) -> bool:
    """Whether the first word in the scope of its negation is asserted by the other."""
    ((_, scope),) = sentence.negations
    word = sentence.words[scope[0]] if scope else Word("")
    return word.says not in other.signs.get(word.sign, {word.says})


def _picks_out(sentence: Statement, pair: str) -> bool:
    """Whether an opposite word selects one of two things: the north tower and the south tower, men and women."""
    at = next(at for at, word in enumerate(sentence.words) if word.key == pair)
    return pair in WHICH or at == 0 or (at == 1 and sentence.words[0].text in ARTICLES)


# --- answers to one question that cannot both be right ----------------------------------------------------------------

LONGEST_WORDS = 10
"""A longer answer says more than one thing."""

NEAR_WORDS = 6
"""Words on either side of an answer in which stands what limits it: "until 1912", "the former president"."""

SHARED, SHARED_TERMS = 0.4, 2
"""Least share of the terms of the poorer sentence that the other one has too, without the answers, and least number of
them. Of the planted conflicts that the other rules let pass 50 of 51 stay, of the false ones 4 of 16 (in the half of
benchmarks/planted_conflicts.py that is for choosing); at 0.3 these are 50 and 9, at 0.5 49 and 3."""

SHARED_WITHIN = 0.6
"""The same for two sentences of one document, which speaks of one matter in many places. Of 32 answers to statements
that are planted `within` 14 show the conflict and 3 of 38 answers to papers a false one; at 0.4 these are 21 and 6."""

SHARED_DATED = 0.6
"""The same where the answers are dates, unless both sentences have every term of the question: other things happened to
the same on other days. No planted conflict of the half for choosing is lost by it; at 0.7 two of the other half are."""

_BEFORE, _BEHIND = 30, 20
"""Characters around an answer in which stands what limits its number, and its unit."""

_SEVERAL = re.compile(
    r"\b(?:(?:which|what|who|name|list|give|any)(?: is| are| was| were)? (?:some |other |one |an example )?of\b"
    r"|one of\b|some\b|examples?\b|besides\b|other than\b|apart from\b|among\b"
    r"|(?:what|which|who) (?:are|were)\b|(?:what|which|who) (?:\w+ )?(?:else|famous|notable|stars?|appears?)\b)",
    re.IGNORECASE,
)
"""Questions that several names may answer."""

_LIMITING = word_set(
    """former formerly previous previously predecessor successor originally initially until till expected planned
    proposed predicted projected supposed alleged allegedly if unless"""
)
"""Words that make a statement one about another time or case: rivals have the same ones."""

_OWN = word_set("we our us i my this these their he his she her")
"""Words that speak of what only the document around them names."""

_SECTION = re.compile(r"(?:[A-Z]|\d+)(?:\.\d+)+\.? +[A-ZÀ-Þ].*[^.!?:;]$", re.DOTALL)
"""A numbered heading."""

_LISTED = re.compile(r"(?:[- ](?P<noun>[^\W\d_]+))?\s*(?:[,/&]|,?\s*\b(?:and|or)\b)\s*")
"""What stands between two numbers of a list."""
_NOUN = re.compile(r"[- ]?(?P<noun>[^\W\d_]*)")
_RUN = re.compile(r"(?:[ -]?[^\W\d_]+| ?/)*")
_PARTS = re.compile(r"[^\W\d_]+|/")
_EACH = word_set("per a an each every /")
_ATTRIBUTE = re.compile(r"-[^\W\d_]+ +[^\W\d_]")
_PAIR = re.compile(r"(?<![\w-])([^\W\d_]+)[ -](?=([^\W\d_]+))")

_YEAR = re.compile(r"(?<![\w.-])(?:19|20)\d\d(?!\w|\.\d)")
_NAME = r"(?P<name>[A-ZÀ-Þ][\w.-]*\w(?: [A-ZÀ-Þ][\w.-]*\w)*)"
_NAMES = re.compile(r"{0}(?:, (?:the )?{0})*,? (?:and|or)\b(?: (?:the )?{0})?".format(_NAME.replace("?P<name>", "?:")))
_OF_NAME = re.compile(rf"(?P<word>\b[a-z]\w+) (?:of|in|at|for|from) (?:the )?{_NAME}")
_OF_ASKED = re.compile(r"(?P<word>\b[a-z]\w+) (?:of|in|at|for|from) (?:the )?(?P<name>\w+)")
"""In a question without capitals."""
_NAME_BEFORE = re.compile(rf"{_NAME}(?:['’]s?)? (?P<word>[a-z]\w+)")
_SMALL = word_set("the a an of and for de la le der von van du des d")
_WORDS = re.compile(r"[^\W_]+(?:['’.&-][^\W_]+)*")


@dataclass(frozen=True, slots=True)
class AnswerInSentence:
    """A short answer, with the sentence and the document that state it."""

    sentence: str
    start: int
    end: int
    """Offsets of the answer in the sentence, end exclusive."""
    title: str
    """Of its document."""
    known: str
    """The title, the heading and the text around it."""

    @property
    def text(self) -> str:
        """The words that answer."""
        return self.sentence[self.start : self.end]

    @property
    def rest(self) -> str:
        """The sentence without them."""
        return f"{self.sentence[: self.start]} {self.sentence[self.end :]}"

    @property
    def near(self) -> str:
        """The words next to them."""
        before, behind = self.sentence[: self.start].split(), self.sentence[self.end :].split()
        return " ".join((*before[-NEAR_WORDS:], *behind[:NEAR_WORDS]))


def are_rivals(question: str, one: AnswerInSentence, other: AnswerInSentence, *, share: float = SHARED) -> bool:
    """Whether at most one of two answers to a question can be right; `share` is the least share of common terms."""
    if max(len(answer.text.split()) for answer in (one, other)) > LONGEST_WORDS:
        return False
    return answers_differ(question, one, other) and of_the_same(question, one, other, share)


def answers_differ(question: str, one: AnswerInSentence, other: AnswerInSentence) -> bool:
    """Whether both are numbers, dates or names, and not the same one."""
    kind = answer_type(question)
    counted = kind == "number" or asks_for_figure(question)
    ours, theirs = (_values(answer, counted=counted) for answer in (one, other))
    if ours and theirs:
        return _values_differ(ours, theirs, kind) and not _count_others(one, other, kind)
    return not (ours or theirs or counted or _SEVERAL.search(question)) and _names_differ(one, other)


def _values(answer: AnswerInSentence, *, counted: bool) -> list[Quantity | Date]:
    """The numbers and dates of an answer, read with what stands around it, and those in one list with them.

    A year is a number where one is counted, the number of a heading is none.
    """
    if not answer.start and _SECTION.match(answer.sentence):
        return []
    before = without_iso_dates(answer.sentence[max(0, answer.start - _BEFORE) : answer.start])
    text = before + without_iso_dates(answer.text)
    whole = text + answer.sentence[answer.end : answer.end + _BEHIND]
    lists: list[list[Quantity | Date]] = []
    for value in quantities_and_dates(whole):
        if lists and _is_listed(whole, lists[-1][-1], value):
            lists[-1].append(value)
        else:
            lists.append([value])
    answering = (one for one in lists if any(len(before) <= value.start < len(text) for value in one))
    return [
        Quantity((str(value.year),), start=value.start, end=value.end)
        if counted and isinstance(value, Date) and value.year and not value.month
        else value
        for value in chain.from_iterable(answering)
    ]


def _is_listed(text: str, one: Quantity | Date, following: Quantity | Date) -> bool:
    """Whether two values stand in one list of the same things: "18-layer and 34-layer", "34 and 50 layers"."""
    between, noun = _LISTED.fullmatch(text, one.end, following.start), _NOUN.match(text, following.end)
    same = between is not None and noun is not None and between["noun"] in (None, noun["noun"])
    return same and type(one) is type(following)


class _Counted(NamedTuple):
    """What stands behind the number of an answer."""

    things: frozenset[str]
    """The terms of what is counted; none behind a unit of measure."""
    each: frozenset[str]
    """Of what: a month, per token."""
    is_attribute: bool
    """Whether it picks out a variant: the 34-layer net, but not the 14-day period."""


def _counted(answer: AnswerInSentence) -> _Counted | None:
    text = without_iso_dates(answer.sentence[answer.start :])
    number = next(iter(quantities_and_dates(text)), None)
    if not isinstance(number, Quantity) or (run := _RUN.match(text, number.end)) is None:
        return None
    words = _PARTS.findall(run[0].lower())
    things = list(takewhile(lambda word: word not in STOP_WORDS | _EACH, words))
    each = words[len(things) :][:2]
    return _Counted(
        frozenset() if number.unit else term_set(" ".join(things)),
        term_set(each[1]) if len(each) > 1 and each[0] in _EACH else frozenset(),
        not (number.unit or number.spelled) and _ATTRIBUTE.match(text, number.end) is not None,
    )


def _count_others(one: AnswerInSentence, other: AnswerInSentence, kind: AnswerType) -> bool:
    """Whether numbers count other things: sequences and tokens, euros a month and a year, a variant and the whole.

    Asked "how many", both count what the question names, by whatever word: soldiers and men.
    """
    ours, theirs = _counted(one), _counted(other)
    if ours is None or theirs is None:
        return False
    pairs = [(ours.each, theirs.each), *([] if kind == "number" else [(ours.things, theirs.things)])]
    return ours.is_attribute != theirs.is_attribute or any(all(pair) and not pair[0] & pair[1] for pair in pairs)


def _values_differ(ours: Sequence[Quantity | Date], theirs: Sequence[Quantity | Date], kind: AnswerType) -> bool:
    """Whether as many values of the same sort are not the same: one of them, or both ends of a range."""
    dates = {isinstance(value, Date) for value in (*ours, *theirs)}
    if len(dates) > 1 or (kind == "time" and not all(dates)):
        return False
    units = [{value.unit for value in side if isinstance(value, Quantity) and value.unit} for side in (ours, theirs)]
    if (all(units) and not units[0] & units[1]) or units.count({"%"}) == 1:
        return False
    if len(ours) == len(theirs) == 1:
        return not _overlap(ours, theirs) if _is_range(ours, theirs) else not agree(ours[0], theirs[0])
    if len(ours) > 2 or len(theirs) > 2:
        return False
    if len(ours) != len(theirs):  # a range against a number; "18 and 34 layers" names two things, 152 layers one
        return _is_range(ours, theirs) and not _overlap(ours, theirs)
    same = _agreeing(ours, theirs)
    if same.count(True) == 1:
        return not any("between" in (value.bound, another.bound) for value, another in zip(ours, theirs, strict=True))
    return not any(same) and (dates == {True} or not _overlap(ours, theirs))


def _agreeing(ours: Sequence[Quantity | Date], theirs: Sequence[Quantity | Date]) -> list[bool]:
    """For each value of ours whether it is one of theirs, bounds aside."""
    plain, others = ([replace(value, bound="") for value in side] for side in (ours, theirs))
    return [any(agree(value, another) for another in others) for value in plain]


def _is_range(*sides: Sequence[Quantity | Date]) -> bool:
    return any(value.bound == "between" for side in sides for value in side)


def _overlap(ours: Sequence[Quantity | Date], theirs: Sequence[Quantity | Date]) -> bool:
    """Whether two stretches have a number in common; a non-numeric endpoint is unbounded."""
    try:
        (low, high), (other_low, other_high) = _ends(ours), _ends(theirs)
    except ValueError:
        return True
    return low <= other_high and other_low <= high


def _ends(values: Sequence[Quantity | Date]) -> tuple[float, float]:
    numbers = [float(value.values[0] if isinstance(value, Quantity) else value.year or "") for value in values]
    return min(numbers), max(numbers)


def _names_differ(one: AnswerInSentence, other: AnswerInSentence) -> bool:
    """Whether both are names, and each has a part that the other's document does not name there."""
    pairs = ((one, other), (other, one))
    names = _is_name(one) and _is_name(other)
    return names and all(missing_name(f"by {_bare(answer.text)}", against.known) for answer, against in pairs)


def _bare(answer: str) -> str:
    """A name without its remark in brackets and without a possessive."""
    return re.sub(r"['’]s$", "", answer.partition("(")[0].strip(" ,;"))


def _is_name(answer: AnswerInSentence) -> bool:
    """Whether an answer is nothing but a name: a word with a capital that begins its sentence may be none."""
    words = [word for word in _WORDS.findall(_bare(answer.text)) if word not in _SMALL]
    if not words or not all(word[0].isupper() for word in words) or not names_in(f"by {_bare(answer.text)}"):
        return False
    return len(words) > 1 or re.search(rf"(?<!\w){re.escape(words[0].lower())}(?!\w)", answer.known) is None


def of_the_same(question: str, one: AnswerInSentence, other: AnswerInSentence, share: float = SHARED) -> bool:
    """Whether nothing shows that two sentences have different subjects."""
    ours, theirs = _terms(one), _terms(other)
    if _has_date(one) and _has_date(other) and not term_set(question) <= ours & theirs:
        share = max(share, SHARED_DATED)
    if len(ours & theirs) < max(SHARED_TERMS, share * min(len(ours), len(theirs))):
        return False
    if _names_another(question, one) or _names_another(question, other):
        return False
    if _lists(question, one) != _lists(question, other):
        return False
    if _is_of_another_kind(question, one, other) or _is_of_another_kind(question, other, one):
        return False
    missing, missing_there = (set(missing_details(question, answer.known)) for answer in (one, other))
    if missing != missing_there or _of_other_years(one, other):
        return False
    near, against = (statement(answer.near) for answer in (one, other))
    limits = _LIMITING - statement(question).plain
    if opposed_pairs(near, against) or (near.plain ^ against.plain) & limits:
        return False
    if one.title == other.title or names_in(question):
        return True
    return not (near.plain | against.plain) & _OWN and not _of_a_series(one, other)


def _terms(answer: AnswerInSentence) -> frozenset[str]:
    """The terms of a sentence without the answer; with those of the title where it begins with a pronoun."""
    opening = answer.sentence.split(maxsplit=1)[:1]
    return term_set(f"{answer.title} {answer.rest}" if opening and opening[0].lower() in PRONOUNS else answer.rest)


def _names_another(question: str, answer: AnswerInSentence) -> bool:
    """Whether a sentence says of another name what the question asks of one: the lighthouse of Ristna, not of Kõpu."""
    asked = _owners(question, *((_OF_NAME, _NAME_BEFORE) if names_in(question) else (_OF_ASKED,)))
    there = _owners(answer.rest, _OF_NAME, _NAME_BEFORE)
    if any(not asked[word] & there[word] for word in asked.keys() & there.keys()):
        return True
    return any(_is_variant(name, answer.rest) for name in names_in(question))


def _is_of_another_kind(question: str, answer: AnswerInSentence, other: AnswerInSentence) -> bool:
    """Whether a sentence has another word before a word of the question, whose own word the other sentence has.

    A sentence on steam turbines answers a question on gas turbines.
    """
    asked, here, there = (_modified(text) for text in (question, answer.sentence, other.sentence))
    terms, stated = term_set(question), term_set(answer.sentence)
    return any(
        here.get(word) and not (modifiers & stated or here[word] & terms) and modifiers & there.get(word, set())
        for word, modifiers in asked.items()
    )


def _lists(question: str, answer: AnswerInSentence) -> bool:
    """Whether a sentence has a name of the question in a list: the stores in the United States, Canada and Mexico."""
    asked = term_set(question)
    lists = (map(term_set, re.split(r",|\b(?:and|or)\b", found[0])) for found in _NAMES.finditer(answer.rest))
    return any(len({name <= asked for name in names if name}) == 2 for names in lists)


def _modified(text: str) -> dict[str, set[str]]:
    """For each term the terms that stand before it."""
    found: dict[str, set[str]] = {}
    for modifier, word in _PAIR.findall(text):
        for term in term_set(word):
            found.setdefault(term, set()).update(term_set(modifier))
    return found


def _is_variant(name: str, text: str) -> bool:
    """Whether a text has a name only with something behind it: V2-Lite where V2 is asked."""
    behind = [text[found.end() :] for found in re.finditer(rf"(?<!\w){re.escape(name)}", text)]
    return bool(behind) and all(re.match(r"-?\w", rest) for rest in behind)


def _owners(text: str, *patterns: re.Pattern[str]) -> dict[str, frozenset[str]]:
    """For each word that a name stands beside, "of" between them or not, the terms of those names."""
    owners: dict[str, frozenset[str]] = {}
    for found in (match for pattern in patterns for match in pattern.finditer(text)):
        for word in term_set(found["word"]) if term_set(found["name"]) else ():
            owners[word] = owners.get(word, frozenset()) | term_set(found["name"])
    return owners


def _of_other_years(one: AnswerInSentence, other: AnswerInSentence) -> bool:
    """Whether the sentences, or else the titles, say other years, and these are not the answers."""
    if _has_date(one) or _has_date(other):
        return False
    years = [set(_YEAR.findall(answer.rest)) or set(_YEAR.findall(answer.title)) for answer in (one, other)]
    return all(years) and not years[0] & years[1]


def _has_date(answer: AnswerInSentence) -> bool:
    return any(isinstance(value, Date) for value in _values(answer, counted=False))


def _of_a_series(one: AnswerInSentence, other: AnswerInSentence) -> bool:
    """Whether the titles differ in a part, and the sentences name nothing in common: the manager of a branch."""
    ours, theirs = term_set(one.title), term_set(other.title)
    alike = ours & theirs and ours - theirs and theirs - ours
    return bool(alike) and not set(names_in(one.rest)) & set(names_in(other.rest))
