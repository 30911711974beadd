"""Address books (vCard, RFC 6350 and the versions before it): each card as sentences about one person or body."""

from __future__ import annotations

import quopri
import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import date

from thresher.documents.assembly import Assembly, Parsed
from thresher.documents.cleaning import clean_inline, decode, normalise
from thresher.documents.registry import RawFile
from thresher.errors import DocumentError
from thresher.parts.documents import written
from thresher_formats.icalendar import Entry, Value, content_lines

CALLED = {
    "NICKNAME": "called", "TEL": "phone", "EMAIL": "e-mail", "ADR": "address", "BDAY": "birthday",
    "ANNIVERSARY": "anniversary", "URL": "web page", "IMPP": "messages", "LANG": "language", "GENDER": "gender",
    "CATEGORIES": "categories", "RELATED": "related", "TZ": "time zone", "NOTE": "note",
}  # fmt: skip
UNTOLD = frozenset({"internet", "pref", "voice", "x400", "dom", "intl", "postal", "parcel"})
"""Kinds of a number or address that say nothing of it."""


def read_cards(file: RawFile) -> Parsed:
    """A file of cards: a paragraph for each."""
    text, notes = decode(file.data)
    assembly = Assembly()
    count = 0
    for entry in _cards(normalise(text)):
        if told := _told(entry):
            count += 1
            assembly.mark("part", f"card {count}")
            assembly.paragraph(told)
    if not assembly:
        raise DocumentError("it has no cards", next_step="check that it is an address book, or rename it to .txt")
    return assembly.parsed(metadata={**notes, "cards": count})


def _cards(text: str) -> Iterator[Entry]:
    entry: Entry = {}
    for name, value in content_lines(text):
        if name == "BEGIN":
            entry = {}
        elif name == "END":
            yield entry
        else:
            if value.given.get("ENCODING", "").upper() == "QUOTED-PRINTABLE":
                value = replace(value, text=quopri.decodestring(value.text.encode()).decode("utf-8", "replace"))
            entry.setdefault(name, []).append(value)


def _told(entry: Entry) -> str:
    def said(name: str) -> str:
        return "; ".join(filter(None, (_shown(name, value) for value in entry.get(name, ()))))

    name = said("FN") or said("N") or said("ORG") or said("EMAIL")
    roles = dict.fromkeys(filter(None, (said("TITLE"), said("ROLE"), said("ORG"))))
    sentences = [f"{name}: {', '.join(roles)}" if roles else name] if name else []
    about = f"{name}, " if name else ""  # each by itself says whose it is: several cards may stand in one passage
    for field, called in CALLED.items():
        for value in entry.get(field, ()):
            if shown := _shown(field, value):
                kinds = ", ".join(each for each in value.given.get("TYPE", "").lower().split(",") if each not in UNTOLD)
                sentences.append(f"{about}{called}{f' ({kinds})' if kinds else ''}: {shown}")
    return clean_inline(". ".join(one.rstrip(".") for one in sentences) + "." if sentences else "")


def _shown(name: str, value: Value) -> str:
    parts = [part.strip() for part in re.split(r"(?<!\\);", value.text)]
    if name == "N":  # family, given, further names, titles before and behind
        parts = [*parts[3:4], *parts[1:2], *parts[2:3], *parts[:1], *parts[4:5]]
        return " ".join(filter(None, parts))
    if name == "ADR":  # box, flat, street, town, region, code, country
        _, _, *rest = [*parts, *[""] * 7][:7]
        street, town, region, code, country = rest
        parts = [*parts[:2], street, f"{code} {town}".strip(), region, country]
    if name in ("BDAY", "ANNIVERSARY") and (day := _day(value.text)):
        return day
    shown = (Value(part).shown.removeprefix("tel:") for part in parts)
    return clean_inline(", ".join(filter(None, shown)))


def _day(text: str) -> str:
    found = re.match(r"(\d{4})-?(\d\d)-?(\d\d)", text)
    try:
        return written(date(*map(int, found.groups()))) if found else ""
    except ValueError:
        return ""
