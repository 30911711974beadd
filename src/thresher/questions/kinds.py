"""What kind of answer a question asks for.

The rules are for English and look at words alone. They are careful: a question that none of them is sure about asks
for a fact.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from thresher.text.entities import are_names


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

AUXILIARY = (
    r"(?:is|are|was|were|do|does|did|can|could|may|might|must|shall|should|will|would|has|have|had|am|"
    r"isn't|aren't|wasn't|weren't|don't|doesn't|didn't|can't|won't|hasn't|haven't)"
)
ASKING = r"(?:who|whom|whose|what|which|when|where|why|how)"
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
PLURAL = r"(?:[\w-]+ ){0,3}?(?!\w*(?:ss|us|is)\b)[\w-]+s"

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
        rf"|what (?:are|were) (?:all |the |all the |its |our |my |your ){PLURAL}\b"
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
    (Kind.YES_NO, rf"(?:(?:according to|in|for|under|with|if|as|at|on)\b[^,]*, )?{AUXILIARY}\b.+"),
)

LINKS = re.compile(r"\b(?:of|for|in|on|at|to|by|with|from|used|per|between|during|after|before|when|if)\b")
"""What makes "what is X" ask for a property rather than for what X is."""

_KIND_PATTERNS = tuple((kind, re.compile(pattern, re.IGNORECASE)) for kind, pattern in _KINDS)
BEGINS_ASKING = re.compile(
    rf"(?:{ASKING}|{AUXILIARY}|summari[sz]e|explain|describe|define|list|compare|name)\b", re.IGNORECASE
)

KEYWORD_WORDS = 2
"""So few words without anything that asks are a search, not a question."""


def asked_for(question: str) -> Asked:
    """The kind of answer, by the first rule that fits; a fact where none does."""
    text = plain(question)
    told, _, last = text.rpartition(". ")
    text = last if told and BEGINS_ASKING.match(last) else text
    words = text.split()
    if len(words) == 1 or (len(words) <= KEYWORD_WORDS and not BEGINS_ASKING.match(text)):
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
        return found.end() == len(text) and not LINKS.search(text)
    return True


def plain(question: str) -> str:
    """The question on one line, without politeness before it and marks behind it."""
    text = " ".join(question.replace("’", "'").split()).rstrip(" ?!.")
    while (shorter := _POLITE.sub("", text, count=1)) != text:
        text = shorter
    return text


def _thing(text: str) -> str:
    return text.removesuffix(" about").strip(" ,;:\"'“”‘’?.")
