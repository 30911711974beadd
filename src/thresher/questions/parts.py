"""The questions that one question is put together from.

The rules are for English and look at words alone. They are careful: a question that cannot be taken apart into
questions that each stand alone is left whole.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from thresher.questions.kinds import ASKING, AUXILIARY, BEGINS_ASKING, LINKS, PLURAL, Kind, asked_for, plain
from thresher.text.entities import name_places

MOST_PARTS = 4
"""More questions at once are a text, and are left whole."""

_BARE = r"(?:when|where|why|how|in (?:which|what) year|for whom|by whom)"
_NOUN = rf"(?!(?:{AUXILIARY}|more|fewer|less)\b)[\w-]+"
_NOUNS = rf"(?:{_NOUN} ){{0,2}}?{_NOUN}"
_HOW_MANY = re.compile(
    rf"(?P<head>how (?:many|much)) (?P<one>{_NOUNS})(?:, (?P<middle>{_NOUNS}))?,? and (?:how (?:many|much) )?"
    rf"(?P<two>{_NOUNS}) (?P<rest>{AUXILIARY}\b.*)",
    re.IGNORECASE,
)
_PROPERTIES = re.compile(
    rf"(?P<head>(?:what|which|who) (?:is|was|are|were)) the (?P<one>{_NOUNS})(?:, (?:the )?(?P<middle>{_NOUNS}))?,? "
    rf"and (?P<article>the )?(?P<two>{_NOUNS})(?P<rest> (?:of|for|in|used|on|at) .*)",
    re.IGNORECASE,
)
_MEASURES = re.compile(
    r".*\b(?:size|rate|number|date|year|price|amount|cost|length|width|height|weight|name|title|address|email|phone|"
    r"age|dimension|dimensionality|accuracy|precision|recall|score|revenue|profit|loss|salary|deadline|duration|author|"
    r"location|total|capital|population|area|manager|temperature|budget|optimi[sz]er|depth|speed|volume|quantity)s?$",
    re.IGNORECASE,
)
"""What a thing has one of: "the size and colour of" asks two questions, "the terms and conditions of" one."""

_LABELLED = re.compile(
    rf"(?P<thing>[A-Z][\w .&'-]*): (?:the )?(?P<one>{_NOUNS}(?: of {_NOUN})?),? and (?P<two>{_NOUNS})"
)
"""As people type: "Coldmere: number of employees and deposits?"."""

_HOW_MANY_LEFT = re.compile(rf"(?P<head>how (?:many|much)) (?P<noun>{_NOUNS}) {AUXILIARY}\b", re.IGNORECASE)
_HOW_MANY_BARE = re.compile(rf"how (?:many|much) (?P<rest>{AUXILIARY} .+)", re.IGNORECASE)

_ELLIPSIS = re.compile(rf"(?P<first>.+?)[,;]? and (?P<bare>{_BARE})$", re.IGNORECASE)
_TWO_HEADS = re.compile(rf"(?P<one>{_BARE}|who|what) and (?P<two>{_BARE}) (?P<rest>.+)", re.IGNORECASE)
_SECOND = re.compile(
    rf"(?P<first>.+?)(?:[,;]? and(?: also)?|[,;]) (?P<second>(?:(?:when|where|why|how) {AUXILIARY}|who [a-z]+|"
    rf"(?:what|which|how (?:many|much|long|old|often|far))(?: [\w-]+){{0,3}}? {AUXILIARY}|how many [\w-]+ [\w-]+|"
    rf"{AUXILIARY})\b.*)",
    re.IGNORECASE,
)
_WHO_DID = re.compile(r"who (?P<did>\w+) (?P<object>.+)", re.IGNORECASE)
_INVERTED = re.compile(rf"{ASKING} (?P<rest>{AUXILIARY}\b.+)", re.IGNORECASE)
_PRONOUN = re.compile(r"\b(?:it|they|them|its|their|he|she|him|his|her|this|that|these|those|there)\b", re.IGNORECASE)
_WHO_ASKS = re.compile(r"(?:i|we|you|me|us)\b", re.IGNORECASE)
_DAY = re.compile(r"(?:mon|tues|wednes|thurs|fri|satur|sun)days?", re.IGNORECASE)
_IS_IT = re.compile(rf"\b{AUXILIARY} (?:it|they|he|she)\b", re.IGNORECASE)
_OWNING = frozenset(("its", "their", "his"))
_PARTICIPLES = {
    "wrote": "written", "made": "made", "built": "built", "found": "found", "gave": "given", "took": "taken",
    "drew": "drawn", "led": "led", "sold": "sold", "bought": "bought", "sent": "sent", "paid": "paid", "won": "won",
    "began": "begun", "said": "said", "chose": "chosen", "drove": "driven", "held": "held", "wins": "won",
}  # fmt: skip
_SUBJECT_BEHIND = re.compile(
    r"(?:(?P<whole>(?:what|who|where|how (?:long|old|big|large|tall|deep|high|far)) (?:is|are|was|were)|"
    r"(?:is|are) there|who \w+)|"
    rf"(?P<doing>(?:(?:when|why|how) )?{AUXILIARY} (?:I|we|you|one) \w+)|(?:(?:when|why|how) )?{AUXILIARY}) "
    r"(?P<thing>(?:(?:the|an?|my|our|your) )?[\w-]+(?: [\w-]+){0,3})",
    re.IGNORECASE,
)
"""What follows is the subject, or the subject and one more word: "why was the shipment late"."""


def parts_of(question: str) -> tuple[str, ...]:
    """The questions that a question is put together from, each with a question mark and standing alone.

    The question itself, as it is, where it is one or cannot be taken apart safely.
    """
    parts = [part for sentence in _sentences(question) for part in _apart(sentence)]
    standing = list(_standing_alone(parts))
    if not 2 <= len(standing) <= MOST_PARTS or len(standing) < len(parts):
        return (question,)
    return tuple(f"{part[0].upper()}{part[1:]}?" for part in standing)


def _sentences(question: str) -> list[str]:
    """The sentences of a question that each ask; one where any of them does not."""
    pieces = [plain(piece) for piece in re.split(r"\?\s+", " ".join(question.split()))]
    pieces = [piece for piece in pieces if piece]
    asking = all(BEGINS_ASKING.match(piece) for piece in pieces)
    return pieces if asking else [plain(question)]


def _apart(text: str) -> list[str]:
    """The parts of one sentence, not yet standing alone."""
    if asked_for(text).kind is Kind.COMPARISON:
        return [text]
    if found := _HOW_MANY.fullmatch(text):
        heads = [found[name] for name in ("one", "middle", "two") if found[name]]
        return [f"{found['head']} {noun} {found['rest']}" for noun in heads]
    if found := _PROPERTIES.fullmatch(text):
        nouns = [found[name] for name in ("one", "middle", "two") if found[name]]
        if found["article"] or all(map(_MEASURES.match, nouns)):
            head = found["head"].split()[0] + (" was" if found["head"].endswith(("was", "were")) else " is")
            return [f"{head} the {noun}{found['rest']}" for noun in nouns]
    if found := _LABELLED.fullmatch(text):
        nouns = [found["one"], found["two"]]
        return [
            f"what {'are' if re.fullmatch(PLURAL, noun.split(' of ')[0]) else 'is'} the {noun} of {found['thing']}"
            for noun in nouns
        ]
    if found := _ELLIPSIS.fullmatch(text):
        return _completed(found["first"], found["bare"]) or [text]
    if (found := _TWO_HEADS.fullmatch(text)) and re.match(AUXILIARY + r"\b", found["rest"], re.IGNORECASE):
        return [f"{found['one']} {found['rest']}", f"{found['two']} {found['rest']}"]
    found = _SECOND.fullmatch(text)
    if found and BEGINS_ASKING.match(found["first"]) and _same_manner(found["first"], found["second"]):
        return [*_apart(found["first"]), *_apart(found["second"])]
    return [text]


def _same_manner(first: str, second: str) -> bool:
    """A second question that begins with its verb goes with a first that does: "is it open, and is it free"."""
    begins = re.compile(AUXILIARY + r"\b", re.IGNORECASE)
    return len(first.split()) > 1 and (begins.match(second) is None or begins.match(first) is not None)


def _completed(first: str, bare: str) -> list[str]:
    """Who wrote X and when: who wrote X, when was X written. Nothing where the second cannot be said."""
    if (did := _WHO_DID.fullmatch(first)) and not re.match(AUXILIARY + r"\b", did["did"], re.IGNORECASE):
        if LINKS.match(did["object"]) or did["object"].startswith(("against ", "about ")):
            return []
        verb = did["did"].lower()
        participle = _PARTICIPLES.get(verb, verb if verb.endswith("ed") else "")
        return [first, f"{bare} was {did['object']} {participle}"] if participle else []
    inverted = _INVERTED.fullmatch(first)
    return [first, f"{bare} {inverted['rest']}"] if inverted else []


def _standing_alone(parts: list[str]) -> Iterator[str]:
    """The parts, a pronoun of a later one replaced by what the first is about; one whose pronoun is unknown is left."""
    subject = ""
    for number, part in enumerate(parts):
        if number and (bare := _HOW_MANY_BARE.fullmatch(part)):
            left = _HOW_MANY_LEFT.match(parts[0])
            if not left or not subject:
                continue
            part = f"{left['head']} {left['noun']} of {subject} {bare['rest']}"
        # "does BERT use its own": what a part names itself, its small words mean
        pronoun = _PRONOUN.search(part)
        own = any(True for _ in name_places(f"- {part}")) and not _IS_IT.search(part)
        if number and pronoun and not own:
            if not subject and pronoun[0].lower() in parts[0].lower().split():
                yield part  # "it" is as unknown as it was in the first
            if not subject:
                continue
            word = pronoun[0].lower()
            instead = f"at {subject}" if word == "there" else f"{subject}'s" if word in _OWNING else subject
            part = part[: pronoun.start()] + instead + part[pronoun.end() :]
        subject = subject or subject_of(part)
        yield part


def subject_of(part: str) -> str:
    """What a question is about: the last run of names in it, else the noun behind its verb; "" where neither is."""
    dashed = f"- {part}"  # so that its first word is no beginning of a sentence, and no name for its capital alone
    places = [(start, start + len(name)) for start, name in name_places(dashed) if not _DAY.fullmatch(name)]
    if places:
        start, end = places[-1]
        for before, behind in reversed(places[:-1]):
            if dashed[behind:start].strip() not in ("", "of", "the", "of the", "for", "and"):
                break
            start = before
        return dashed[start:end]
    if owner := re.search(r" of ((?:[\w-]+ ){0,2}[\w-]+)$", part):
        return owner[1]
    found = _SUBJECT_BEHIND.fullmatch(LINKS.split(part)[0].strip())
    if found is None or _PRONOUN.search(found["thing"]) or _WHO_ASKS.match(found["thing"]):
        return ""
    return str(found["thing"] if found["whole"] or found["doing"] else found["thing"].rpartition(" ")[0])
