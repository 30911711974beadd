"""Questions that no passage answers: about a document as a whole, for the next passage, a greeting."""

from __future__ import annotations

import re

_ENDING = r"\.\w{1,5}"
_FILE = (
    r"(?:(?:(?:the|this|that|my|our)\s+)?"
    rf"(?:(?:document|file)(?:\s.+?)?|(?:doc|paper|pdf)(?:\s.+?{_ENDING})?)|\S+{_ENDING})"
)
"""A file that is named as one: by the word before it, or by the ending of its name."""

_WHAT_IS_IT = r"what(?:['’]?s|\s+is)"
_WHOLE = re.compile(
    r"\W*(?:(?:please|can you|could you)\W+)*(?:"
    r"(?:summari[sz]e|outline)(?:\s+(?!of\b)(?P<told>.+?))?"
    r"|(?:(?:give|show|write|make)\s+(?:me\s+)?)?(?:an?|the)?\s*(?:(?:short|brief|quick)\s+)?(?:summary|overview|outline)"
    rf"(?:\s+of\s+(?P<of>.+?)|\W+(?P<behind>{_FILE}))?"
    rf"|(?P<before>{_FILE})\W+(?:summary|overview|outline)"
    rf"|{_WHAT_IS_IT}\s+(?:this|that|it)\s+(?:all\s+)?about\s*[:,-]\s*(?P<named>.+?)"
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


_OTHER = re.compile(
    r"\W*(?:(?:no|nope|yes|yeah|yep|ok|okay|sure|please|sorry|actually|and|i mean|i meant|show me|show)\b\W*)*"
    r"(?P<other>the (?:other|next|second)(?: (?:one|passage|place|answer))?\b|more\b)?\W*(?:please)?\W*",
    re.IGNORECASE,
)


def wants_other(question: str) -> bool:
    """Whether what was typed takes up an offer or asks for the next passage: "yes, please", "no, the other one".

    >>> [wants_other(x) for x in ("Yes please.", "no, the other one", "and the other station?", "and?")]
    [True, True, False, False]
    """
    found = _OTHER.fullmatch(question)
    return found is not None and bool(found["other"] or re.search(r"\b(?:no|ye|ok|sure)", question, re.IGNORECASE))


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
