"""What a question asks, read once from its words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

from thresher.question.wording import SubQuestion, asked_apart
from thresher.text.entities import heads_in
from thresher.text.terms import index_terms
from thresher.types import Query

READ = 1_000
"""Questions of which the intent is kept."""


@dataclass(frozen=True, slots=True)
class Intent:
    """What a question asks."""

    question: str
    parts: tuple[SubQuestion, ...]
    """The question, or both of two that it asks."""
    subject: str
    """What it asks to be introduced; "" where it asks for something else."""
    identifiers: tuple[str, ...]
    """Numbers and codes under which an entry of a document may stand, as they are typed."""
    file: tuple[str, Fact] | None
    """The file that it names to ask for one of its properties."""
    document: str | None
    """What it calls the document that it asks about as a whole, "" for "this document"; None for another question."""
    courtesy: str
    """The line that answers a greeting; "" for a question."""

    @property
    def searches(self) -> tuple[str, ...]:
        """What is searched and judged: the question, and each of its parts."""
        return (self.question, *(part.asked for part in self.parts if len(self.parts) > 1))

    def to_dict(self) -> dict[str, Any]:
        """What the trace has of it; empty for a question that asks one thing."""
        read = {
            "parts": [part.text for part in self.parts] if len(self.parts) > 1 else [],
            "subject": self.subject,
            "identifiers": list(self.identifiers),
        }
        return {name: value for name, value in read.items() if value}


@lru_cache(maxsize=READ)
def intent_of(question: str) -> Intent:
    """The intent of a question as it is searched."""
    short = question if len(question) <= _LONGEST else ""
    return Intent(
        question,
        asked_apart(question),
        subject_asked(short),
        tuple(question[one.start : one.end] for one in heads_in(question)),
        file_asked(short),
        asks_about_whole(short),
        courtesy(question),
    )


def enough_for(query: Query, stages: Sequence[tuple[int, float]]) -> Sequence[tuple[int, float]]:
    """Numbers of hits and the probability of one that makes them enough; none where more are wanted, or two answers."""
    more = any(query.limit > most for most, _ in stages[-1:])
    return () if more or len(intent_of(query.question).parts) > 1 else stages


_LONGEST = 400
"""Characters of a question that is read by patterns as a whole: their time grows with its third power."""

_WHAT_IS = re.compile(
    r"\s*(?:what|who)(?:\s+(?:is|are|was|were)|['’]s)\s+(?P<article>(?:the|an?)\s+)?(?P<subject>[^?]+?)\s*\?*\s*",
    re.IGNORECASE,
)
_LONGEST_SUBJECT = 4


def subject_asked(question: str) -> str:
    """What a question asks to be introduced, "" for any other question.

    A name or a noun without a definite article: "the deposit" is a value of something that is known.

    >>> [subject_asked(q) for q in ("What is batch normalization?", "who's Ada Kask", "What is the deposit?")]
    ['batch normalization', 'Ada Kask', '']
    """
    found = _WHAT_IS.fullmatch(question)
    if found is None:
        return ""
    words, definite = found["subject"].split(), (found["article"] or "").lower().startswith("the")
    if len(words) > _LONGEST_SUBJECT or not all(map(index_terms, words)) or (definite and found["subject"].islower()):
        return ""
    return found["subject"]


# --- questions that no passage answers: about a document as a whole, a greeting ---------------------------------------

_ENDING = r"\.\w{1,5}"
_FILE = (
    r"(?:(?:(?:the|this|that|my|our)\s+)?"
    rf"(?:(?:document|file)(?:\s.+?)?|(?:doc|paper|pdf)(?:\s.+?{_ENDING})?)|\S+{_ENDING})"
)
"""A file that is named as one: by the word before it, or by the ending of its name."""

Fact = Literal["length", "author", "date", "changed"]

_NAMED_FILE = re.compile(r"(?<!\S)[“\"'‘]?(?P<name>[\w().-]+\.\d*[^\W\d]\w{0,4})\b")
_FACTS: dict[Fact, set[str]] = {
    "changed": {"changed", "modified", "updated", "edited", "revised", "saved"},
    "length": {"pages", "words", "sheets", "slides", "long"},
    "date": {"when", "dated"},
    "author": {"author", "authors", "wrote", "written", "created", "made"},
}
_BESIDE_A_FILE = {"who", "what", "which", "how", "many", "day", "on", "is", "are", "was", "were", "has", "have", "does"}
_BESIDE_A_FILE |= {"did", "by", "whom", "of", "in", "there", "the", "last", "and", "it", "number", "document", "file"}
_BESIDE_A_FILE = _BESIDE_A_FILE.union(*_FACTS.values())


def file_asked(question: str) -> tuple[str, Fact] | None:
    """The file of which a question asks who made or changed it, when, or how long it is, and nothing else, and which.

    >>> [file_asked(f"{x}?") for x in ("Who wrote a.docx", "How many pages has plan-2.pdf", "Who is named in a.docx")]
    [('a.docx', 'author'), ('plan-2.pdf', 'length'), None]
    """
    if (named := _NAMED_FILE.search(question)) is None:
        return None
    words = set(re.findall(r"\w+", question.replace(named["name"], "").lower()))
    fact = next((fact for fact, said in _FACTS.items() if words & said), None)
    return (named["name"], fact) if fact and words <= _BESIDE_A_FILE else None


_WHAT_IS_IT = r"what(?:['’]?s|\s+is)"
_WHOLE = re.compile(
    r"\W*(?:(?:please|can you|could you)\W+)*(?:"
    r"(?:summari[sz]e|outline)(?:\s+(?!of\b)(?P<named_document>.+?))?"
    r"|(?:(?:give|show|write|make)\s+(?:me\s+)?)?(?:an?|the)?\s*(?:(?:short|brief|quick)\s+)?(?:summary|overview|outline)"
    rf"(?:\s+of\s+(?P<of>.+?)|\W+(?P<behind>{_FILE}))?"
    rf"|(?P<before>{_FILE})\W+(?:summary|overview|outline)"
    rf"|{_WHAT_IS_IT}\s+(?:this|that|it)(?:\s+(?:file|document|paper|text))?\s+(?:all\s+)?about\s*[:,-]\s*(?P<named>.+?)"
    r"|what(?:['’]s|\s+is|\s+does)\s+(?P<about>.+?)\s+(?:all\s+)?(?:about|deal\s+with)"
    rf"|(?:(?:tell|show)\s+me\s+(?:\w+\s+)?about|describe|{_WHAT_IS_IT}\s+(?:in|inside))\s+(?P<file>{_FILE})"
    rf"|what\s+does\s+(?P<holds>{_FILE})\s+(?:contain|say)"
    r")(?:\W+(?:please|for me))?\W*",
    re.IGNORECASE,
)
_DOCUMENT = re.compile(
    r"(?:(?:the|this|that|my|our|whole|entire)\s+)*(?:document|file|doc|text|paper|pdf|it|this|that)?", re.IGNORECASE
)


def asks_about_whole(question: str) -> str | None:
    """What a question that asks about a document as a whole calls it, "" for "this document"; None for any other.

    >>> [asks_about_whole(f"{x}?") for x in ("Summarise a.docx", "What is the lease about", "What is this file about")]
    ['a.docx', 'lease', '']
    """
    found = _WHOLE.fullmatch(question)
    if found is None:
        return None
    named = next(filter(None, found.groups()), "").strip(" \"'“”‘’«»?")
    if _DOCUMENT.fullmatch(named):
        return ""
    bare = re.sub(r"^(?:the|this|our|my)\s+", "", named, flags=re.IGNORECASE)
    return re.sub(r"^(?:document|file|doc|paper|pdf)\s+(?!of\b)", "", bare, flags=re.IGNORECASE).strip(" \"'“”‘’")


_THANKS = {"thanks", "thank", "thx", "cheers", "danke", "merci", "gracias"}
_HELLO = {"hello", "hi", "hey", "hallo", "bonjour", "hola", "morning", "afternoon", "evening"}
_BYE = {"bye", "goodbye"}
_BESIDES = {"a", "again", "all", "and", "everyone", "for", "good", "great", "help", "lot", "many", "much", "ok"}
_BESIDES |= {"nice", "okay", "perfect", "so", "that", "the", "there", "very", "you", "your"}
_WHO = {"who are you", "what are you", "what can you do", "what do you do", "how are you"}


def courtesy(question: str) -> str:
    """The line that answers thanks, a greeting or "who are you"; empty for any other text."""
    words = [word.lower() for word in re.findall(r"\w+", question)]
    if " ".join(word for word in words if word not in _HELLO) in _WHO:
        return "I answer questions from the documents of this collection, with citations, and say where they do not."
    if not set(words) <= _THANKS | _HELLO | _BYE | _BESIDES:
        return ""
    if not _THANKS.isdisjoint(words):
        return "You are welcome."
    if not _BYE.isdisjoint(words):
        return "Goodbye."
    return "" if _HELLO.isdisjoint(words) else "Hello. What would you like to know from the documents?"
