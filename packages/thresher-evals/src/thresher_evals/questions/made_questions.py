"""Makes whole questions from statements, as people ask them: when, how many, who, where, why, what is it.

A question omits its answer and keeps the rest of its clause; it names its document if its subject has no name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from thresher.text.entities import names_in
from thresher.text.sentences import Span, sentence_spans
from thresher.text.terms import index_terms
from thresher_evals.questions.statements import (
    BASE,
    BE,
    DETERMINERS,
    HAVE,
    NUMBER_WORDS,
    PARTICIPLE,
    PAST,
    PREPOSITIONS,
    THIRD,
    Statement,
    clauses_of,
    several,
)

Kind = Literal["date", "number", "name", "place", "definition", "list", "reason", "table", "field"]


@dataclass(frozen=True, slots=True)
class Made:
    """A question, its answer in the text's words, and the offsets of its sentence, row or line."""

    question: str
    brief: str
    """The question with no more of the text's words than people's questions have."""
    answer: str
    kind: Kind
    start: int
    end: int
    subject: str
    """Its subject, in words of the question; empty if it names the document instead."""


MOST_WORDS = 30
"""Longest question; people ask no longer ones."""
FEWEST_WORDS = 4
BRIEF = 3
"""Least content words of a brief question. With all its words a question scores higher than people's do."""
MOST_ANSWER = 30
"""Longest answer, in words."""

_MONTH = r"(?:January|February|March|April|May|June|July|August|September|October|November|December)"
_YEAR = r"(?:1[0-9]|20)\d\d"
_DATE = rf"(?:\d{{1,2}} {_MONTH}(?: {_YEAR})?|{_MONTH} \d{{1,2}}, {_YEAR}|{_MONTH} {_YEAR}|{_MONTH}|{_YEAR})"
_DATES = re.compile(_DATE)
_ENDS = rf"(?=$|,| (?:{'|'.join(sorted(PREPOSITIONS))}|and)\b)"
_WHEN = re.compile(rf"(?:^|\s)(?P<how>in|on|since|until|by) (?P<answer>{_DATE}){_ENDS}")
_CLOCK = re.compile(rf"(?:^|\s)(?P<how>at|by|from|until|before) (?P<answer>\d{{1,2}}:\d\d(?: ?[ap]m)?){_ENDS}")
CORE = "\0"
"""Marks the end of subject and verb in an unfinished question."""
_BREAKS = {*PREPOSITIONS - {"over", "up"}, "and", "that", "which", "if", "when", "where", "because"}
_COMMA = re.compile(r", (?!\d{4}\b)")
_ASKS_WHEN = {"in": "When", "on": "When", "since": "Since when", "until": "Until when", "by": "By when"}

_COUNT = rf"(?:\d[\d,]*(?:\.\d+)?|{'|'.join(sorted(NUMBER_WORDS))})(?: (?:million|billion|thousand))?"
_EXTENTS = {"long", "wide", "high", "deep", "old", "tall", "thick", "away", "late"}
_STOPS = "|".join(sorted({*PREPOSITIONS, *DETERMINERS, *BE, *HAVE, *_EXTENTS, "and", "or", "but"}))
_NOUN = rf"(?!(?:{_STOPS})\b)[a-z][\w-]*"
_THINGS = rf"(?P<things>{_NOUN}(?: {_NOUN}){{0,2}}(?: of {_NOUN}(?: {_NOUN})?)?)"
_TAIL = r"(?P<tail>$|[ ,].*)"
_BEFORE_PREPOSITION = rf"(?P<tail>$|,.*| (?:{'|'.join(sorted(PREPOSITIONS))}) .*)"
_ABOUT = r"(?:(?:about|only|exactly|up to|at least|at most|around|nearly|almost|over) )?"
_MEASURES = frozenset("kg g km m cm mm ml l t bar people children men women percent feet horsepower".split())  # noqa: SIM905
_OBJECT = re.compile(rf"{_ABOUT}(?P<answer>{_COUNT}) {_THINGS}{_TAIL}")
_BEHIND = re.compile(
    r"(?:^| )(?P<how>for|at|within|after|with|by|(?<!up )to|every) "
    rf"{_ABOUT}(?P<answer>{_COUNT}) {_THINGS}(?=$|[ ,])"
)
_LONG = re.compile(rf"{_ABOUT}(?P<answer>{_COUNT} [a-z]+) (?P<how>{'|'.join(sorted(_EXTENTS))}){_TAIL}")
_MONEY = re.compile(rf"{_ABOUT}(?P<answer>[£$€]\d[\d,]*(?:\.\d+)?(?: (?:million|billion))?){_TAIL}")
_SHARE = re.compile(rf"(?:an? )?(?P<answer>\d[\d.]*%) (?P<things>{_NOUN}(?<!ly)(?<!ing)(?: {_NOUN}(?<!ing))?){_TAIL}")
_SIZED = re.compile(
    r"(?:(?P<before>.*?) ?\b(?P<how>with|at|from|to|using|for|by) )?"
    r"an? (?P<things>[a-z][a-z-]*(?: [a-z][a-z-]*){0,2}) of "
    rf"{_ABOUT}(?P<answer>{_COUNT}(?: {_NOUN})?){_TAIL}"
)
"""With a batch size of 256."""
_PERCENT = re.compile(r"(?:^| )(?P<how>by|to|from|at) (?P<answer>\d[\d.]*(?:%| percent))(?=$|[ ,])")
_PART = re.compile(r"(?P<answer>\d[\d.]*(?: ?%| percent)) of (?P<things>.+)")
_COUNTED = re.compile(rf"(?P<answer>{_COUNT}) (?P<things>[a-z].*)", re.IGNORECASE)
_NO_THINGS = re.compile(r"(?:dimensional|bit|fold|layer|way|point|shot|\w+ly)\b")
"""Words that a number before them does not count: 16 dimensional embeddings."""

_PROPER = r"[A-Z][\w'’&.-]*(?: (?:(?:of|the|and|de|von|du|do|da) )?(?:[A-Z][\w'’&.-]*|\d+))*"
_NAME = re.compile(_PROPER)
_AGENT = re.compile(
    rf"(?P<verb>[a-z]+) (?P<before>(?:.*? )?)by (?P<answer>(?:the )?{_PROPER}|(?:the|an?) (?:[a-z]+ ){{0,2}}"
    r"(?:[a-z]{2,}(?:er|or|ist|ian)|staff|team|council|office|authority|company|department|committee|government))"
    + _BEFORE_PREPOSITION
)
_PLACED = re.compile(
    r"(?P<before>(?:born|held|based|located|built|buried|signed|found|situated|educated|made|founded|opened)? ?)"
    rf"(?:in|at) (?P<answer>(?:the )?{_PROPER}){_BEFORE_PREPOSITION}"
)
_STAYS = frozenset("stay live lie stand meet sit".split())  # noqa: SIM905
_FROM = re.compile(rf"from (?P<answer>{_PROPER})$")
_ROLE = re.compile(
    r"\b(?:[a-z]{2,}(?:er|or|ist|ian|ent|ant|man|woman|ess)|head|king|queen|chair|contact|coach|chief|captain|wife)\b"
)
_NO_ROLE = frozenset(
    """computer number order paper tower river letter layer transformer encoder decoder vector error factor content
    document current component parent other under over after never transparent""".split()  # noqa: SIM905
)
"""Words with the ending of a role that are none."""
_GIVEN = r"[A-Z][a-z’']+(?:-[A-Z][a-z]+)?"
_PERSON = re.compile(
    r"(?!(?:The|Lake|Mount|River|New|North|South|East|West|San|Port|Cape|Fort|Great|United|University) )"
    rf"(?:{_GIVEN}|Dr\.|Mr\.)(?: (?:[A-Z]\.|de|von|van|di|la|{_GIVEN})){{0,2}} {_GIVEN}"
)
_DOES = frozenset(
    """lead design build found write win invent discover marry direct publish propose introduce establish manage own run
    teach paint compose produce represent create develop plan sign announce appoint finance donate host""".split()  # noqa: SIM905
)
_COMMON = re.compile(r"(?:ing|ment|ship|tion|ness|ance|ence|ity|age)$")
"""Endings of common nouns."""
_OF_MANY = ("are", "were", "have")
_PLURAL = re.compile(r"(?:[dgkmnrt]|ie)s$")
"""A past tense may follow these endings; Thomas and Brutus have others."""
_DESCRIBED = re.compile(r"[A-Z][a-z]+ (?!of\b)[a-z]+")
_ENUMERATED = re.compile(r"[^,]+(?:, [^,]+)+,? (?:and|or) [^,]+")
_LISTS = frozenset("include contain comprise offer combine cover feature".split())  # noqa: SIM905
_DEFINES = re.compile(
    r"(?:an?|the|one of the) (?!(?:same|few|lot|must|case|result|first|only|number|key|important|common|popular|good|"
    r"better|best|notable|well-known|reasonable|integral|crucial|promising|active|major|useful|powerful|challenging|"
    r"natural|significant|essential|classic|typical|vital|large|small|great|big|more|most|much|very|simple|practical|"
    r"viable|valuable)\b)[\w’'-]+ .+"
)
"""A definition rather than a description."""


_FOOTNOTE = re.compile(r"[†‡]|\b[a-z]{5,}\d\d?\b")
"""The mark of a note, alone or at its word: leaderboard10."""
_GOES_ON = re.compile(rf"{CORE}\s*,?\s*(?:and|or)\b")
"""What is left of "use a batch size of 32 and train": "do they use and train"."""
_PRONOUNS = frozenset("it they he she we you i".split())  # noqa: SIM905
_BEFORE_ARTICLE = PREPOSITIONS | DETERMINERS | {"and", "or", "but", "half", "than", "that", "which", "while"}


def sentence_questions(text: str, title: str) -> Iterator[Made]:
    """Questions answered by the sentences of a text; `title` is the name of its subject, or empty."""
    spans = [span for span in sentence_spans(text) if text[slice(*span)].rstrip().endswith((".", "!"))]
    for span, one in clauses_of(text, spans, title):
        one = replace(one, subject=inside(one, f"{title}\n{text}"))
        for asked, answer, kind in _asked(one) if _is_one_thing(one.subject) else ():
            if _GOES_ON.search(asked):
                continue
            made = whole(asked, answer, kind, span, title, subject=one.subject)
            if made is not None:
                yield made


def whole(asked: str, answer: str, kind: Kind, span: Span, title: str, *, subject: str) -> Made | None:
    """The question, with its document if its subject has no name; None if it is unclear or contains its answer."""
    words = asked.rstrip(" ,.;:?").split()
    answer = answer.strip(" ,.;:“”\"'")
    named = bool(names_in(f"on {_DATES.sub(' ', subject)}"))
    if not named:
        if not title:
            return None
        words = [*f"In “{title}”,".split(), words[0].lower(), *words[1:]]
    question, brief = (" ".join(word for word in said if word != CORE).rstrip(",") for said in (words, _brief(words)))
    told = set(index_terms(answer)) <= set(index_terms(question))
    open_ = any(question.count(one) != question.count(other) for one, other in ("“”", "()", "[]"))
    long = not FEWEST_WORDS <= len(question.split()) <= MOST_WORDS or len(answer.split()) > MOST_ANSWER
    if told or long or open_ or question.count('"') % 2 or _FOOTNOTE.search(question):
        return None
    return Made(f"{question}?", f"{brief}?", answer, kind, *span, subject if named else "")


def _is_one_thing(subject: str) -> bool:
    """Whether a subject is one phrase.

    None is a name behind its label ("QQP Quora Question Pairs"), a title before its text, a second phrase ("limits the
    number"), a pronoun behind another ("half of the time it").
    """
    words = re.findall(r"[\w'’-]+", subject)
    small = [word.lower() for word in words]
    named = [word for word in words if word[0].isupper()]
    if len(named) > len({*named}) or (len(small) > 1 and small[-1] in _PRONOUNS):
        return False
    for at in range(1, len(words)):
        if small[at] in ("the", "a", "an") and small[at - 1] not in _BEFORE_ARTICLE:
            return False
        initials = "".join(part[0] for name in words[at:] for part in name.split("-") if part)
        if len(words[at - 1]) > 1 and words[at - 1].isupper() and initials.upper().startswith(words[at - 1]):
            return False
    return True


def _brief(words: list[str]) -> list[str]:
    """The words up to the first preposition after subject, verb and `BRIEF` content words."""
    told = 0
    for at, word in enumerate(words[:-1]):
        if told >= BRIEF and word in _BREAKS and CORE in words[:at]:
            return words[: at - (words[at - 1] == "up")]
        told += bool(index_terms(word))
    return words


def _asked(one: Statement) -> Iterator[tuple[str, str, Kind]]:
    yield from _described(one)
    one = replace(one, rest=_COMMA.split(one.rest, maxsplit=1)[0])
    yield from _names(one)
    if one.reason:
        yield f"Why {turned(one, one.rest)}", one.reason, "reason"
    if one.verb not in BE or one.first in PARTICIPLE or one.first in PREPOSITIONS:
        yield from _times(one)
        yield from _adverbial(one)
    yield from _numbers(one)


def _times(one: Statement) -> Iterator[tuple[str, str, Kind]]:
    if found := re.fullmatch(rf"(?:in|on) ({_DATE})", one.lead):
        yield f"When {turned(one, one.rest, lead=False)}", found[1], "date"
    for pattern in (_WHEN, _CLOCK):
        found = pattern.search(one.rest)
        if found is None:
            continue
        rest = f"{one.rest[: found.start()]}{one.rest[found.end() :]}"
        asks = _ASKS_WHEN[found["how"]] if pattern is _WHEN else f"{found['how'].title()} what time"
        yield f"{asks} {turned(one, rest)}", found["answer"], "date"


def _numbers(one: Statement) -> Iterator[tuple[str, str, Kind]]:
    if (found := _COUNTED.fullmatch(one.subject)) and _counts(found["things"].split(" of ")[0]):
        yield (
            f"How many {found['things']} {one.verb} {CORE} {one.rest}{one.condition} {one.lead}",
            found["answer"],
            "number",
        )
        return
    if found := _PART.fullmatch(one.subject):
        of = f"{found['things']} {one.verb} {CORE} {one.rest}{one.condition} {one.lead}"
        yield f"What percentage of {of}", found["answer"], "number"
        return
    rest = one.rest
    if one.verb in BE and re.fullmatch(_COUNT, rest):
        yield f"What {turned(one, '')}", rest, "number"
    elif found := _LONG.fullmatch(rest):
        if one.verb in BE:
            yield (
                f"How {'far away' if found['how'] == 'away' else found['how']} {turned(one, found['tail'])}",
                found["answer"],
                "number",
            )
    elif found := _MONEY.fullmatch(rest):
        yield f"How much {turned(one, found['tail'])}", found["answer"], "number"
    elif (found := _SHARE.fullmatch(rest)) and one.verb not in BE:
        yield f"What {found['things']} {turned(one, found['tail'])}", found["answer"], "number"
    elif (found := _OBJECT.fullmatch(rest)) and _counts(found["things"]) and not _is_year(found["answer"]):
        amount = f"{found['answer']} {found['things']}"
        if one.verb in BE:
            yield f"What {turned(one, found['tail'])}", amount, "number"
        elif (_base(one) or "") in ("weigh", "cost"):
            yield f"How much {turned(one, found['tail'])}", amount, "number"
        else:
            yield f"How many {found['things']} {turned(one, found['tail'])}", found["answer"], "number"


def _adverbial(one: Statement) -> Iterator[tuple[str, str, Kind]]:
    if sized := _SIZED.fullmatch(one.rest):
        how = f"{sized['how'].title()} what" if sized["how"] else "What"
        yield (
            f"{how} {sized['things']} {turned(one, (sized['before'] or '') + sized['tail'])}",
            sized["answer"],
            "number",
        )
        return
    for found in _PERCENT.finditer(one.rest):
        left = f"{one.rest[: found.start()]}{one.rest[found.end() :]}"
        yield f"{found['how'].title()} what percentage {turned(one, left)}", found["answer"], "number"
    for found in _BEHIND.finditer(one.rest):
        if not _counts(found["things"]) or _is_year(found["answer"]):
            continue
        left = f"{one.rest[: found.start()]}{one.rest[found.end() :]}"
        if found["how"] == "every":
            yield f"How often {turned(one, left)}", f"every {found['answer']} {found['things']}", "number"
        else:
            yield f"{found['how'].title()} how many {found['things']} {turned(one, left)}", found["answer"], "number"


def _names(one: Statement) -> Iterator[tuple[str, str, Kind]]:
    if one.verb in BE and (found := _AGENT.fullmatch(one.rest)) and _acts(found):
        verb = PARTICIPLE[found["verb"]]
        did = verb.past if one.verb in ("was", "were") else verb.third
        answer = found["answer"]
        behind = f"{CORE} {found['before']}{found['tail']}{one.condition} {one.lead}"
        yield f"Who {did} {one.subject} {behind}", answer, "name"
    if (
        (one.verb in BE or _base(one) in _STAYS)
        and (found := _PLACED.fullmatch(one.rest))
        and not re.match(_DATE, found["answer"])
    ):
        yield f"Where {turned(one, found['before'] + found['tail'])}", found["answer"], "place"
    if (found := _FROM.fullmatch(one.rest)) and not re.match(_DATE, found["answer"]):
        yield f"Where {turned(one, 'from')}", found["answer"], "place"
    if _PERSON.fullmatch(one.subject):
        does = one.verb not in BE and (_base(one) or "") in _DOES
        role = one.verb in BE and one.rest.startswith("the ") and _is_role(one.rest)
        if does or role:
            yield f"Who {one.verb} {CORE} {one.rest}{one.condition} {one.lead}", one.subject, "name"


def _acts(found: re.Match[str]) -> bool:
    named = found["answer"].removeprefix("the ")[:1].isupper()
    return found["verb"] in PARTICIPLE and (named or _is_role(found["answer"]))


def _described(one: Statement) -> Iterator[tuple[str, str, Kind]]:
    base = _base(one)
    if _ENUMERATED.fullmatch(one.rest):
        if base in _LISTS:
            yield f"What {turned(one, '')}", one.rest, "list"
        elif base == "consist" and one.rest.startswith("of "):
            yield f"What {turned(one, 'of')}", one.rest[3:], "list"
    if one.verb not in BE or one.lead:
        return
    first, _, more = one.rest.partition(",")
    who = "What"
    if (_PERSON.fullmatch(first) and _is_role(one.subject)) or (_PERSON.fullmatch(one.subject) and _is_role(first)):
        who = "Who"
    described = one.subject.split()[0].lower() in DETERMINERS or one.subject.islower()
    if described and not one.condition and _NAME.fullmatch(re.sub(r"^an? ", "", first)):
        yield f"{who} {one.verb} {one.subject}", first, "name"
        return
    called = _NAME.fullmatch(one.subject) is not None or not first.startswith("the ")
    if called and _DEFINES.fullmatch(first) and " of " not in one.subject:
        said = one.rest if not more or _ENUMERATED.fullmatch(one.rest) else first
        yield f"{who} {one.verb} {one.subject}", f"{said}{one.condition}", "definition"


def turned(one: Statement, rest: str, *, lead: bool = True) -> str:
    """The statement as a question, with `rest` as its rest: `did the warden count on the old mole`."""
    behind = f"{rest}{one.condition} {one.lead if lead else ''}"
    if one.auxiliary:
        done, _, more = behind.strip().partition(" ")
        return f"{one.verb} {one.subject} {done} {CORE} {more}"
    many = one.verb == "have" or (one.verb in BASE and several(one.subject.split()[-1]))
    does = "does" if one.verb == "has" or one.verb in THIRD else "do" if many else "did"
    return f"{does} {one.subject} {_base(one)} {CORE} {behind}"


def _base(one: Statement) -> str | None:
    """The base form for `does` and `did`; None for an auxiliary."""
    if one.auxiliary:
        return None
    if one.verb in HAVE:
        return "have"
    for forms in (THIRD, BASE, PAST) if several(one.subject.split()[-1]) else (THIRD, PAST, BASE):
        if one.verb in forms:
            return forms[one.verb].base
    return None


def inside(one: Statement, text: str) -> str:
    """A subject within a sentence: with a small letter, unless the capital belongs to a name."""
    subject = one.subject
    first = re.split(r"[ ’']", subject, maxsplit=1)[0]
    small = first.lower()
    if first == "I":
        return subject
    if small not in DETERMINERS | {"we", "you"}:
        following = subject[len(first) :].lstrip(" ’'")
        if subject in text.split("\n", 1)[0] or following[:1].isupper():  # the title or a name
            return subject
        within = re.search(rf"(?<=[a-z,] ){re.escape(first)}\b", text)
        plural = several(small) and (one.verb in _OF_MANY or one.verb in BASE)
        plural = plural or (one.verb in PAST and _PLURAL.search(small) is not None)
        common = plural or _COMMON.search(small) or _DESCRIBED.match(subject)
        if within or not first.istitle() or not (common or re.search(rf"\b{re.escape(small)}\b", text)):
            return subject
    return f"{subject[0].lower()}{subject[1:]}"


def _counts(things: str) -> bool:
    last = things.split(" of ")[0].rsplit(" ", 1)[-1]
    if _NO_THINGS.match(things):
        return False
    return last in _MEASURES or (last.endswith("s") and not last.endswith(("ss", "us", "is")))


def _is_year(number: str) -> bool:
    return re.fullmatch(_YEAR, number) is not None


def _is_role(text: str) -> bool:
    return any(word not in _NO_ROLE for word in _ROLE.findall(text))
