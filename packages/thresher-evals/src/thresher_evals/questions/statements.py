"""Parses sentences into statements of subject, verb and rest; one sentence may give several.

Rules for English with closed word lists. A sentence whose subject or verb is uncertain gives no statement.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from types import MappingProxyType

# --- verbs: a closed list, verbs.txt; a sentence with another verb gives no statement ---------------------------------

_VOWELS = "aeiou"


@dataclass(frozen=True, slots=True)
class Verb:
    """One form of a verb."""

    base: str
    third: str
    """Third person of the present: he serves."""
    past: str
    participle: str

    @classmethod
    def read(cls, line: str) -> Verb:
        """The verb of a line: its base, of an irregular one its past and its participle too."""
        base, *irregular = line.split()
        changed = base[-1] == "y" and base[-2] not in _VOWELS
        hissing = base.endswith(("s", "x", "z", "ch", "sh", "o"))
        third = f"{base[:-1]}ies" if changed else f"{base}es" if hissing else f"{base}s"
        stem = base[:-1] if base[-1] == "e" else f"{base[:-1]}i" if changed else base
        return cls(base, third, *(irregular or [f"{stem}ed"] * 2))


_VERBS = tuple(map(Verb.read, Path(__file__).with_name("verbs.txt").read_text(encoding="utf-8").splitlines()))
THIRD: Mapping[str, Verb] = MappingProxyType({verb.third: verb for verb in _VERBS})
BASE: Mapping[str, Verb] = MappingProxyType({verb.base: verb for verb in _VERBS})
PAST: Mapping[str, Verb] = MappingProxyType({verb.past: verb for verb in _VERBS})
PARTICIPLE: Mapping[str, Verb] = MappingProxyType({verb.participle: verb for verb in _VERBS})
"""Form to verb. `found` as a past tense belongs to find."""

# --- words ------------------------------------------------------------------------------------------------------------

BE = frozenset("is are was were".split())  # noqa: SIM905
HAVE = frozenset("has have had".split())  # noqa: SIM905
_MODAL = frozenset("can could must may might will would should shall".split())  # noqa: SIM905
ADVERBS = frozenset(
    """also then usually normally always often still first now already currently officially later originally finally
    approximately roughly just further""".split()  # noqa: SIM905
)
"""Omitted between subject and verb, and between auxiliary and verb."""

_OPENS = frozenset("that if when where than because while until".split())  # noqa: SIM905
"""Words that begin a clause."""
DETERMINERS = frozenset("the a an each every both all our my your".split())  # noqa: SIM905
_OBJECTS = frozenset("the a an his her its their".split())  # noqa: SIM905
"""After a participle that follows another verb they mark a past tense: was born in Bonn and joined the army."""
NUMBER_WORDS = frozenset("two three four five six seven eight nine ten eleven twelve".split())  # noqa: SIM905
PREPOSITIONS = frozenset(
    """in on at for with by from to of within after before until since over under per between during into through about
    as up above below without against towards around near behind along across""".split()  # noqa: SIM905
)
_POINTING = re.compile(
    r"\b(?:this|these|those|such|here|there|above|below|following|former|latter|respectively|me|us|not|"
    r"never|nor|neither|et al|fig|figure|figures|section|sections|appendix|eq|see|same|other|others|another|more than|"
    r"instead|otherwise|what|how|why|so|nobody|none)\b",
    re.IGNORECASE,
)
"""A statement with one of these depends on its context, or is negated."""
_ASIDE = re.compile(r"\s*[(\[][^()\[\]]*[)\]]|\s*\[\d[\d, –-]*\]")
_TAIL = re.compile(
    r",? (?:which|who|whose|so that|although|whereas|while|as well as|such as|including|except|unlike|making|"
    r"that is why|so)\b.*"
)
"""Omitted: the statement is complete without it."""
_REASON = re.compile(r",? (because (?!of\b).+)")
_CONDITION = re.compile(
    r",? (?:if|unless|when|where|once|as long as|that|than|as|(?:until|before|after)(?= (?:the|a|it|they)\b)) .*"
)
"""Kept at the end of a question; never asked for."""
_LEAD = re.compile(
    r"(?P<lead>(?:In|On|At|For|From|By|During|Since|After|Before|Until|Within|Under|Outside|With)\b[^,;]{1,60}?)"
    r"(?:, |(?:(?<=\d)|(?<=[a-z])) (?=(?:the|a|an|every|each|all|both|it|they|he|she|our|its) ))(?P<rest>.+)"
)
_LINK = re.compile(
    r"(?:Thus|First|Second|Alternatively|Also|However|Moreover|Furthermore|Additionally|Finally|Specifically|Notably|"
    r"Then|Indeed|Therefore|Hence|Today|In particular|In addition|In contrast|In this \w+|For example|For instance), "
)
"""Links to the previous sentence; omitted."""
_JOINS = re.compile(r"(,? (?:and|but) |, )")
_PRONOUN = re.compile(r"(?:it|he|she|they)\b", re.IGNORECASE)
_SPEAKERS = frozenset(["i", "we", "you"])
_OWN = re.compile(r"(?:its|his|her|their)\b", re.IGNORECASE)
_AUTHORS = tuple(
    (re.compile(rf"\b{we}\b"), authors)
    for we, authors in (("We", "The authors"), ("we", "the authors"), ("Our", "The authors’"), ("our", "their"))
)
MOST_SUBJECT = 10
"""Longest subject, in words."""
SHORT = 3
"""Longest subject in lower case without an article, in words."""


@dataclass(frozen=True, slots=True)
class Statement:
    """Subject, verb and rest as in the sentence; of "The keel is laid on 5 May" `is` and `laid on 5 May`."""

    subject: str
    verb: str
    rest: str
    condition: str = ""
    """The clause from if, when or that, with its blank; in no answer."""
    lead: str = ""
    """The phrase before the subject: in 2023."""
    reason: str = ""
    """From `because` on."""

    @property
    def auxiliary(self) -> bool:
        """Whether the verb is inverted with the subject in questions."""
        return (
            self.verb in BE
            or self.verb in _MODAL
            or (self.verb in HAVE and (self.first in PARTICIPLE or self.first == "been"))
        )

    @property
    def first(self) -> str:
        """The word behind the verb; empty where only a condition stands there."""
        return self.rest.split(" ", 1)[0].strip(",")


def plain(sentence: str) -> str:
    """The sentence on one line, without brackets and their text."""
    return " ".join(_ASIDE.sub("", sentence).split())


def statements(sentence: str) -> list[Statement]:
    """The statements of a sentence, with pronouns unresolved."""
    found: list[Statement] = []
    whole = plain(sentence).rstrip(".!")
    if whole.endswith("?"):
        return []
    for part in re.split(r"[;:] | [–—] ", whole):
        text, lead = _without_lead(_LINK.sub("", part, count=1))
        reason = _REASON.search(text)
        pieces = _JOINS.split(_TAIL.sub("", text[: reason.start()] if reason else text))
        kept: list[Statement] = []
        for join, piece in zip(["", *pieces[1::2]], pieces[::2], strict=True):
            stated = _parsed(piece, inner=bool(kept)) or (_carried(kept[-1], join, piece) if kept else None)
            if stated is not None:
                kept.append(stated)
            elif kept:
                last = kept[-1]
                key = "condition" if last.condition else "rest"
                kept[-1] = replace(last, **{key: f"{getattr(last, key)}{join}{piece}"})
            else:
                break
        if kept:
            kept[0] = replace(kept[0], lead=lead)
            kept[-1] = replace(kept[-1], reason=reason[1] if reason else "")
        found += kept
    return found


def _without_lead(text: str) -> tuple[str, str]:
    found = _LEAD.fullmatch(f"{text[:1].upper()}{text[1:]}")
    if found is None:
        return text, ""
    lead = found["lead"]
    return found["rest"], lead[0].lower() + lead[1:]


def _parsed(text: str, *, inner: bool) -> Statement | None:
    """A piece with its own subject and verb; `inner` if it does not begin its sentence."""
    words = text.split()
    for at in range(1, min(len(words), MOST_SUBJECT + 1)):
        word = words[at]
        if word in ADVERBS and at + 1 < len(words):
            continue
        subject = [one for one in words[:at] if one not in ADVERBS]
        if is_verb(words, at):
            return _statement(subject, word, words[at + 1 :]) if _is_subject(subject, inner=inner) else None
    return None


def _carried(last: Statement, join: str, piece: str) -> Statement | None:
    """A piece with the subject of the previous one: "and serves 1,390 customers", "and painted in 2020"."""
    words = [word for word in piece.split() if word not in ADVERBS]
    if len(words) < 2:
        return None
    if words[0] in PARTICIPLE and last.verb in BE and _follows_verb(words[1]):
        passive = join == ", " and last.first not in PARTICIPLE and words[1] in PREPOSITIONS
        verb = {"is": "was", "are": "were"}.get(last.verb, last.verb) if passive else last.verb
        if passive or ("and" in join and words[1] not in _OBJECTS):
            return _statement(last.subject.split(), verb, words)
        if "and" not in join:
            return None
    if "and" in join or "but" in join or last.verb in THIRD or last.verb in HAVE:
        finite = words[0] in BE or words[0] in HAVE or words[0] in _MODAL
        past = words[0] in PAST and (last.verb in PAST or last.verb in BE or last.verb in HAVE)
        same = past or words[0] in THIRD
        if finite or (same and _follows_verb(words[1])):
            return _statement(last.subject.split(), words[0], words[1:])
    return None


def _statement(subject: Sequence[str], verb: str, rest: Sequence[str]) -> Statement:
    said = " ".join(word for at, word in enumerate(rest) if at or word not in ADVERBS)
    condition = _CONDITION.search(f" {said}")
    if condition is not None:
        said, tail = said[: max(0, condition.start() - 1)], condition[0]
        return Statement(" ".join(subject), verb, said.strip(), f" {tail.strip(' ,')}")
    return Statement(" ".join(subject), verb, said)


def is_verb(words: Sequence[str], at: int) -> bool:
    """Whether the word is the verb of the subject before it."""
    word, before = words[at], words[at - 1]
    after = words[at + 1] if at + 1 < len(words) else ""
    if word in BE or word in HAVE or word in _MODAL:
        return bool(after)
    if not after or before.lower() in DETERMINERS or before.lower() in PREPOSITIONS:
        return False
    named = before[:1].isupper() or before[-1:].isdigit() or _PRONOUN.fullmatch(before) is not None
    if before.lower() in _SPEAKERS:
        return word in BASE or word in PAST
    if word in THIRD:
        return named or (_follows_verb(after) and not before.endswith("s"))
    if word in PAST and word not in BASE:
        return _follows_verb(after) or named
    return word in BASE and several(before) and _follows_verb(after)


def several(noun: str) -> bool:
    """Whether a noun looks plural."""
    return noun.lower() in ("they", "we", "i", "you") or (
        noun.endswith("s") and not noun.endswith(("ss", "us", "is", "'s", "’s"))
    )


def _follows_verb(word: str) -> bool:
    """Whether a word begins an object or an adverbial, and so follows a verb rather than a noun."""
    bare = word.strip(",.;:\"'“”‘’")
    return (
        bare.lower() in DETERMINERS | PREPOSITIONS | NUMBER_WORDS | {"its", "their", "his", "her", "only", "exactly"}
        or bare[:1].isupper()
        or bare[:1].isdigit()
        or bare[:1] in "£$€~"
    )


def _is_subject(words: Sequence[str], *, inner: bool) -> bool:
    first = words[0].lower() if words else ""
    text = " ".join(words)
    if not words or re.search(r"[,;:=<>|\[\]{}•]| (?:The|An?) ", text) or _POINTING.search(text):
        return False
    if (
        any(one in BE or one in _MODAL or one in HAVE or one.lower() in _OPENS for one in words)
        or words[-1].lower() in PREPOSITIONS
    ):
        return False
    if first in ("and", "but", "or") or any(word in BASE and several(noun) for noun, word in pairwise(words)):
        return False
    if first in DETERMINERS:
        return len(words) > 1 and words[1] not in PREPOSITIONS
    if first in _SPEAKERS:
        return len(words) == 1
    if _PRONOUN.fullmatch(first) or _OWN.fullmatch(first):
        return True
    begins = not words[0][:1].islower() or (inner and len(words) <= SHORT and several(words[-1]))
    return begins and first not in PREPOSITIONS | ADVERBS


def _named(one: Statement, name: str) -> Statement | None:
    """The statement with its pronoun resolved to `name`; None if that is not possible."""
    first = one.subject.split(" ", 1)[0]
    if not (_PRONOUN.fullmatch(first) or _OWN.fullmatch(first)):
        return one
    if (
        not name
        or len(name.split()) > MOST_SUBJECT - 2
        or several(name.split()[-1]) != (first.lower() in ("they", "their"))
    ):
        return None
    if _PRONOUN.fullmatch(first):
        return replace(one, subject=name) if one.subject == first else None
    return replace(one, subject=f"{name}{'’' if name.endswith('s') else '’s'}{one.subject[len(first) :]}")


def _stands(one: Statement) -> bool:
    """Whether a statement is complete and independent of its context."""
    words = one.rest.split()
    verbs = sum(word in BE or word in HAVE or word in _MODAL for word in words)
    ends = words[-1].lower() if words else ""
    return (
        bool(words)
        and not verbs
        and ends not in PREPOSITIONS | DETERMINERS | {"and", "or", "but"}
        and not _POINTING.search(f"{one.subject} {one.rest}{one.condition} {one.lead}")
        and not re.search(r"[=<>|{}\[\]∑∈≤≥_~^∗†]|https?:|\bno\b", f"{one.rest}{one.condition}{one.lead}")
    )


def clauses_of(text: str, spans: Sequence[tuple[int, int]], about: str) -> Iterator[tuple[tuple[int, int], Statement]]:
    """The independent statements of a text, each with the offsets of its sentence.

    A pronoun means the subject of the previous statement in the same or the last sentence; in the first sentence it
    means `about`. In a scholarly text "we" means the authors.
    """
    scholarly = re.search(r"\bet al\b", text) is not None
    before, usual = "", about
    for start, end in spans:
        sentence = text[start:end]
        if scholarly:
            for we, authors in _AUTHORS:
                sentence = we.sub(authors, sentence)
        stated = statements(sentence)
        if not stated:
            before = usual = ""
        for one in stated:
            named = _named(one, before or usual)
            if named is None:
                before = usual = ""
                continue
            if _stands(named):
                yield (start, end), named
            before = named.subject
