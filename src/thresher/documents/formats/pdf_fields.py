"""What was filled into the form of a PDF and written over its pages, each at its place in the text.

PDFium's text has neither values of fields nor annotations. pypdf has both, and the places of the words of a page, so
that a value goes behind its label: `Name: Vera Holt`.
"""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pypdf import PdfReader
from pypdf.errors import PyPdfError

from thresher.documents.cleaning import clean_inline

HIDDEN = 2  # the flag of an annotation that no program shows
OFF = ("/Off", "")
CALLOUT = "/FreeTextCallout"  # a remark on the page, with a line that leads to what it is about
MARKS = ("/Highlight", "/Underline", "/StrikeOut", "/Squiggly")
"""A file with these, or with callouts, was marked by a reader, whose is also what is written over its pages: so are 6
of the 41 papers."""
SLACK = 4.0  # points that the base line of a label may lie below its field
WRITTEN = ("/Widget", "/FreeText")  # annotations that are on the page, fields first; a note beside it is a reader's
ENDED = re.compile(r"[.!?:]\"?(?=\s*(?:\n|\Z))")

Word = tuple[float, float, str]  # where some words of a page begin, from its left and its bottom, and the words


@dataclass(frozen=True, slots=True)
class Written:
    """A value or note, where it lies on its page, and what its field is called."""

    text: str
    left: float
    bottom: float
    top: float
    name: str = ""  # of a field; a note has none


def with_fields(data: bytes, pages: Sequence[str]) -> list[str]:
    """The texts of the pages with what was filled in; as they are where the file is no sound PDF to pypdf."""
    try:
        reader = PdfReader(io.BytesIO(data))
        if reader.is_encrypted:
            return list(pages)
        notes = [[one.get_object() for one in page.get("/Annots", ())] for page in reader.pages]
        marked = any(one.get("/Subtype") in MARKS or one.get("/IT") == CALLOUT for page in notes for one in page)
        kinds = WRITTEN[:1] if marked else WRITTEN
        parts = zip(pages, reader.pages, notes, strict=False)
        filled = [_filled(text, _written(each, kinds), page) for text, page, each in parts]
        return [*filled, *pages[len(filled) :]]
    except (PyPdfError, ValueError, TypeError, KeyError, AttributeError, IndexError, RecursionError, OSError):
        return list(pages)


def _written(notes: Sequence[Any], kinds: Sequence[str]) -> list[Written]:
    """The fields and the text written over a page, from the top."""
    found = []
    for note in notes:
        if note.get("/Subtype") not in kinds or int(note.get("/F", 0)) & HIDDEN or "/Rect" not in note:
            continue
        left, bottom, _, top = (float(number) for number in note["/Rect"])
        field = note["/Subtype"] == "/Widget"
        name = clean_inline(str(_inherited(note, "/TU") or _inherited(note, "/T") or "?")) if field else ""
        if text := clean_inline(_value(note) if field else str(note.get("/Contents") or "")):
            found.append(Written(text, left, min(bottom, top), max(bottom, top), name))
    return sorted(found, key=lambda one: (-one.top, one.left))


def _value(field: Any) -> str:
    """What a field shows: its text, what was chosen, the state of a box that is ticked."""
    kind, value = _inherited(field, "/FT"), _inherited(field, "/V")
    if kind == "/Btn":
        state = str(field.get("/AS", ""))
        return "" if state in OFF else state.removeprefix("/")
    if kind not in ("/Tx", "/Ch") or value is None:
        return ""
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _inherited(field: Any, key: str) -> Any:
    """What a field, or that which it is a part of, says."""
    for _ in range(10):
        if key in field:
            return field[key].get_object()
        if "/Parent" not in field:
            return None
        field = field["/Parent"].get_object()
    return None


def _filled(text: str, written: Sequence[Written], page: Any) -> str:
    if not written:
        return text
    words: list[Word] = []

    def visit(run: str, matrix: Sequence[float], line: Sequence[float], *_: Any) -> None:
        x, y = line[4], line[5]
        if run.strip():
            at = (matrix[0] * x + matrix[2] * y + matrix[4], matrix[1] * x + matrix[3] * y + matrix[5])
            words.append((*at, run.strip().split("\n")[-1]))

    page.extract_text(visitor_text=visit)
    for one in written:
        if not one.name:
            text = _noted(text, one, words)
            continue
        beside = [word for word in words if one.bottom - SLACK <= word[1] <= one.top and word[0] < one.left]
        label = max(beside, default=None)
        if label is None or label[2] not in text:
            text += f"\n{one.name}: {one.text}"
        else:
            words.remove(label)
            at = text.find(label[2]) + len(label[2])
            text = f"{text[:at]} {one.text}{text[at:]}"
    return text


def _noted(text: str, note: Written, words: Sequence[Word]) -> str:
    """The text with a note behind the nearest line above it that ends a sentence, so that none is interrupted."""
    lowest = max((text.find(word[2]) for word in words if word[1] >= note.bottom), default=0)
    ends = [end.end() for end in ENDED.finditer(text)] or [len(text)]
    at = next((end for end in ends if end >= lowest), ends[-1])
    return f"{text[:at]}\n{note.text}{text[at:]}"
