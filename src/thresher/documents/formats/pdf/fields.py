"""What was filled into a form and written over a page of a PDF, each value behind its label: `Name: Vera Holt`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from pypdfium2 import PdfPage, raw

from thresher.documents.cleaning import clean_inline
from thresher.documents.formats.pdf.glyphs import Glyphs
from thresher.documents.formats.pdf.opening import wide_text
from thresher.documents.formats.pdf.struck import Box

MARKINGS = (raw.FPDF_ANNOT_HIGHLIGHT, raw.FPDF_ANNOT_UNDERLINE, raw.FPDF_ANNOT_STRIKEOUT, raw.FPDF_ANNOT_SQUIGGLY)
"""A file with these, or with callouts, was marked by a reader, whose is also what is written over its pages: so are 6
of the 41 papers."""
SLACK = 4.0  # points that the base line of a label may lie below its field


@dataclass(frozen=True, slots=True)
class Written:
    """A value or note, where it lies on its page, and what its field is called."""

    text: str
    box: Box
    name: str = ""
    """Of a field; a note that is written over the page has none."""


def written_on(page: PdfPage) -> tuple[list[Written], bool]:
    """The fields and the text written over a page, from the top; and whether a reader marked something on it."""
    found: list[Written] = []
    marked = False
    for index in range(raw.FPDFPage_GetAnnotCount(page)):
        note = raw.FPDFPage_GetAnnot(page, index)
        kind, box = raw.FPDFAnnot_GetSubtype(note), raw.FS_RECTF()
        callout = kind == raw.FPDF_ANNOT_FREETEXT and raw.FPDFAnnot_HasKey(
            note, b"CL"
        )  # with a line to what it is about
        marked |= kind in MARKINGS or bool(callout)
        if raw.FPDFAnnot_GetRect(note, box) and not raw.FPDFAnnot_GetFlags(note) & raw.FPDF_ANNOT_FLAG_HIDDEN:
            place = box.left, min(box.bottom, box.top), box.right, max(box.bottom, box.top)
            if kind == raw.FPDF_ANNOT_WIDGET and page.formenv and (text := clean_inline(_value(page.formenv, note))):
                found.append(Written(text, place, _name(page.formenv, note)))
            elif kind == raw.FPDF_ANNOT_FREETEXT:
                text = clean_inline(wide_text(raw.FPDFAnnot_GetStringValue, note, b"Contents"))
                found += [Written(text, place)] if text else []
        raw.FPDFPage_CloseAnnot(note)
    return sorted(found, key=lambda one: (-one.box[3], one.box[0])), marked


def _name(form: Any, field: Any) -> str:
    full = wide_text(raw.FPDFAnnot_GetFormFieldName, form, field).rpartition(".")[2]
    return clean_inline(wide_text(raw.FPDFAnnot_GetFormFieldAlternateName, form, field) or full or "?")


def _value(form: Any, field: Any) -> str:
    """What a field shows: its text, what was chosen, the state of a box that is ticked."""
    match raw.FPDFAnnot_GetFormFieldType(form, field):
        case raw.FPDF_FORMFIELD_CHECKBOX | raw.FPDF_FORMFIELD_RADIOBUTTON:
            checked = raw.FPDFAnnot_IsChecked(form, field)
            return wide_text(raw.FPDFAnnot_GetFormFieldExportValue, form, field) if checked else ""
        case raw.FPDF_FORMFIELD_LISTBOX:
            return ", ".join(_chosen(form, field))
        case raw.FPDF_FORMFIELD_TEXTFIELD | raw.FPDF_FORMFIELD_COMBOBOX:
            return wide_text(raw.FPDFAnnot_GetFormFieldValue, form, field)
    return ""


def _chosen(form: Any, field: Any) -> Iterator[str]:
    for option in range(raw.FPDFAnnot_GetOptionCount(form, field)):
        if raw.FPDFAnnot_IsOptionSelected(form, field, option):
            yield wide_text(raw.FPDFAnnot_GetOptionLabel, form, field, option)


def labelled(written: Sequence[Written], glyphs: Glyphs) -> tuple[dict[int, str], list[Written]]:
    """The values behind the last character of the label of each, which stands left of it; and what has no label."""
    values: dict[int, str] = {}
    aside: list[Written] = []
    for one in written:
        left, bottom, _, top = glyphs.turned(*one.box)
        beside = [(box[0], at) for at, box in glyphs.boxes.items() if bottom - SLACK <= box[1] <= top and box[0] < left]
        if one.name and beside:
            label = max(beside)[1]
            values[label] = f"{values.get(label, '')} {one.text}"
        else:
            aside.append(one)
    return values, aside
