"""What kind of answer a question asks for, and the questions it is put together from.

The rules are for English and look at words alone. They are careful: a question that none of them is sure about asks
for a fact, and one that cannot be taken apart into questions that each stand alone is left whole.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from thresher.text.clauses import descriptions_of
from thresher.text.entities import are_names, name_places
from thresher.text.measured import measured


class Kind(StrEnum):
    """What kind of answer is wanted."""

    FACT = "fact"
    YES_NO = "yes or no"
    EXPLANATION = "explanation"
    LIST = "list"
    COMPARISON = "comparison"
    SUMMARY = "summary"
    AUTHORS = "authors"
    """Who wrote a document."""
    PUBLISHED = "published"
    """When a document was written or published."""
    DOCUMENTS = "documents"
    """Which documents are about something."""
    NUMBER_OF_DOCUMENTS = "number of documents"
    KEYWORD = "keyword"
    """One or two words that ask nothing."""


OF_DOCUMENTS = frozenset((Kind.SUMMARY, Kind.AUTHORS, Kind.PUBLISHED, Kind.DOCUMENTS, Kind.NUMBER_OF_DOCUMENTS))
"""Answered from whole documents and what is known about them; no search for passages finds it."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What a question asks for."""

    kind: Kind
    things: tuple[str, ...] = ()
    """The two that are compared, or the document or subject that a question about documents names."""
    aspect: str = ""
    """In what the two are compared."""


# --- words ------------------------------------------------------------------------------------------------------------

_AUXILIARY = (
    r"(?:is|are|was|were|do|does|did|can|could|may|might|must|shall|should|will|would|has|have|had|am|"
    r"isn't|aren't|wasn't|weren't|don't|doesn't|didn't|can't|won't|hasn't|haven't)"
)
_ASKING = r"(?:who|whom|whose|what|which|when|where|why|how)"
_DOCUMENT = r"(?:documents?|papers?|files?|reports?|articles?|texts?|publications?|studies|study|pdfs?)"
_COMPARED = (
    r"(?:better|worse|larger|bigger|smaller|faster|slower|higher|lower|cheaper|longer|shorter|older|newer|stronger|"
    r"more \w+|less \w+)"
)
_POLITE = re.compile(
    r"^(?:please|hi|hello|ok|okay|so|and|but|well|now|then)\b[\s,:]*"
    r"|^(?:can|could|would|will) (?:you|u|anyone|someone)(?: please)? (?=(?:tell|explain|describe|list|summari[sz]e|"
    r"give|show|compare|name|sum)\b)"
    r"|^(?:please |kindly )?(?:tell me|let me know|i (?:want|would like|need|'d like) to know|do you know|"
    r"i(?:'m| am) wondering)\b[\s,:]*(?=who|what|which|when|where|why|how|if|whether|about)",
    re.IGNORECASE,
)
_PLURAL = r"(?:[\w-]+ ){0,3}?(?!\w*(?:ss|us|is)\b)[\w-]+s"

_KINDS: tuple[tuple[Kind, str], ...] = (
    (
        Kind.NUMBER_OF_DOCUMENTS,
        rf"how many (?:different )?{_DOCUMENT}(?: (?:are|do|have|is|in)\b(?! .*\babout\b).*)?$",
    ),
    (
        Kind.DOCUMENTS,
        rf"(?:(?:which|what|how many)(?! articles (?:are|is) (?:on|in)\b)(?: of the| of these| of my)? "
        rf"{_DOCUMENT}(?: here)? "
        r"(?:are|is|deals?|talks?|speaks?|"
        r"discuss(?:es)?|mentions?|covers?|describes?|contains?|concerns?|treats?)(?: about| with| of| on)?"
        rf"|(?:list|show|find|give)(?: me)?(?: all| the| all the)? {_DOCUMENT} (?:about|on|that (?:are about|discuss|"
        r"mention|cover|deal with))) (?P<one>.+)",
    ),
    (
        Kind.AUTHORS,
        r"(?:who (?:wrote|authored|co-authored|published|is the author of|are the authors of|was the author of|"
        r"were the authors of)|(?:the )?authors? of|(?:list|name|give)(?: me)?(?: all)?(?: the)? authors of"
        r"|what (?:is|are) the authors? of) (?P<one>.+)",
    ),
    (Kind.AUTHORS, r"who (?:is|are) (?P<one>.+?)(?:'s|s'|’s) authors?"),
    (Kind.AUTHORS, r"(?:by whom was|who was) (?P<one>.+) (?:written|authored)(?: by)?|who (?:is|are) the authors?"),
    (
        Kind.PUBLISHED,
        r"(?:when|in (?:what|which) year) (?:was|were|did) (?P<one>.+?) "
        r"(?:(?:first )?published|written|come out|appear|dated)|(?:what is )?the (?:publication )?date of "
        rf"(?P<two>(?:the|this|that) {_DOCUMENT}.*)",
    ),
    (
        Kind.SUMMARY,
        r"(?:summari[sz]e|sum up|tl;?dr(?: of)?:?|(?:give|write|show)(?: me)?(?: a| an| the)?(?: short| brief| quick)? "
        r"(?:summary|overview|abstract) of|(?:a |the )?(?:short |brief |quick )?(?:summary|overview|abstract) of"
        r"|what (?:is|are) the (?:main |key |central )(?:points?|findings?|contributions?|results?|messages?|ideas?|"
        r"takeaways?|conclusions?) (?:of|in|from)|what (?:is|does) the (?:abstract|summary) of) (?P<one>.+)",
    ),
    (Kind.SUMMARY, rf"what (?:is|are) (?P<one>.*\b(?:{_DOCUMENT}|\S+\.(?:pdf|docx|txt|md|html|pptx|xlsx))\b.*) about"),
    (
        Kind.COMPARISON,
        r"compare (?:(?:the )?(?P<aspect>[\w -]+?) (?:of|for|in) )?(?P<one>.+?) (?:and|with|to|against) "
        r"(?:(?:that|those) of )?(?P<two>.+)",
    ),
    (
        Kind.COMPARISON,
        r"(?:what(?: is| are|'s) )?(?:the )?(?:main |key |biggest )?(?:differences?|similarit(?:y|ies)|comparison) "
        r"(?:(?:in|of) (?P<aspect>.+?) )?between (?P<one>.+?) and (?P<two>.+)",
    ),
    (Kind.COMPARISON, r"how (?:do|does|did|is|are) (?P<one>.+?) (?:differ|different) from (?P<two>.+)"),
    (Kind.COMPARISON, r"how (?:do|does|did) (?P<one>.+?) and (?P<two>.+?) (?:differ|compare)"),
    (Kind.COMPARISON, r"how (?:do|does|did) (?P<one>.+?) compare (?:to|with|against) (?P<two>.+)"),
    (Kind.COMPARISON, r"(?:[\w -]+[:,] )?(?P<one>[^,?]+?) (?:vs\.?|versus) (?P<two>.+)"),
    (
        Kind.COMPARISON,
        rf"(?:which|who|what) (?:\w+ )?(?:(?:has|have) (?:more|fewer|less) (?P<aspect>[\w -]+?)|"
        rf"(?:is|are|was|has|have|\w+s) {_COMPARED}[\w ]*)[:,] (?P<one>.+?),? or (?P<two>.+)",
    ),
    (
        Kind.LIST,
        r"(?:who does what\b|what(?:'s| is| was) new\b"
        r"|list|enumerate|name (?:all|the|some|two|three|four|five)\b|give (?:me )?(?:all|a list)\b"
        r"|(?:which|what) [\w-]+ are there"
        rf"|what (?:are|were) (?:all |the |all the |its |our |my |your ){_PLURAL}\b"
        rf"|(?:what|which) (?:\w+ ){{0,2}}(?:steps|rules|requirements|conditions|documents|items|reasons|types|kinds) "
        r"(?:are|do|does|must|should|have|were|can|is)\b)",
    ),
    (
        Kind.EXPLANATION,
        r"(?:why|explain|describe|elaborate|define|how come)\b|.+ and why$"
        r"|how (?!many|much|long|old|often|far|big|large|tall|deep|wide|high|fast|late|early|soon|heavy|small|likely|"
        r"few|frequently|expensive|accurate|good|well\b)"
        r"|what (?:do|does|did) .+ (?:mean|do|refer to|stand for)\b|what happens\b"
        r"|what (?:is|are|was|were) (?:the |an? )?(?:\w+ )?(?:purpose|role|reason|reasons|idea|meaning|intuition|"
        r"motivation|effect|effects|impact|goal|aim|concept|definition|mechanism|approach|procedure|process|point)"
        r"\b",
    ),
    # a transformer in deep learning is a thing in a field; the learning rate in deep learning is a property
    (Kind.EXPLANATION, r"what(?: is|'s) an? (?:[\w-]+ ){1,3}in (?:[\w-]+ ?){1,3}$"),
    # who Anna Weber is asks what is said of her, who the manager is for a name
    (Kind.EXPLANATION, r"who (?:is|are|was|were|'s) (?P<name>[^\s,]+(?: [^\s,]+){0,5}?)(?: \([^()]*\))?$"),
    (
        Kind.EXPLANATION,
        r"what (?:is|are|'s) (?:an? )?(?!the\b|its\b|my\b|our\b|your\b|.*['’]s? )(?:[^\s,]+ ){0,3}[^\s,]+",
    ),
    (Kind.YES_NO, rf"(?:(?:according to|in|for|under|with|if|as|at|on)\b[^,]*, )?{_AUXILIARY}\b.+"),
)

_LINKS = re.compile(r"\b(?:of|for|in|on|at|to|by|with|from|used|per|between|during|after|before|when|if)\b")
"""What makes "what is X" ask for a property rather than for what X is."""

_KIND_PATTERNS = tuple((kind, re.compile(pattern, re.IGNORECASE)) for kind, pattern in _KINDS)
_BEGINS_ASKING = re.compile(
    rf"(?:{_ASKING}|{_AUXILIARY}|summari[sz]e|explain|describe|define|list|compare|name)\b", re.IGNORECASE
)

KEYWORD_WORDS = 2
"""So few words without anything that asks are a search, not a question."""


@lru_cache(maxsize=256)  # several parts of one question ask
def asked_for(question: str) -> Asked:
    """The kind of answer, by the first rule that fits; a fact where none does."""
    text = _plain(question)
    told, _, last = text.rpartition(". ")
    text = last if told and _BEGINS_ASKING.match(last) else text
    words = text.split()
    if len(words) == 1 or (len(words) <= KEYWORD_WORDS and not _BEGINS_ASKING.match(text)):
        return Asked(Kind.KEYWORD)
    for kind, pattern in _KIND_PATTERNS:
        found = pattern.match(text)
        if found is None or not _fits(kind, pattern, found, text):
            continue
        named = found.groupdict()
        things = (_thing(thing) for thing in (named.get("one"), named.get("two")) if thing)
        return Asked(kind, tuple(things), _thing(named.get("aspect") or ""))
    return Asked(Kind.FACT)


def _fits(kind: Kind, pattern: re.Pattern[str], found: re.Match[str], text: str) -> bool:
    """What a pattern cannot say: a yes or no leaves no choice, a definition is of a thing and not of its property."""
    if kind is Kind.YES_NO:
        return not re.search(r"\bor\b(?! not\b)", text)
    if "name" in pattern.groupindex:
        return are_names(found["name"])
    if kind is Kind.EXPLANATION and pattern is _KIND_PATTERNS[-2][1]:
        return found.end() == len(text) and not _LINKS.search(text)
    return True


def _plain(question: str) -> str:
    """The question on one line, without politeness before it and marks behind it."""
    text = " ".join(question.replace("’", "'").split()).rstrip(" ?!.")
    while (shorter := _POLITE.sub("", text, count=1)) != text:
        text = shorter
    return text


def _thing(text: str) -> str:
    return text.removesuffix(" about").strip(" ,;:\"'“”‘’?.")


# --- several questions in one -----------------------------------------------------------------------------------------

MOST_PARTS = 4
"""More questions at once are a text, and are left whole."""

_BARE = r"(?:when|where|why|how|in (?:which|what) year|for whom|by whom)"
_NOUN = rf"(?!(?:{_AUXILIARY}|more|fewer|less)\b)[\w-]+"
_NOUNS = rf"(?:{_NOUN} ){{0,2}}?{_NOUN}"
_HOW_MANY = re.compile(
    rf"(?P<head>how (?:many|much)) (?P<one>{_NOUNS})(?:, (?P<middle>{_NOUNS}))?,? and (?:how (?:many|much) )?"
    rf"(?P<two>{_NOUNS}) (?P<rest>{_AUXILIARY}\b.*)",
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

_HOW_MANY_LEFT = re.compile(rf"(?P<head>how (?:many|much)) (?P<noun>{_NOUNS}) {_AUXILIARY}\b", re.IGNORECASE)
_HOW_MANY_BARE = re.compile(rf"how (?:many|much) (?P<rest>{_AUXILIARY} .+)", re.IGNORECASE)

_ELLIPSIS = re.compile(rf"(?P<first>.+?)[,;]? and (?P<bare>{_BARE})$", re.IGNORECASE)
_TWO_HEADS = re.compile(rf"(?P<one>{_BARE}|who|what) and (?P<two>{_BARE}) (?P<rest>.+)", re.IGNORECASE)
_SECOND = re.compile(
    rf"(?P<first>.+?)(?:[,;]? and(?: also)?|[,;]) (?P<second>(?:(?:when|where|why|how) {_AUXILIARY}|who [a-z]+|"
    rf"(?:what|which|how (?:many|much|long|old|often|far))(?: [\w-]+){{0,3}}? {_AUXILIARY}|how many [\w-]+ [\w-]+|"
    rf"{_AUXILIARY})\b.*)",
    re.IGNORECASE,
)
_WHO_DID = re.compile(r"who (?P<did>\w+) (?P<object>.+)", re.IGNORECASE)
_INVERTED = re.compile(rf"{_ASKING} (?P<rest>{_AUXILIARY}\b.+)", re.IGNORECASE)
_PRONOUN = re.compile(r"\b(?:it|they|them|its|their|he|she|him|his|her|this|that|these|those|there)\b", re.IGNORECASE)
_WHO_ASKS = re.compile(r"(?:i|we|you|me|us)\b", re.IGNORECASE)
_DAY = re.compile(r"(?:mon|tues|wednes|thurs|fri|satur|sun)days?", re.IGNORECASE)
_IS_IT = re.compile(rf"\b{_AUXILIARY} (?:it|they|he|she)\b", re.IGNORECASE)
_OWNING = frozenset(("its", "their", "his"))
_PARTICIPLES = {
    "wrote": "written", "made": "made", "built": "built", "found": "found", "gave": "given", "took": "taken",
    "drew": "drawn", "led": "led", "sold": "sold", "bought": "bought", "sent": "sent", "paid": "paid", "won": "won",
    "began": "begun", "said": "said", "chose": "chosen", "drove": "driven", "held": "held", "wins": "won",
}  # fmt: skip
_SUBJECT_BEHIND = re.compile(
    r"(?:(?P<whole>(?:what|who|where|how (?:long|old|big|large|tall|deep|high|far)) (?:is|are|was|were)|"
    r"(?:is|are) there|who \w+)|"
    rf"(?P<doing>(?:(?:when|why|how) )?{_AUXILIARY} (?:I|we|you|one) \w+)|(?:(?:when|why|how) )?{_AUXILIARY}) "
    r"(?P<thing>(?:(?:the|an?|my|our|your) )?[\w-]+(?: [\w-]+){0,3})",
    re.IGNORECASE,
)
"""What follows is the subject, or the subject and one more word: "why was the shipment late"."""


@lru_cache(maxsize=256)
def parts_of(question: str) -> tuple[str, ...]:
    """The questions that a question is put together from, each with a question mark and standing alone.

    The question itself, as it is, where it is one or cannot be taken apart safely.
    """
    parts = [part for sentence in _sentences(question) for part in _apart(sentence)]
    standing = list(_standing_alone(parts))
    if not 2 <= len(standing) <= MOST_PARTS or len(standing) < len(parts):
        return (question,)
    return tuple(f"{part[0].upper()}{part[1:]}?" for part in standing)


@lru_cache(maxsize=256)
def searches_of(question: str) -> tuple[str, ...]:
    """What is to be found for a question: it itself, its parts or descriptions, or what is asked of two things each."""
    if both := measured(question):
        return (question, *both.questions)
    parts = parts_of(question)
    if len(parts) > 1:
        return (question, *parts)
    if descriptions := descriptions_of(question):
        return (question, *descriptions)
    asked = asked_for(question)
    if asked.kind is not Kind.COMPARISON or len(asked.things) < 2:
        return (question,)
    of_each = f"What is the {asked.aspect} of {{}}?" if asked.aspect else "What is {}?"
    return (question, *(of_each.format(thing) for thing in asked.things))


def _sentences(question: str) -> list[str]:
    """The sentences of a question that each ask; one where any of them does not."""
    pieces = [_plain(piece) for piece in re.split(r"\?\s+", " ".join(question.split()))]
    pieces = [piece for piece in pieces if piece]
    asking = all(_BEGINS_ASKING.match(piece) for piece in pieces)
    return pieces if asking else [_plain(question)]


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
            f"what {'are' if re.fullmatch(_PLURAL, noun.split(' of ')[0]) else 'is'} the {noun} of {found['thing']}"
            for noun in nouns
        ]
    if found := _ELLIPSIS.fullmatch(text):
        return _completed(found["first"], found["bare"]) or [text]
    if (found := _TWO_HEADS.fullmatch(text)) and re.match(_AUXILIARY + r"\b", found["rest"], re.IGNORECASE):
        return [f"{found['one']} {found['rest']}", f"{found['two']} {found['rest']}"]
    found = _SECOND.fullmatch(text)
    if found and _BEGINS_ASKING.match(found["first"]) and _same_manner(found["first"], found["second"]):
        return [*_apart(found["first"]), *_apart(found["second"])]
    return [text]


def _same_manner(first: str, second: str) -> bool:
    """A second question that begins with its verb goes with a first that does: "is it open, and is it free"."""
    begins = re.compile(_AUXILIARY + r"\b", re.IGNORECASE)
    return len(first.split()) > 1 and (begins.match(second) is None or begins.match(first) is not None)


def _completed(first: str, bare: str) -> list[str]:
    """Who wrote X and when: who wrote X, when was X written. Nothing where the second cannot be said."""
    if (did := _WHO_DID.fullmatch(first)) and not re.match(_AUXILIARY + r"\b", did["did"], re.IGNORECASE):
        if _LINKS.match(did["object"]) or did["object"].startswith(("against ", "about ")):
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
    found = _SUBJECT_BEHIND.fullmatch(_LINKS.split(part)[0].strip())
    if found is None or _PRONOUN.search(found["thing"]) or _WHO_ASKS.match(found["thing"]):
        return ""
    return str(found["thing"] if found["whole"] or found["doing"] else found["thing"].rpartition(" ")[0])
