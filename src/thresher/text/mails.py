"""Questions about e-mails themselves: who sent one, to whom, when, and what its subject is."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from thresher.text.terms import term_set

Header = Literal["From", "To", "Date", "Subject"]


@dataclass(frozen=True, slots=True)
class AskedOfMail:
    """Which line of a mail's head is asked for, and what is said of the mail; "" for what is not said."""

    header: Header
    about: str = ""
    sender: str = ""
    recipient: str = ""

    @property
    def names_people(self) -> bool:
        """Whether sender or recipient are named."""
        return bool(self.sender or self.recipient)

    def is_between(self, metadata: Mapping[str, str | int | float | bool]) -> bool:
        """Whether a mail with that metadata (`from`, `to`, `cc`) has the sender and the recipient that are named."""
        sent = term_set(str(metadata.get("from", "")))
        got = term_set(f"{metadata.get('to', '')} {metadata.get('cc', '')}")
        return term_set(self.sender) <= sent and term_set(self.recipient) <= got


_MAIL = r"(?:(?:the|an|that|this|any) )?(?:(?P<owner>[\w .-]+?)'s )?(?:e-?mails?|mails?|messages?)"
_REST = r"(?P<rest>(?: .+)?)"
_ASKS: tuple[tuple[Header, str], ...] = (
    ("From", rf"who(?:m)? (?:sent|wrote|is the (?:sender|author) of|was the (?:sender|author) of) {_MAIL}{_REST}"),
    ("From", rf"(?:who(?:m)? (?:is|was)|from who(?:m)? (?:is|was|came|comes)) {_MAIL}{_REST}"),
    ("From", rf"what is the sender of {_MAIL}{_REST}"),
    ("To", rf"who(?:m)? (?:received|got|is the recipient of|was the recipient of) {_MAIL}{_REST}"),
    ("To", rf"to who(?:m)? (?:is|was) {_MAIL}{_REST}"),
    ("Date", rf"(?:when|on (?:what|which) (?:day|date)) (?:is|was) {_MAIL}{_REST}"),
    ("Date", rf"when did (?P<who>.+?) (?:send|write) {_MAIL}{_REST}"),
    ("Date", rf"what (?:is|was) the (?:date|day) of {_MAIL}{_REST}"),
    ("Subject", rf"what (?:is|was) the (?:subject|title|topic)(?: line)? of {_MAIL}{_REST}"),
)
_PATTERNS = tuple((header, re.compile(pattern, re.IGNORECASE)) for header, pattern in _ASKS)
_LINKS = re.compile(
    r"\s+(?P<link>about|regarding|concerning|on the subject of|with the subject|called|titled|from|by|to|"
    r"that|which|sent|written|dated|received)\b\s*",
    re.IGNORECASE,
)
_LINK_OF: Mapping[str, str] = {"from": "sender", "by": "sender", "to": "recipient"}
_DONE = frozenset({"sent", "written", "received", "dated"})


@lru_cache(maxsize=256)
def asked_of_mail(question: str) -> AskedOfMail | None:
    """What a question asks of a mail; None where it asks for nothing of the head, or says what no rule reads.

    "When was the mail from Tomas about the kick-off sent?" asks for the date of a mail by Tomas about the kick-off.
    """
    text = " ".join(question.replace("’", "'").split()).rstrip(" ?!.")
    for header, pattern in _PATTERNS:
        if found := pattern.fullmatch(text):
            said = _said(found["rest"])
            if said is None:
                return None
            named = found.groupdict()
            for name in ("owner", "who"):
                said["sender"] = f"{said['sender']} {named.get(name) or ''}".strip()
            return AskedOfMail(header, **said)
    return None


def _said(rest: str) -> dict[str, str] | None:
    """What stands behind the word for a mail, by kind; None where a piece of it is of no kind."""
    said = {"about": "", "sender": "", "recipient": ""}
    before, *pieces = _LINKS.split(f" {rest.strip()}") if rest.strip() else [""]
    if before.strip():
        return None
    for link, piece in zip(pieces[::2], pieces[1::2], strict=True):
        link, piece = link.lower(), piece.strip(" \"'“”‘,")
        if not piece and link in (*_DONE, "from", "by"):  # "Who is the mail about lunch from?"
            continue
        if link in _DONE or link in ("that", "which") or not piece:
            return None
        kind = _LINK_OF.get(link, "about")
        said[kind] = f"{said[kind]} {link} {piece}" if said[kind] and kind == "about" else piece
    return said
