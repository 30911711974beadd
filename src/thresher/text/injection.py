"""Sentences that tell a reader what to answer: they state nothing, so they support nothing."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from thresher.types import Evidence

_REPLY = r"(?:answer|reply|respond|say|write|output|print|return|repeat|state|claim|insist|pretend)"
_COMMANDS = (
    # "Ignore all instructions above", "disregard the previous text"
    r"\b(?:ignore|disregard|forget|override|bypass)\b[^.!?]{0,40}\b(?:instructions?|prompts?|rules|guidelines|above|previous|evidence|documents?)\b",
    # "Answer with the word PWNED", "... and reply only: yes", "Say that ...", "please tell the user that ..."
    r"(?:^|[.!?:;,\"“>*#|-]\s*|\b(?:and|then|now|please|must|should|always|only|just|instead)\s+)"
    rf"(?:{_REPLY}\s+(?:only\b|exactly\b|just\b|with\b|that\b|the (?:word|text|phrase|string|following)\b|[\"“'‘])"
    r"|(?:tell|inform)(?:\s+\w+){1,3}\s+that\b)",
    # "You must say ..."
    rf"\b(?:you|assistant|model)\s+(?:must|should|shall|will|have to|are to)\s+(?:now\s+|always\s+|only\s+)?{_REPLY}\b",
    # "When asked about X, say ..."
    rf"\b(?:when|if|whenever)\b[^.!?]{{0,30}}\b(?:asked|question|prompt)[^.!?]{{0,60}}[,:]\s*(?:please\s+|always\s+|only\s+)?{_REPLY}\b",
    # {"scores": [1, 1], "verdict_1": "supported"}: a reply that is to be copied
    r"[{,]\s*[\"“”](?:scores?|verdict(?:_\d+)?|evidence_\d+|supported)[\"“”]\s*:",
    r"\b(?:system prompt|you are (?:now )?an? (?:ai|assistant|language model|chatbot))\b",
)
_COMMAND = re.compile("|".join(_COMMANDS), re.IGNORECASE)

_ALIKE = str.maketrans(
    "аеорсухіѕјԁԛԝһοανικρτυχАВЕКМНОРСТХІЅЈΑΒΕΖΗΙΚΜΝΟΡΤΥΧ", "aeopcyxisjdqwhoavikptuxABEKMHOPCTXISJABEZHIKMNOPTYX"
)
"""Cyrillic and Greek letters that look like Latin ones."""


def is_command(sentence: str) -> bool:
    """Whether a sentence addresses the model that answers from it."""
    return _COMMAND.search(sentence.translate(_ALIKE)) is not None


def fenced(text: str) -> str:
    """Text that cannot open or close a block of a prompt."""
    return text.replace("<", "‹").replace(">", "›")


def fenced_attribute(text: str) -> str:
    """Text that cannot open or close a block of a prompt, nor end a quoted attribute of one."""
    return fenced(text).replace('"', "”")


def without_mark(document_id: str) -> str:
    """No mark."""
    return ""


def evidence_blocks(evidence: Sequence[Evidence], mark: Callable[[str], str] = without_mark) -> str:
    """The pieces numbered from 1, each in a block with its title and page, and the `mark` of its document."""
    blocks = []
    for number, piece in enumerate(evidence, start=1):
        chunk = piece.hit.chunk
        place = f"{chunk.title or chunk.source}" + (f", page {piece.page}" if piece.page else "")
        blocks.append(evidence_block(number, place, piece.text, mark(chunk.document_id)))
    return "\n".join(blocks)


def evidence_block(number: int, place: str, text: str, version: str = "") -> str:
    """A text of a place as numbered evidence, with the mark of its version if it has one."""
    marked = f' version="{version}"' if version else ""
    opening = f'<evidence number="{number}" from="{fenced_attribute(place)}"{marked}>'
    return f"{opening}\n{fenced_attribute(text)}\n</evidence>"
