"""Word, PowerPoint, Excel and EPUB: archives of XML, read by kreuzberg after their directory was checked."""

from __future__ import annotations

import io
import re
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any
from xml.etree import ElementTree

from thresher.documents.assembly import Assembly, Parsed
from thresher.documents.cleaning import clean_inline, iso_date
from thresher.documents.formats.archives import check_archive, open_archive, relations, relations_of, xml_of
from thresher.documents.formats.extractor import SLIDE_MARK, described, extract
from thresher.documents.formats.sheets import Sheet, sheets_of
from thresher.documents.registry import RawFile
from thresher.errors import DocumentError
from thresher.structure.locators import column_name
from thresher.types import MarkKind, Metadata

MOST_FORMULAS = 5  # named of those that have no value
PROGRAMS = frozenset({"", "openpyxl", "python-docx"})  # call themselves the author
TEMPLATE_MOMENTS = frozenset({"2013-12-23T23:15:00Z", "2013-01-27T09:14:16Z"})
"""When the templates of python-docx and python-pptx were made: their files say so until a program says otherwise."""
NOTES = "Notes:"  # what the extractor writes above the notes of a slide
SLIDE = re.compile(re.escape(SLIDE_MARK).replace(re.escape("{page_num}"), r"(\d+)"))


def read_document(file: RawFile) -> Parsed:
    """A docx or epub file: headings, paragraphs and tables in order."""
    result, assembly = _extracted(file), Assembly()
    items = styled_items(file.data) if file.kind.name == "docx" else {}
    return _parsed(file, assembly, result, add_nodes(assembly, result.document, items))


def read_slides(file: RawFile) -> Parsed:
    """A pptx file: each slide is a page, in the order they are shown, hidden ones included."""
    result, assembly = _extracted(file), Assembly()
    return _parsed(file, assembly, result, add_slides(assembly, result.content))


def read_sheets(file: RawFile) -> Parsed:
    """An xlsx file: each sheet is a table under its name; formulas that no program has computed are metadata."""
    result, assembly = _extracted(file), Assembly()
    sheets = sheets_of(file.data)
    add_sheets(assembly, result, sheets)
    parsed = _parsed(file, assembly, result, "")
    uncomputed = [f"{name}!{cell}" for name, sheet in sheets.items() for cell in sheet.uncomputed]
    if not uncomputed:
        return parsed
    shown = ", ".join(uncomputed[:MOST_FORMULAS]) + (", …" if len(uncomputed) > MOST_FORMULAS else "")
    said: Metadata = {"formulas_without_value": len(uncomputed), "first_formulas_without_value": shown}
    return replace(parsed, metadata={**parsed.metadata, **said})


def _extracted(file: RawFile) -> Any:
    check_archive(file.data, limits=file.limits)
    slides = file.kind.name == "pptx"
    data = slides_as_shown(file.data) if slides else file.data
    return extract(data, file.kind.mime_types[0], limits=file.limits, slide_marks=slides)


def _parsed(file: RawFile, assembly: Assembly, result: Any, heading: str) -> Parsed:
    if not assembly:
        raise DocumentError(f"the {file.kind.name} file has no text", next_step="check that it is not only pictures")
    created = str(result.metadata.get("created_at") or "")
    return Parsed(
        assembly.text,
        pages=assembly.pages,
        tables=assembly.tables,
        marks=assembly.marks,
        title=str(result.metadata.get("title") or ""),
        heading=heading,
        date=None if created in TEMPLATE_MOMENTS else iso_date(created),
        metadata=described(result.metadata, junk=PROGRAMS),
    )


def add_nodes(assembly: Assembly, document: Mapping[str, Any] | None, items: Mapping[str, bool]) -> str:
    """Headings, paragraphs, list items with their marks, and tables in order; returns the first heading.

    `items` are paragraphs that are items by their style alone, which the extractor does not tell.
    """
    first, number, tables = "", 0, 0
    nodes = (document or {}).get("nodes", ())
    for node in nodes:
        content = node["content"]
        kind = content.get("node_type")
        text = str(content.get("text") or "")
        numbered = items.get(clean_inline(text)) if kind == "paragraph" else None
        if kind == "list_item":
            numbered = bool(nodes[node["parent"]]["content"].get("ordered")) if "parent" in node else False
        number = 0 if numbered is None else number + 1
        if kind == "table":
            tables += 1
            assembly.table(_cells(content["grid"]), number=tables)
        elif kind not in ("group", "slide"):
            if kind in ("heading", "title"):
                first = first or clean_inline(text)
                assembly.mark("heading", clean_inline(text))
            mark = "" if numbered is None else f"{number}. " if numbered else "- "
            assembly.paragraph(mark + text if text.strip() else "")
    return first


_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"


def styled_items(data: bytes) -> dict[str, bool]:
    """Paragraphs of a Word file whose style is List Bullet or List Number, on one line, and whether it is the second.

    None of a file that is not as the standard has it.
    """
    try:
        with open_archive(data) as archive:
            styles = {
                style.get(f"{_W}styleId"): name.get(f"{_W}val", "").lower()
                for style in xml_of(archive, "word/styles.xml").iter(f"{_W}style")
                if (name := style.find(f"{_W}name")) is not None
            }
            paragraphs = list(xml_of(archive, "word/document.xml").iter(f"{_W}p"))
    except (LookupError, ElementTree.ParseError, zipfile.BadZipFile, zlib.error, EOFError):
        return {}
    items = {}
    for paragraph in paragraphs:
        style = paragraph.find(f"{_W}pPr/{_W}pStyle")
        called = styles.get(style.get(f"{_W}val"), "") if style is not None else ""
        if called.startswith(("list bullet", "list number")):
            text = "".join(part.text or "" for part in paragraph.iter(f"{_W}t"))
            items[clean_inline(text)] = called.startswith("list number")
    return items


def _cells(grid: Mapping[str, Any]) -> list[list[str]]:
    rows = [[""] * int(grid["cols"]) for _ in range(int(grid["rows"]))]
    for cell in grid["cells"]:
        rows[cell["row"]][cell["col"]] = str(cell["content"])
    return rows


def add_slides(assembly: Assembly, content: str) -> str:
    """Each slide as a page, its notes included; tab-separated paragraphs are rows; returns the first line."""
    first = ""
    pieces = SLIDE.split(content)
    for number, text in zip(pieces[1::2], pieces[2::2], strict=True):
        assembly.page(int(number))
        assembly.mark("part", "")
        rows: list[list[str]] = []
        for paragraph in text.split("\n\n"):
            if "\t" in paragraph.strip(" \n"):
                rows.extend(line.split("\t") for line in paragraph.strip("\n").split("\n"))
                continue
            assembly.table(rows)
            rows = []
            first = first or clean_inline(paragraph)
            if clean_inline(paragraph) == NOTES:
                assembly.mark("part", "notes")
            assembly.paragraph(paragraph)
        assembly.table(rows)
    return first


def add_sheets(assembly: Assembly, result: Any, sheets: Mapping[str, Sheet]) -> None:
    """Each sheet as its name and a table; empty sheets, rows and columns are left out."""
    names = list(result.metadata.get("sheet_names") or ())
    for table in result.tables:
        rows = within_filled(table.cells)
        if not rows:
            continue
        name = names[table.page_number - 1] if 0 < table.page_number <= len(names) else ""
        if name:
            assembly.mark("sheet", name)
            assembly.paragraph(name)
        corner = sheets.get(name)
        assembly.table(rows, name=None if corner is None else partial(_first_cell, corner))


def _first_cell(corner: Sheet, row: int) -> tuple[MarkKind, str]:
    return "cells", f"{column_name(corner.column)}{corner.row + row}"


def within_filled(rows: Sequence[Sequence[str]]) -> list[list[str]]:
    """The table without the empty columns at its right, midnight dropped from dates; nothing of an empty one."""
    kept = [[re.sub(r"^(\d{4}-\d\d-\d\d) 00:00:00$", r"\1", cell) for cell in row] for row in rows]
    width = max((index + 1 for row in kept for index, cell in enumerate(row) if cell.strip()), default=0)
    return [row[:width] for row in kept] if width else []


# --- slides in the order they are shown -------------------------------------------------------------------------------

SLIDE_PARTS = ("ppt/slides/", "ppt/notesSlides/")
SLIDE_LIST = "ppt/_rels/presentation.xml.rels"
PACKAGE = "http://schemas.openxmlformats.org/package/2006/relationships"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def slides_as_shown(data: bytes) -> bytes:
    """The presentation with its slides numbered as they are shown, and the notes of each under its slide's number.

    kreuzberg goes by the names of the parts: it sorts the slides by theirs, and takes `notesSlide3.xml` for the notes
    of `slide3.xml`. But slides are moved, and the third notes that somebody wrote may be those of any slide.
    """
    try:
        with open_archive(data) as archive:
            names = _names_as_shown(archive)
            kept = [name for name in archive.namelist() if name in names or not name.startswith(SLIDE_PARTS)]
            if kept == archive.namelist() and all(name == shown for name, shown in names.items()):
                return data
            slides = [name.removeprefix("ppt/") for name in names.values() if name.startswith("ppt/slides/slide")]
            entries = (f'<Relationship Id="s{i}" Type="{OFFICE}/slide" Target="{s}"/>' for i, s in enumerate(slides))
            packed = io.BytesIO()
            with zipfile.ZipFile(packed, "w") as copy:
                for name in kept:
                    if name == SLIDE_LIST:
                        copy.writestr(name, f'<Relationships xmlns="{PACKAGE}">{"".join(entries)}</Relationships>')
                    elif name.endswith((".xml", ".rels")):  # pictures and films are not read
                        copy.writestr(names.get(name, name), archive.read(name))
            return packed.getvalue()
    except (LookupError, StopIteration, ElementTree.ParseError, zipfile.BadZipFile, zlib.error, EOFError):
        return data  # no presentation as the standard has it: what can be read of it, the extractor knows


def _names_as_shown(archive: zipfile.ZipFile) -> dict[str, str]:
    """The name that each slide, its relations and its notes should have; a part that no slide shown needs has none."""
    parts = {identifier: target for identifier, _, target in relations(archive, "ppt/presentation.xml")}
    names: dict[str, str] = {}
    entries = (entry for entry in xml_of(archive, "ppt/presentation.xml").iter() if entry.tag.endswith("}sldId"))
    for number, entry in enumerate(entries, start=1):
        slide = next(parts[value] for name, value in entry.items() if name.endswith("}id"))
        names[slide] = f"ppt/slides/slide{number}.xml"
        names[relations_of(slide)] = relations_of(names[slide])
        for _, kind, target in relations(archive, slide):
            if kind.endswith("/notesSlide"):
                names[target] = f"ppt/notesSlides/notesSlide{number}.xml"
                names[relations_of(target)] = relations_of(names[target])
    return names
